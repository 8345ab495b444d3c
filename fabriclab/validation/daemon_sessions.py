"""The sessions that FRR's daemons tell of, whatever the protocol: each neighbour with its state.

Words of the daemons' answers: FRR, bgpd/bgp_vty.c, ospfd/ospf_vty.c, ospf6d/ospf6_neighbor.c, isisd/isis_adjacency.c.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class Session(NamedTuple):
    """A neighbour, and the state of the session with it."""

    neighbor: str
    """As the daemon calls it: an address or interface, a router ID, a host's name."""
    place: str
    """Which one it is of those with this neighbour."""
    state: str
    family: str | None = None
    vrf: str | None = None
    level: str | None = None
    area: str | None = None

    @property
    def words(self) -> str:
        """The neighbour, and which session it is."""
        return f"{self.neighbor} {self.place}".strip()


@dataclass(frozen=True)
class Protocol:
    """A daemon's sessions."""

    name: str
    """What they are called here."""
    command: str
    """What the daemon is asked."""
    up: tuple[str, ...]
    """States of a session that is as it should be; the first: of one that exchanges routes."""
    read: Callable[[Mapping[str, Any]], Iterator[Session]]
    negotiated_command: str = ""
    """What it is asked for the sessions over which their family is exchanged."""

    def sessions(self, output: str | None) -> list[Session]:
        """Return the sessions of a daemon's answer; none of what is not an answer."""
        return list(self.read(as_mapping(told(output))))


def told(output: str | None) -> object:
    """Return what a daemon's answer says; None of what is not an answer."""
    try:
        return json.loads(output or "{}")
    except json.JSONDecodeError:
        return None


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return a mapping; an empty one of what is none."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: object) -> list[Any]:
    """Return a list; of one thing a list of it."""
    return value if isinstance(value, list) else [value] if value else []


_FAMILIES = {
    "ipv4Unicast": "ipv4",
    "ipv6Unicast": "ipv6",
    "l2VpnEvpn": "evpn",
    "ipv4Vpn": "vpnv4",
    "ipv6Vpn": "vpnv6",
}


def _bgp(answer: Mapping[str, Any]) -> Iterator[Session]:
    for vrf, families in answer.items():
        where = "" if vrf == "default" else f", VRF {vrf}"
        for family, summary in as_mapping(families).items():
            for peer, facts in as_mapping(as_mapping(summary).get("peers")).items():
                state = str(as_mapping(facts).get("state", "unknown"))
                yield Session(peer, f"({family}{where})", state, _FAMILIES.get(family), vrf)


def _ospf(answer: Mapping[str, Any]) -> Iterator[Session]:
    for vrf, told_of in answer.items():
        for peer, entries in as_mapping(as_mapping(told_of).get("neighbors")).items():
            for facts in map(as_mapping, as_list(entries)):
                state = str(facts.get("nbrState", "unknown"))
                yield Session(peer, str(facts.get("ifaceName", "")), state.partition("/")[0], vrf=vrf)


def _ospf6(answer: Mapping[str, Any]) -> Iterator[Session]:
    for facts in map(as_mapping, as_list(answer.get("neighbors"))):
        yield Session(str(facts.get("neighborId")), str(facts.get("interfaceName", "")), str(facts.get("state")))


def _isis(answer: Mapping[str, Any]) -> Iterator[Session]:
    for area in map(as_mapping, as_list(answer.get("areas"))):
        for circuit in map(as_mapping, as_list(area.get("circuits"))):
            if "adj" in circuit:
                facts = as_mapping(circuit.get("interface"))
                yield Session(
                    str(circuit["adj"]),
                    str(facts.get("name", "")),
                    str(facts.get("state", "unknown")),
                    vrf=str(area.get("vrf", "default")),
                    level=str(facts.get("circuit-type", "")).replace("L1L2", "L1-2").removeprefix("L") or None,
                    area=as_mapping(facts.get("area-address")).get("isonet"),
                )


_BGP_NEGOTIATED = "show bgp vrf all summary established json"
PROTOCOLS = {
    "bgpd": Protocol("bgp", "show bgp vrf all summary json", ("Established",), _bgp, _BGP_NEGOTIATED),
    # Two neighbours of which neither is a designated router stay in 2-Way (RFC 2328, section 10.4).
    "ospfd": Protocol("ospf", "show ip ospf vrf all neighbor json", ("Full", "2-Way"), _ospf),
    "ospf6d": Protocol("ospf6", "show ipv6 ospf6 neighbor json", ("Full", "Twoway"), _ospf6),
    "isisd": Protocol("isis", "show isis neighbor detail json", ("Up",), _isis),
}
"""By the daemon that has them."""
