"""What netlab's tests run in nodes: commands (`show`, `exec`), conditions on what they print (`valid`), and templates
of configuration (`config`).

What each may be, and for which device: netlab, netsim/cli/validate/{devices,utils}.py and
netsim/ansible/tasks/deploy-config. Texts may be Jinja over a node's variables.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from functools import cached_property
from ipaddress import ip_interface
from pathlib import Path, PurePosixPath
from typing import Any

from fabriclab.lab.reading.document import MappingValue, ScalarValue, Value, read_document
from fabriclab.lab.reading.files import UnreadableError, read_lab_file
from fabriclab.lab.reading.plain_data import plain
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.templates import LARGEST_TEXT, Condition, NoValueError, TemplateError, rendered
from fabriclab.other_labs.netlab_values import UnknownValueError, Variables

_INVENTORY = "hosts.yml"
_SCRIPT = "/tmp/netlab-config"
_SHELLS = ("#!/bin/bash", "#!/bin/sh")


class Commands:
    """The commands of a lab that netlab wrote."""

    def __init__(self, directory: Path, source: str, variables: Variables) -> None:
        """Take the lab's directory, the file of its tests there, and what they may name."""
        self._directory = directory
        self._beside = PurePosixPath(source).parent
        self._variables = variables

    def command(self, test: MappingValue, node: str) -> str:
        """Return the line of the shell by which a test asks a node. Raises UnknownValueError."""
        if "show" in test.entries:
            asked = self._text(test.entries["show"], node)
            device = self._device(node)
            if not device:
                raise UnknownValueError(f"show: {_INVENTORY}, netlab's inventory, does not say what {node} is")
            # An expression over what a switch that runs here as FRR would print is of no use.
            if device != "frr":
                raise UnknownValueError(f"show on {node}, which is no FRR router")
            return f"vtysh -c {shlex.quote(f'show {asked}')}"
        return self._text(test.entries["exec"], node)

    def condition(self, test: MappingValue, node: str) -> str:
        """Return what must hold of the answer. Raises UnknownValueError."""
        text = " ".join(self._text(test.entries["valid"], node).split())
        try:
            return Condition(text).text
        except TemplateError as error:
            raise UnknownValueError(f"valid: {error}") from None

    def change(self, test: MappingValue, node: str) -> str:
        """Return the line of the shell that changes a node as a test says. Raises UnknownValueError."""
        if "exec" in test.entries:
            return self._text(test.entries["exec"], node)
        given = plain(test.entries["config"])
        given = {"template": given} if isinstance(given, str) else given
        if not isinstance(given, dict) or not isinstance(given.get("template"), str):
            raise UnknownValueError("config: no template")
        text = self._rendered(self._template(given["template"], node), node, _variables(given))
        run = "sh" if any(shell in text for shell in _SHELLS) else "vtysh -f"
        return f"printf %s {shlex.quote(text)} > {_SCRIPT}; {run} {_SCRIPT}"

    def _text(self, value: Value, node: str) -> str:
        """Return a text for a node's device, with its values."""
        if isinstance(value, MappingValue):
            device = self._device(node)
            if device not in value.entries:
                raise UnknownValueError(f"nothing for device {device or 'of no known kind'} ({node})")
            value = value.entries[device]
        if not isinstance(value, ScalarValue):
            raise UnknownValueError("no text")
        return self._rendered(value.text, node, {}) if "{{" in value.text else value.text

    def _rendered(self, text: str, node: str, more: Mapping[str, Any]) -> str:
        values = {**self._variables.nodes[node], "hostvars": self._variables.nodes, **more}
        try:
            return rendered(text, values, {"ipaddr": _ipaddr})
        except (TemplateError, NoValueError) as error:
            raise UnknownValueError(str(error)) from None

    def _template(self, name: str, node: str) -> str:
        for file in self._candidates(name, node):
            try:
                return read_lab_file(self._directory, str(self._beside / file), LARGEST_TEXT).decode()
            except (UnreadableError, UnicodeDecodeError):
                continue
        raise UnknownValueError(f"the template {name} for {node} is not beside the lab; copy netlab's folder {name}")

    def _candidates(self, name: str, node: str) -> Iterator[str]:
        """Yield where netlab looks for a template, the most special one first (netsim/defaults/paths.yml)."""
        device = self._device(node)
        yield from (f"{name}/{node}.{device}.j2", f"{name}/{node}.j2", f"{name}/{device}.j2")
        yield from (f"{name}.{device}.j2", f"{name}.j2", name)

    def _device(self, node: str) -> str:
        """Return what netlab calls a node's device; empty where its inventory does not say."""
        return self._devices.get(node, "")

    @cached_property
    def _devices(self) -> Mapping[str, str]:
        document = read_document(self._directory / _INVENTORY, Problems())
        groups = {} if document is None else plain(document)
        found: dict[str, str] = {}
        for group, said in groups.items():
            hosts = said.get("hosts") if isinstance(said, dict) else None
            # A node's address stands in the group of its device, and in no other.
            found |= {name: group for name, values in (hosts or {}).items() if values}
        return found


def _variables(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a `config`, which stand in one mapping or at dotted keys."""
    found = dict(given["variable"]) if isinstance(given.get("variable"), dict) else {}
    start = "variable."
    return found | {key.removeprefix(start): value for key, value in given.items() if key.startswith(start)}


def _ipaddr(value: object, query: str = "") -> str:
    """Return a part of an address, as Ansible's filter of that name does."""
    interface = ip_interface(str(value))
    parts = {
        "": interface,
        "address": interface.ip,
        "network": interface.network.network_address,
        "subnet": interface.network,
        "prefix": interface.network.prefixlen,
        "netmask": interface.netmask,
    }
    if query not in parts:
        raise ValueError(f"ipaddr({query!r}) is not known")
    return str(parts[query])
