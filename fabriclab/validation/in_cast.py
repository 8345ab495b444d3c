"""Ports that hosts of the lab can congest: a receiver, and senders whose lines together are faster than its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from fabriclab.formats.plan.node import Port
from fabriclab.formats.plan.switch import SwitchPort
from fabriclab.validation.bench import Bench

_MOST_RACKS = 8
_MOST_SENDERS = 8
_MOST_OF_ALL = 64
_LEAST_LINES = 2.0


@dataclass(frozen=True)
class InCast:
    """Senders that meet at the port of a switch that leads to the receiver."""

    switch: str
    port: Port
    receiver: str
    senders: tuple[str, ...]
    ratio: float
    """What can get there of the senders' lines together, in lines of the receiver."""

    @property
    def name(self) -> str:
        """Return the name of the congested port, `node:interface`."""
        return f"{self.switch}:{self.port.interface}"

    @property
    def switch_port(self) -> SwitchPort:
        """What the congested port is made of."""
        assert self.port.switch_port is not None
        return self.port.switch_port


def in_casts(bench: Bench, lines: float, most_lines: float | None = None) -> list[InCast]:
    """Return an in-cast at one host's port of every rack (evenly chosen where there are more than eight), if the port
    has a shared buffer.

    The senders' lines together are at least `lines` times the receiver's, and what they send from elsewhere gets in by
    the switch's other ports; racks to which the lab has not so many are left out. With `most_lines` there are more of
    them where the lab has them.
    """
    racks = list(bench.racks().items())
    step = max(1, -(-len(racks) // _MOST_RACKS))
    most = _Most(max(lines, most_lines or 0), _MOST_SENDERS)
    found = [_in_cast(bench, switch, rack[0], lines, most) for switch, rack in racks[::step]]
    return [one for one in found if one is not None]


def worst_in_cast(bench: Bench) -> InCast | None:
    """Return the in-cast of all hosts that can send into the port with the worst ratio: that of the lines that lead
    there to its own; None where no two hosts can congest a port with a shared buffer."""
    worst, most = None, _Most(float("inf"), _MOST_OF_ALL)
    for switch, rack in bench.racks().items():
        slowest = min(rack, key=lambda host: bench.plan.node(host).ports[0].rate_bps)
        found = _in_cast(bench, switch, slowest, _LEAST_LINES, most)
        if found is not None and (worst is None or found.ratio > worst.ratio):
            worst = found
    return worst


class _Most(NamedTuple):
    """What an in-cast has at most."""

    lines: float
    """The senders' lines together, in those of the receiver."""
    senders: int


def _in_cast(bench: Bench, switch: str, receiver: str, lines: float, most: _Most) -> InCast | None:
    interface = bench.plan.node(receiver).ports[0].peer_interface
    port = next(port for port in bench.plan.node(switch).ports if port.interface == interface)
    if port.switch_port is None:
        return None
    senders: list[str] = []
    rate_bps = 0
    from_elsewhere_bps = sum(uplink.rate_bps for uplink in bench.fabric_ports(bench.plan.node(switch)))
    for host in _nearest_first(bench, switch, receiver):
        if rate_bps >= most.lines * port.rate_bps or len(senders) == most.senders:
            break
        line_bps = bench.plan.node(host).ports[0].rate_bps
        if host not in bench.racks()[switch]:
            line_bps = min(line_bps, from_elsewhere_bps)
            from_elsewhere_bps -= line_bps
        senders.append(host)
        rate_bps += line_bps
    ratio = rate_bps / port.rate_bps
    return InCast(switch, port, receiver, tuple(senders), ratio) if ratio >= lines else None


def _nearest_first(bench: Bench, switch: str, receiver: str) -> list[str]:
    """Return the other hosts, those of the same rack first: nothing else is a bottleneck to them;
    then one of each rack in turn."""
    racks = bench.racks()
    others = [rack for name, rack in racks.items() if name != switch]
    turns = [
        rack[number] for number in range(max(map(len, others), default=0)) for rack in others if number < len(rack)
    ]
    return [host for host in racks[switch] if host != receiver] + turns
