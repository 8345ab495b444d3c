"""Leaf-spine fabrics for tests: what a test does not name is the same in all of them."""

from __future__ import annotations

from fractions import Fraction

from fabriclab.topologies import Fabric, leaf_spine

GBPS = 10**9


def sample_leaf_spine(
    name: str = "fabric",
    *,
    spines: int = 2,
    leaves: int = 2,
    hosts: int = 1,
    uplink_bps: int | None = None,
    ratio: Fraction | None = None,
    delay_ns: int = 500,
) -> Fabric:
    """Return a fabric with lines of 1 Gbps at its hosts."""
    return leaf_spine(
        name,
        spines=spines,
        leaves=leaves,
        hosts_per_leaf=hosts,
        host_rate_bps=GBPS,
        uplink_rate_bps=uplink_bps,
        oversubscription=ratio,
        delay_ns=delay_ns,
        mtu_bytes=1500,
    )
