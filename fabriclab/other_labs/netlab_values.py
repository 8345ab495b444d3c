"""What netlab knows of a lab that it wrote, and the values that its tests' expressions have: `nodes.r1.loopback.ipv4`.

A node's variables are `host_vars/NODE/topology.json`; what tests may name: netlab, docs/topology/validate.md.
Nothing is executed: constants, names, attributes, items and `replace` of texts are looked up.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

from fabriclab.lab.reading.files import UnreadableError, read_lab_file
from fabriclab.lab.setup.netlab import variables_file

_LARGEST_BYTES = 16 << 20
_FAMILIES = ("ipv4", "ipv6")


class UnknownValueError(Exception):
    """An expression has no value here; the message is its text."""


class Variables:
    """What netlab's tests of a lab may name."""

    def __init__(self, directory: Path, nodes: Sequence[str], topology: Mapping[str, Any]) -> None:
        """Take a lab's directory, its nodes, and its `topology.yml` as plain data."""
        self._directory = directory
        self.names = nodes
        """The lab's nodes."""
        self._topology = topology

    @cached_property
    def nodes(self) -> Mapping[str, Mapping[str, Any]]:
        """The variables of each node."""
        return {name: self._node(name) for name in self.names}

    @cached_property
    def links(self) -> Sequence[Mapping[str, Any]]:
        """The prefixes of each link, in netlab's order: `linkindex` counts from 1."""
        found: dict[int, dict[str, str]] = {}
        for node in self.nodes.values():
            for interface in node.get("interfaces") or ():
                prefixes = found.setdefault(int(interface.get("linkindex") or 0), {})
                for family in _FAMILIES:
                    if isinstance(interface.get(family), str):
                        prefixes.setdefault(family, str(ip_interface(interface[family]).network))
        return [{"prefix": found.get(index, {})} for index in range(1, max(found, default=0) + 1)]

    def value(self, expression: ast.expr, node: str) -> Any:
        """Return the value of an expression in a test of a node. Raises UnknownValueError."""
        try:
            return self._value(expression, node)
        except (KeyError, IndexError, TypeError, ValueError, RecursionError):
            raise UnknownValueError(ast.unparse(expression)) from None

    def _value(self, expression: ast.expr, node: str) -> Any:
        match expression:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return [self._value(item, node) for item in items]
            case ast.Dict(keys=keys, values=values) if None not in keys:
                pairs = zip(keys, values, strict=True)
                return {self._value(key, node): self._value(value, node) for key, value in pairs if key is not None}
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand, node)
            case ast.Name(id=name):
                return self._named(name, node)
            case ast.Attribute(value=owner, attr=name):
                return self._value(owner, node)[name]
            case ast.Subscript(value=owner, slice=index):
                return self._value(owner, node)[self._value(index, node)]
            case ast.Call(func=ast.Attribute(value=owner, attr="replace"), args=[old, new], keywords=[]):
                text, before, after = (str(self._value(part, node)) for part in (owner, old, new))
                return text.replace(before, after)
        raise UnknownValueError(ast.unparse(expression))

    def _named(self, name: str, node: str) -> Any:
        match name:
            case "node":
                return self.nodes[node]
            case "nodes":
                return self.nodes
            case "links":
                return self.links
        return self._topology[name]

    def _node(self, name: str) -> Mapping[str, Any]:
        try:
            told = json.loads(read_lab_file(self._directory, variables_file(name), _LARGEST_BYTES))
        except (UnreadableError, ValueError):
            return {"name": name}
        return {"name": name, **told} if isinstance(told, dict) else {"name": name}
