"""Reading SWITCH_HASH and the seed of the hash: what next hops and members of port channels are chosen by.

SONiC's seed is DEVICE_METADATA|localhost|ecmp_hash_seed, else one of the switch's type, and the number of the ASIC is
added (sonic-buildimage, dockers/docker-orchagent/switch.json.j2). A lab takes one that is written; else each of its
switches has a seed of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fabriclab.vendors.sonic.read.entries import Fields, Tables

TABLE = "SWITCH_HASH"
_LARGEST_SEED = 2**31
_MOST_ASICS = 1000
_LINUX: Mapping[str, int] = {
    "SRC_IP": 1,
    "DST_IP": 2,
    "IP_PROTOCOL": 4,
    "IPV6_FLOW_LABEL": 8,
    "L4_SRC_PORT": 16,
    "L4_DST_PORT": 32,
}
"""Bits of net.ipv4.fib_multipath_hash_fields (Documentation/networking/ip-sysctl.rst)."""
_CONSTANT = frozenset({"ETHERTYPE", "VLAN_ID", "DST_MAC"})
"""The same in all packets that a switch of a lab routes; inner headers, which packets of a lab do not have, as well."""
_INNER = "INNER_"
_FIVE_TUPLE = frozenset({"SRC_IP", "DST_IP", "IP_PROTOCOL", "L4_SRC_PORT", "L4_DST_PORT"})
_SEEDS = (
    ("ToRRouter", 0),
    ("LeafRouter", 10),
    ("SpineRouter", 25),
    ("LowerRegionalHub", 60),
    ("FabricRegionalHub", 70),
    ("UpperRegionalHub", 80),
)
"""By a part of the type, the first that fits, as the template has it."""


@dataclass(frozen=True)
class SwitchHash:
    """How a switch hashes."""

    fields: int | None = None
    """Of next hops, as Linux's bits; None: not said, or not to be had."""
    seed: int | None = None
    """As it is written; None: it is not."""
    seed_in_switch: int = 0
    """What SONiC has: written, or of the type."""
    said: tuple[str, ...] = ()
    """The fields as they are written."""
    why_not: Mapping[str, str] = field(default_factory=dict)
    """Why a field of SWITCH_HASH|GLOBAL does not act, by its name."""


def hash_words(bits: int) -> list[str]:
    """Return SONiC's names of Linux's fields."""
    return [name for name, bit in _LINUX.items() if bits & bit]


def read_hash(tables: Tables, has_channels: bool) -> SwitchHash:
    """Return what a file says of hashing."""
    entry = next((entry for entry in tables.entries(TABLE) if entry.key == "GLOBAL"), None)
    why_not: dict[str, str] = {}
    bits: int | None = None
    said: tuple[str, ...] = ()
    if entry is not None:
        fields = Fields(tables, entry)
        said = fields.words("ecmp_hash") or ()
        bits, lag = _bits(said), fields.words("lag_hash") or ()
        why_not |= dict(_why_not(said, bits, lag if has_channels else (), fields))
    metadata = next((one for one in tables.entries("DEVICE_METADATA") if one.key == "localhost"), None)
    seed, own, offset = None, 0, 0
    if metadata is not None:
        fields = Fields(tables, metadata)
        seed = fields.number("ecmp_hash_seed", 0, _LARGEST_SEED)
        offset = fields.number("namespace_id", 0, _MOST_ASICS) or 0 if "namespace_id" in fields else 0
        own = _seed_of_type(str(metadata.fields.get("type", ""))) if seed is None else seed
    return SwitchHash(
        fields=None if "ecmp_hash" in why_not else bits,
        seed=None if seed is None else seed + offset,
        seed_in_switch=own + offset,
        said=said,
        why_not=why_not,
    )


def _why_not(
    said: tuple[str, ...], bits: int | None, lag: tuple[str, ...], fields: Fields
) -> Iterator[tuple[str, str]]:
    unknown = [one for one in said if not _is_known(one)]
    if unknown:
        yield "ecmp_hash", f"Linux does not hash by {', '.join(unknown)}"
    elif said and not bits:
        yield "ecmp_hash", "nothing of it tells packets of a lab from each other"
    if lag and {one for one in lag if one not in _CONSTANT and not one.startswith(_INNER)} != _FIVE_TUPLE:
        yield "lag_hash", "a member of a port channel is chosen by a hash of the five-tuple"
    for name in ("ecmp_hash_algorithm", "lag_hash_algorithm"):
        if fields.entry.fields.get(name) == "RANDOM":
            fields.text(name)
            yield name, "the choice is a hash, which sends a flow one way"


def _is_known(name: str) -> bool:
    return name in _LINUX or name in _CONSTANT or name.startswith(_INNER)


def _bits(said: tuple[str, ...]) -> int | None:
    return sum(_LINUX.get(name, 0) for name in set(said)) if said else None


def _seed_of_type(kind: str) -> int:
    return next((seed for word, seed in _SEEDS if word in kind), 0)
