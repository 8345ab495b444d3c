"""The sessions that FRR's daemons tell of, whatever the protocol: each neighbour with its state.

Words of the daemons' answers: FRR, bgpd/bgp_vty.c, ospfd/ospf_vty.c, ospf6d/ospf6_neighbor.c, isisd/isis_adjacency.c.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Session = tuple[str, str]
"""A neighbour in words, and the state of its session."""


@dataclass(frozen=True)
class Protocol:
    """A daemon's sessions."""

    name: str
    """What they are called here."""
    command: str
    """What the daemon is asked."""
    up: tuple[str, ...]
    """States of a session that is as it should be."""
    read: Callable[[Mapping[str, Any]], Iterator[Session]]

    def sessions(self, output: str | None) -> list[Session]:
        """Return the sessions of a daemon's answer; none of what is no answer."""
        try:
            told = json.loads(output or "{}")
        except json.JSONDecodeError:
            return []
        return list(self.read(_mapping(told)))


def _bgp(told: Mapping[str, Any]) -> Iterator[Session]:
    for vrf, families in told.items():
        where = "" if vrf == "default" else f", VRF {vrf}"
        for family, summary in _mapping(families).items():
            for peer, facts in _mapping(_mapping(summary).get("peers")).items():
                yield f"{peer} ({family}{where})", str(_mapping(facts).get("state", "unknown"))


def _ospf(told: Mapping[str, Any]) -> Iterator[Session]:
    for vrf in told.values():
        for peer, entries in _mapping(_mapping(vrf).get("neighbors")).items():
            for facts in map(_mapping, _list(entries)):
                state = str(facts.get("nbrState", "unknown"))
                yield f"{peer} {facts.get('ifaceName', '')}".strip(), state.partition("/")[0]


def _ospf6(told: Mapping[str, Any]) -> Iterator[Session]:
    for facts in map(_mapping, _list(told.get("neighbors"))):
        yield f"{facts.get('neighborId')} {facts.get('interfaceName', '')}".strip(), str(facts.get("state"))


def _isis(told: Mapping[str, Any]) -> Iterator[Session]:
    for area in map(_mapping, _list(told.get("areas"))):
        for circuit in map(_mapping, _list(area.get("circuits"))):
            if "adj" in circuit:
                yield f"{circuit['adj']} {circuit.get('interface', '')}".strip(), str(circuit.get("state"))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


PROTOCOLS = {
    "bgpd": Protocol("bgp", "show bgp vrf all summary json", ("Established",), _bgp),
    # Two neighbours of which neither is a designated router stay in 2-Way (RFC 2328, section 10.4).
    "ospfd": Protocol("ospf", "show ip ospf vrf all neighbor json", ("Full", "2-Way"), _ospf),
    "ospf6d": Protocol("ospf6", "show ipv6 ospf6 neighbor json", ("Full", "Twoway"), _ospf6),
    "isisd": Protocol("isis", "show isis neighbor json", ("Up",), _isis),
}
"""By the daemon that has them."""
