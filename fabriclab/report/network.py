"""What a plan says of the place that is measured: the sampled port's buffer, threshold and rate, and the goodput that its link allows."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.results import Results

IP_AND_TCP_BYTES = 20 + 20 + 12
"""IPv4 header, TCP header, timestamp option: what a full segment carries besides data."""

ETHERNET_BYTES = 14 + 4 + 8 + 12
"""Header, frame check sequence, preamble, inter-frame gap: what a full packet takes on the line besides itself (IEEE 802.3)."""


@dataclass(frozen=True)
class PortFacts:
    """A sampled port as the plan has it."""

    name: str
    limit_bytes: int
    threshold_bytes: int | None
    rate_bps: int
    mtu: int

    @property
    def goodput_limit_bps(self) -> float:
        """Return the most application data per second that full segments carry: rate x 1448/1538 with an MTU of 1500."""
        return self.rate_bps * (self.mtu - IP_AND_TCP_BYTES) / (self.mtu + ETHERNET_BYTES)


def port_facts(results: Results, name: str | None = None) -> PortFacts | None:
    """Return the facts of a port `node:interface`, by default of the first sampled one; None when the plan has no such port."""
    sampled = results.plan.get("probes", {}).get("queue_ports") or []
    wanted = name if name is not None else (sampled[0] if sampled else None)
    for node in results.plan.get("nodes", []):
        for port in node.get("ports", []):
            if f"{node['name']}:{port['interface']}" == wanted:
                queue = port["queue"]
                return PortFacts(wanted, queue["limit_bytes"], queue.get("ecn_threshold_bytes"), port["rate_bps"], port["mtu"])
    return None


def receiver_port(results: Results) -> PortFacts | None:
    """Return the switch port that leads to the traffic's receiver, where the streams meet; None with several receivers."""
    receivers = {traffic.get("receiver") for traffic in results.plan.get("traffic", [])}
    if len(receivers) != 1:
        return None
    receiver = receivers.pop()
    for node in results.plan.get("nodes", []):
        if node["name"] == receiver and len(node["ports"]) == 1:
            port = node["ports"][0]
            return port_facts(results, f"{port['peer_node']}:{port['peer_interface']}")
    return None


def rto_min_us(results: Results) -> int:
    """Return the largest lower bound of the retransmission timeout among the hosts, microseconds; 0 without hosts."""
    return max((int(node["transport"].get("rto_min_us", 0)) for node in results.plan.get("nodes", []) if node.get("transport")), default=0)
