"""Ports that hosts of the lab can congest: a receiver, and senders whose lines together are faster than its own."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.formats.plan.node import Port
from fabriclab.formats.plan.switch import SwitchPort
from fabriclab.validation.bench import Bench

_MOST_RACKS = 8
_MOST_SENDERS = 8


@dataclass(frozen=True)
class InCast:
    """Senders that meet at the port of a switch that leads to the receiver."""

    switch: str
    port: Port
    receiver: str
    senders: tuple[str, ...]

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
    found = [_in_cast(bench, switch, rack[0], lines, max(lines, most_lines or 0)) for switch, rack in racks[::step]]
    return [one for one in found if one is not None]


def _in_cast(bench: Bench, switch: str, receiver: str, lines: float, most_lines: float) -> InCast | None:
    interface = bench.plan.node(receiver).ports[0].peer_interface
    port = next(port for port in bench.plan.node(switch).ports if port.interface == interface)
    if port.switch_port is None:
        return None
    senders: list[str] = []
    rate_bps = 0
    from_elsewhere_bps = sum(uplink.rate_bps for uplink in bench.fabric_ports(bench.plan.node(switch)))
    for host in _nearest_first(bench, switch, receiver):
        if rate_bps >= most_lines * port.rate_bps or len(senders) == _MOST_SENDERS:
            break
        line_bps = bench.plan.node(host).ports[0].rate_bps
        if host not in bench.racks()[switch]:
            line_bps = min(line_bps, from_elsewhere_bps)
            from_elsewhere_bps -= line_bps
        senders.append(host)
        rate_bps += line_bps
    return InCast(switch, port, receiver, tuple(senders)) if rate_bps >= lines * port.rate_bps else None


def _nearest_first(bench: Bench, switch: str, receiver: str) -> list[str]:
    """Return the other hosts, those of the same rack first: nothing else is a bottleneck to them;
    then one of each rack in turn."""
    racks = bench.racks()
    others = [rack for name, rack in racks.items() if name != switch]
    turns = [
        rack[number] for number in range(max(map(len, others), default=0)) for rack in others if number < len(rack)
    ]
    return [host for host in racks[switch] if host != receiver] + turns
