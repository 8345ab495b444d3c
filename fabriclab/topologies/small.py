"""Fabrics of one or two switches: a star (one port is shared) and a dumbbell (one link is shared)."""

from __future__ import annotations

from fabriclab.topologies.clos import command, common_options
from fabriclab.topologies.fabric import Fabric, FabricBuilder, check_count, check_total, private_asns
from fabriclab.topologies.sketch import dumbbell_picture, star_picture
from fabriclab.units import format_duration, format_rate


def star(name: str, *, hosts: int, rate_bps: int, delay_ns: int, mtu_bytes: int) -> Fabric:
    """Return hosts h1, h2, ... on one switch, s1. Raises FabricError."""
    check_count("--hosts", hosts, at_least=2)
    check_total(f"--hosts {hosts}", hosts + 1)
    builder = FabricBuilder(hosts)
    builder.add_switch("s1", "leaf", 1, private_asns(1)[0])
    builder.begin("Hosts")
    for number in range(1, hosts + 1):
        builder.connect(builder.add_host(f"h{number}", 2), "s1", rate_bps, delay_ns)
    options = {"--hosts": str(hosts), "--rate": format_rate(rate_bps), **common_options(name, delay_ns, mtu_bytes)}
    facts = (f"Every link {format_rate(rate_bps)}.",)
    nodes, links = tuple(builder.nodes.values()), tuple(builder.links)
    return Fabric(name, command("star", options), star_picture(hosts), facts, nodes, links, mtu_bytes)


def dumbbell(
    name: str,
    *,
    left: int,
    right: int,
    rate_bps: int,
    bottleneck_rate_bps: int,
    bottleneck_delay_ns: int,
    delay_ns: int,
    mtu_bytes: int,
) -> Fabric:
    """Return hosts left1, left2, ... on switch s1, right1, ... on s2, and the bottleneck between the two.

    Raises FabricError.
    """
    check_count("--left", left)
    check_count("--right", right)
    check_total(f"--left {left} --right {right}", left + right + 2)
    builder = FabricBuilder(max(left, right))
    for switch, asn in zip(("s1", "s2"), private_asns(2), strict=True):
        builder.add_switch(switch, "leaf", 1, asn)
    builder.begin("Hosts")
    for side, switch, count in (("left", "s1", left), ("right", "s2", right)):
        for number in range(1, count + 1):
            builder.connect(builder.add_host(f"{side}{number}", 2), switch, rate_bps, delay_ns)
    builder.begin("The bottleneck")
    builder.connect("s1", "s2", bottleneck_rate_bps, bottleneck_delay_ns)
    options = {
        **{"--left": str(left), "--right": str(right), "--rate": format_rate(rate_bps)},
        **{
            "--bottleneck-rate": format_rate(bottleneck_rate_bps),
            "--bottleneck-delay": format_duration(bottleneck_delay_ns),
        },
        **common_options(name, delay_ns, mtu_bytes),
    }
    facts = (f"Hosts {format_rate(rate_bps)}, the bottleneck {format_rate(bottleneck_rate_bps)}.",)
    nodes, links = tuple(builder.nodes.values()), tuple(builder.links)
    return Fabric(name, command("dumbbell", options), dumbbell_picture(left, right), facts, nodes, links, mtu_bytes)
