"""What is meant by `NODE`, `NODE:PORT` or a flow of a lab that is up, and what a look says of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from fabriclab.errors import ArgumentError
from fabriclab.keys.wording import did_you_mean
from fabriclab.live.client import ask
from fabriclab.live.labs_up import chosen, labs


class Place(NamedTuple):
    """A node of a lab, or a port of one."""

    lab: str
    node: str
    interface: str | None
    is_host: bool


def find_place(written: str, lab: str | None = None) -> Place:
    """Return what `[NAME:]NODE[:PORT]` means. Raises ArgumentError, LabsUpError.

    Of two words the first is a node, where the lab has one of that name; else a lab.
    """
    words = written.split(":")
    if not 1 <= len(words) <= 3 or not all(words):
        raise ArgumentError("{0!r} is not a node or a port; write NODE or NODE:PORT, such as s1 or s1:eth1", written)
    up = labs()
    if len(words) == 3 or (len(words) == 2 and lab is None and _names_a_lab(words, up)):
        lab, *words = words
    name = chosen(lab)
    ports = up[name]["ports"]
    node = words[0]
    if node not in ports:
        raise ArgumentError("{0!r}: the lab has no such node; {1}", node, did_you_mean(node, ports))
    if len(words) == 2 and words[1] not in ports[node]:
        raise ArgumentError("{0!r}: {1} has no such port; {2}", written, node, did_you_mean(words[1], ports[node]))
    return Place(name, node, words[1] if len(words) == 2 else None, node in up[name]["addresses"])


def _names_a_lab(words: list[str], up: dict[str, dict[str, Any]]) -> bool:
    return words[0] in up and not (len(up) == 1 and words[0] in up[words[0]]["ports"])


def look_at(place: Place, *, packets: bool) -> dict[str, Any]:
    """Return what a look says of a port, or of all ports of a node. Raises LiveError."""
    interfaces = labs()[place.lab]["ports"][place.node] if place.interface is None else [place.interface]
    ports = [[place.node, interface] for interface in interfaces]
    return ask(place.lab, {"do": "look", "ports": ports, "packets": packets})


def connections_of_node(lab: str, node: str) -> dict[str, Any]:
    """Return what there is to say of a node's connections. Raises LiveError."""
    return ask(lab, {"do": "connections", "node": node})
