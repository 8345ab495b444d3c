"""Folded Clos fabrics: leaf-spine (two tiers of switches) and the k-ary fat-tree (three).

AS numbers are those of RFC 7938, section 5.2.2: one for all switches of tier 1, one for the tier 2 switches of each
pod, one of its own for every switch that has hosts. The fat-tree is that of Al-Fares, Loukissas and Vahdat (SIGCOMM
2008): k pods of k/2 aggregation and k/2 edge switches, (k/2)^2 cores; core (i-1)*k/2+j is on aggregation switch i of
every pod.
"""

from __future__ import annotations

import itertools
import shlex
from fractions import Fraction

from fabriclab.topologies.fabric import (
    FABRIC_POOL,
    HOST_POOL,
    LOOPBACK_POOL,
    Fabric,
    FabricBuilder,
    FabricError,
    check_count,
    check_total,
    private_asns,
)
from fabriclab.topologies.oversubscription import Uplinks, resolve_uplinks
from fabriclab.topologies.sketch import fat_tree_picture, leaf_spine_picture
from fabriclab.units import format_duration, format_rate


def leaf_spine(
    name: str,
    *,
    spines: int,
    leaves: int,
    hosts_per_leaf: int,
    host_rate_bps: int,
    uplink_rate_bps: int | None,
    oversubscription: Fraction | None,
    delay_ns: int,
    mtu_bytes: int,
) -> Fabric:
    """Return a fabric in which every leaf has one link to every spine. Raises FabricError."""
    check_count("--spines", spines)
    check_count("--leaves", leaves)
    check_count("--hosts", hosts_per_leaf)
    check_total(f"--leaves {leaves} --hosts {hosts_per_leaf}", spines + leaves + leaves * hosts_per_leaf)
    if leaves * hosts_per_leaf < 2:
        raise FabricError(
            f"--leaves {leaves} --hosts {hosts_per_leaf}: one host has no receiver; write 2 leaves or 2 hosts"
        )
    uplinks = resolve_uplinks(hosts_per_leaf, host_rate_bps, spines, uplink_rate_bps, oversubscription, "--uplink-rate")
    builder = FabricBuilder(hosts_per_leaf)
    _add_leaf_spine(builder, spines, leaves, uplinks, delay_ns)
    options = {
        **{"--spines": str(spines), "--leaves": str(leaves), "--hosts": str(hosts_per_leaf)},
        **{"--rate": format_rate(host_rate_bps), "--uplink-rate": format_rate(uplinks.up_rate_bps)},
        **common_options(name, delay_ns, mtu_bytes),
    }
    return Fabric(
        name=name,
        command=command("leaf-spine", options),
        picture=leaf_spine_picture(spines, leaves, hosts_per_leaf),
        facts=(f"Oversubscription of a leaf, hosts to uplinks: {uplinks}.", *_numbers(builder, "spines share one")),
        nodes=tuple(builder.nodes.values()),
        links=tuple(builder.links),
        mtu_bytes=mtu_bytes,
    )


def _add_leaf_spine(builder: FabricBuilder, spines: int, leaves: int, uplinks: Uplinks, delay_ns: int) -> None:
    asns = iter(private_asns(1 + leaves))
    tier_1 = next(asns)
    above = [builder.add_switch(f"spine{number}", "spine", 1, tier_1) for number in range(1, spines + 1)]
    below = [builder.add_switch(f"leaf{number}", "leaf", 2, next(asns)) for number in range(1, leaves + 1)]
    hosts = iter(range(1, leaves * uplinks.down + 1))
    builder.begin("Hosts")
    for leaf in below:
        for _ in range(uplinks.down):
            builder.connect(builder.add_host(f"h{next(hosts)}", 3), leaf, uplinks.down_rate_bps, delay_ns)
    builder.begin("Leaf to spine")
    for leaf in below:
        for spine in above:
            builder.connect(leaf, spine, uplinks.up_rate_bps, delay_ns)


