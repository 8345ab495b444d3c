"""What the tables of the dynamic buffer model say, and the pools that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriclab.vendors.sonic.read.chips import Chip
from fabriclab.vendors.sonic.read.config_db import BufferBinding, BufferPool, BufferProfile, Port
from fabriclab.vendors.sonic.read.dynamic_pools import BoundMemory, Traffic, with_sizes
from fabriclab.vendors.sonic.read.entries import Fields, Tables

DYNAMIC = "dynamic"
"""DEVICE_METADATA|localhost|buffer_model: SONiC computes headroom and pools."""
_LISTS = ("BUFFER_PORT_INGRESS_PROFILE_LIST", "BUFFER_PORT_EGRESS_PROFILE_LIST")


def computed_sizes(
    tables: Tables,
    pools: Mapping[str, BufferPool],
    ports: Mapping[str, Port],
    metres: Mapping[str, int],
    profiles: Mapping[str, BufferProfile],
    groups: Sequence[BufferBinding],
    queues: Sequence[BufferBinding],
    chip: Chip,
) -> dict[str, BufferPool]:
    """Return the pools, those without a size with the one that SONiC computes, which is noted."""
    bound = BoundMemory(groups, queues, tuple(_profiles_of_ports(tables)))
    sized = with_sizes(pools, chip, ports, metres, profiles, bound, _traffic(tables), _percentages(tables))
    found = [pool for pool in sized.values() if pool.computed]
    if found:
        sizes = ", ".join(f"{pool.name} {pool.size} B" for pool in found)
        tables.note(
            f"BUFFER_POOL: buffer_model is dynamic: {sizes}, computed as SONiC does for NVIDIA's chips from a memory "
            "of the size of egress_lossless_pool"
        )
    return sized


def _profiles_of_ports(tables: Tables) -> list[tuple[str, str]]:
    named = []
    for table in _LISTS:
        for entry in tables.entries(table):
            words = Fields(tables, entry).words("profile_list") or ()
            named += [(port.strip(), word) for port in entry.key.split(",") for word in words]
    return named


def _traffic(tables: Tables) -> Traffic:
    """Return LOSSLESS_TRAFFIC_PATTERN and the ratio of DEFAULT_LOSSLESS_BUFFER_PARAMETER; the defaults without them."""
    default = Traffic()
    mtu, small, ratio = default.mtu, default.small_per_cent, default.oversubscription
    for entry in tables.entries("LOSSLESS_TRAFFIC_PATTERN"):
        fields = Fields(tables, entry)
        mtu = fields.number("mtu", 1, 9216, "bytes") or mtu
        said = fields.number("small_packet_percentage", 0, 100, "per cent")
        small = small if said is None else said
    for entry in tables.entries("DEFAULT_LOSSLESS_BUFFER_PARAMETER"):
        ratio = Fields(tables, entry).number("over_subscribe_ratio", 0, 65_535) or ratio
    return Traffic(mtu, small, ratio)


def _percentages(tables: Tables) -> dict[str, int]:
    found = {}
    for entry in tables.entries("BUFFER_POOL"):
        share = Fields(tables, entry).number("percentage", 0, 100, "per cent")
        if share is not None:
            found[entry.key] = share
    return found
