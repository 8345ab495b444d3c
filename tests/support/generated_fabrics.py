"""Generated topologies of each shape, and how they are read."""

from __future__ import annotations

from fractions import Fraction

from sample_fabrics import sample_leaf_spine

from fabriclab.lab import Problems, Topology
from fabriclab.lab.network.read import parse_topology
from fabriclab.lab.reading.document import parse_document
from fabriclab.topologies import Fabric, dumbbell, fat_tree, star, topology_text

GBPS = 10**9


def make_leaf_spine(
    spines: int = 2, leaves: int = 3, hosts: int = 2, uplink_bps: int | None = None, ratio: Fraction | None = None
) -> Fabric:
    sizes = {"spines": spines, "leaves": leaves, "hosts": hosts}
    return sample_leaf_spine("leaf-spine", **sizes, uplink_bps=uplink_bps, ratio=ratio, delay_ns=25_000)


def make_fat_tree(
    k: int = 4,
    hosts: int | None = None,
    edge_bps: int | None = None,
    core_bps: int | None = None,
    ratio: Fraction | None = None,
) -> Fabric:
    return fat_tree(
        "fat-tree",
        k=k,
        hosts_per_edge=hosts,
        host_rate_bps=GBPS,
        edge_rate_bps=edge_bps,
        core_rate_bps=core_bps,
        oversubscription=ratio,
        delay_ns=25_000,
        mtu_bytes=1500,
    )


def make_star(hosts: int = 5) -> Fabric:
    return star("star", hosts=hosts, rate_bps=GBPS, delay_ns=0, mtu_bytes=9000)


def make_dumbbell(left: int = 3, right: int = 1) -> Fabric:
    return dumbbell(
        "dumbbell",
        left=left,
        right=right,
        rate_bps=GBPS,
        bottleneck_rate_bps=GBPS // 10,
        bottleneck_delay_ns=5_000_000,
        delay_ns=25_000,
        mtu_bytes=1500,
    )


def read(fabric: Fabric) -> Topology:
    """Return the fabric's topology as the lab's reader sees it, with every problem an error."""
    problems = Problems()
    document = parse_document(topology_text(fabric), "generated.clab.yml", problems)
    assert document is not None
    topology = parse_topology(document, problems)
    assert [str(problem) for problem in problems.found()] == []
    return topology
