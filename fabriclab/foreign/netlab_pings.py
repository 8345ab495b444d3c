"""What netlab's own validation says of pings: the part of `validate` in a lab's `topology.yml` that is written as
`plugin: ping('h2', af='ipv4', expect='fail')` (netlab, netsim/validate/linux.py, exec_ping)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value, read_document
from fabriclab.lab.reading.problems import Problems

FILE_NAME = "topology.yml"
_MARK = "host_vars"
"""A directory that netlab makes beside the topology that Containerlab deploys."""
_FAMILIES = {"ipv4": 4, "ipv6": 6}


def netlab_pings(directory: Path, nodes: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the pings that netlab expects of a lab that it wrote, by name, as `validation.pings` has them."""
    if not (directory / _MARK).is_dir() or not (directory / FILE_NAME).is_file():
        return
    document = read_document(directory / FILE_NAME, Problems())
    entries = None if document is None else document.entries.get("validate")
    for name, entry in entries.entries.items() if isinstance(entries, MappingValue) else ():
        ping = _ping(entry, nodes)
        if ping is not None:
            yield "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name), ping


def _ping(entry: Value, nodes: Sequence[str]) -> dict[str, Any] | None:
    """Return a ping of constant words among the lab's nodes; None for what is none."""
    if not isinstance(entry, MappingValue):
        return None
    plugin, senders = entry.entries.get("plugin"), _texts(entry.entries.get("nodes"))
    call = _call(plugin.text) if isinstance(plugin, ScalarValue) else None
    if call is None or not senders or not all(sender in nodes for sender in senders):
        return None
    words = {keyword.arg: keyword.value.value for keyword in call.keywords if isinstance(keyword.value, ast.Constant)}
    target = call.args[0] if call.args else None
    if not (isinstance(target, ast.Constant) and target.value in nodes):
        return None
    family = _FAMILIES.get(str(words.get("af")))
    return {
        "from": senders,
        "to": target.value,
        **({} if family is None else {"ip": str(family)}),
        "answers": words.get("expect") != "fail",
    }


def _call(text: str) -> ast.Call | None:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    is_ping = isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "ping"
    return tree if isinstance(tree, ast.Call) and is_ping else None


def _texts(value: Value | None) -> list[str]:
    items = value.items if isinstance(value, SequenceValue) else (value,)
    return [item.text for item in items if isinstance(item, ScalarValue)]