def fat_tree(
    name: str,
    *,
    k: int,
    hosts_per_edge: int | None,
    host_rate_bps: int,
    edge_rate_bps: int | None,
    core_rate_bps: int | None,
    oversubscription: Fraction | None,
    delay_ns: int,
    mtu_bytes: int,
) -> Fabric:
    """Return a k-ary fat-tree; k/2 hosts on an edge switch unless given otherwise. Raises FabricError."""
    if k < 2 or k % 2:
        near = max(2, k - 1)
        raise FabricError(f"--k {k}: half of a switch's k ports lead up, so k must be even; write {near} or {near + 2}")
    half = k // 2
    hosts = half if hosts_per_edge is None else hosts_per_edge
    check_count("--hosts-per-edge", hosts)
    check_total(f"--k {k}", half * half + k * k + k * half * hosts)
    edge = resolve_uplinks(hosts, host_rate_bps, half, edge_rate_bps, oversubscription, "--edge-rate")
    aggregation = resolve_uplinks(half, edge.up_rate_bps, half, core_rate_bps, None, "--core-rate")
    builder = FabricBuilder(hosts)
    _add_fat_tree(builder, k, edge, aggregation, delay_ns)
    options = {
        **{"--k": str(k), "--hosts-per-edge": str(hosts), "--host-rate": format_rate(host_rate_bps)},
        **{"--edge-rate": format_rate(edge.up_rate_bps), "--core-rate": format_rate(aggregation.up_rate_bps)},
        **common_options(name, delay_ns, mtu_bytes),
    }
    facts = (
        f"Oversubscription of an edge switch, hosts to uplinks: {edge}.",
        f"Oversubscription of an aggregation switch: {aggregation}.",
        *_numbers(builder, "cores share one, the aggregation switches of a pod share one"),
    )
    nodes, links = tuple(builder.nodes.values()), tuple(builder.links)
    return Fabric(name, command("fat-tree", options), fat_tree_picture(k, hosts), facts, nodes, links, mtu_bytes)


def _add_fat_tree(builder: FabricBuilder, k: int, edge: Uplinks, aggregation: Uplinks, delay_ns: int) -> None:
    half = k // 2
    asns = iter(private_asns(1 + k + k * half))
    tier_1 = next(asns)
    pod_asns = [next(asns) for _ in range(k)]
    cores = [builder.add_switch(f"core{number}", "superspine", 1, tier_1) for number in range(1, half * half + 1)]
    above = [
        [builder.add_switch(f"agg{pod}-{number}", "spine", 2, pod_asns[pod - 1]) for number in _from_1(half)]
        for pod in _from_1(k)
    ]
    below = [
        [builder.add_switch(f"edge{pod}-{number}", "leaf", 3, next(asns)) for number in _from_1(half)]
        for pod in _from_1(k)
    ]
    builder.begin("Hosts")
    for switch in itertools.chain(*below):
        for number in _from_1(edge.down):
            host = builder.add_host(f"h{switch.removeprefix('edge')}-{number}", 4)
            builder.connect(host, switch, edge.down_rate_bps, delay_ns)
    builder.begin("Edge to aggregation")
    for lower_of_pod, upper_of_pod in zip(below, above, strict=True):
        for lower, upper in itertools.product(lower_of_pod, upper_of_pod):
            builder.connect(lower, upper, edge.up_rate_bps, delay_ns)
    builder.begin("Aggregation to core")
    for of_pod in above:
        for index, switch in enumerate(of_pod):
            for core in cores[index * half : (index + 1) * half]:
                builder.connect(switch, core, aggregation.up_rate_bps, delay_ns)


def _from_1(count: int) -> range:
    return range(1, count + 1)


def _numbers(builder: FabricBuilder, sharing: str) -> tuple[str, ...]:
    asns = sorted({node.asn for node in builder.nodes.values() if node.asn is not None})
    return (
        f"AS numbers {asns[0]} to {asns[-1]} (RFC 7938, section 5.2.2: {sharing}).",
        f"Addresses: {HOST_POOL} hosts, a block for each switch; {FABRIC_POOL} between switches; "
        f"{LOOPBACK_POOL} loopbacks of switches.",
    )


def common_options(name: str, delay_ns: int, mtu_bytes: int) -> dict[str, str]:
    """Return the options that every generator has."""
    return {"--delay": format_duration(delay_ns), "--mtu": str(mtu_bytes), "--name": name}


def command(generator: str, options: dict[str, str]) -> str:
    """Return the command line that makes a fabric again."""
    return shlex.join(["fabriclab", "generate", generator, *(word for pair in options.items() for word in pair)])
