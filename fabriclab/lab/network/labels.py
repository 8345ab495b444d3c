"""The labels that fabriclab reads of a node, `fabriclab.*`; all others are Containerlab's or the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Literal, TypeVar, cast

from fabriclab.formats import ranges
from fabriclab.keys.quantities import WHOLE_NUMBER, Number
from fabriclab.keys.values import Word
from fabriclab.keys.wording import listed, nearest, shown
from fabriclab.lab.network.addresses import is_unicast
from fabriclab.lab.reading.section import Section, Written

Role = Literal["host", "switch"]
A = TypeVar("A", IPv4Address, IPv6Address)

PREFIX = "fabriclab."
ROLE_LABEL = "fabriclab.role"
ASN_LABEL = "fabriclab.asn"
LOOPBACK_LABEL = "fabriclab.loopback"
TIER_LABEL = "fabriclab.tier"
LOOPBACK6_LABEL = "fabriclab.loopback6"
LABELS = (ROLE_LABEL, ASN_LABEL, LOOPBACK_LABEL, TIER_LABEL, LOOPBACK6_LABEL)

ROLES = ("host", "switch")
_ROLE: Word[str] = Word(ROLES)
LOWEST_TIER = 9
_TIER = Number(1, LOWEST_TIER, why="1 is the top of the fabric")
_LARGEST_ASN = ranges.ASN.most
_RESERVED_ASNS = {23_456: "AS_TRANS (RFC 6793)", 65_535: "reserved (RFC 7300)"}


@dataclass(frozen=True)
class WrittenLabels:
    """A node's labels. What is None was not written, or is wrong and recorded."""

    role: Role | None
    asn: Written[int] | None
    loopback: Written[IPv4Address] | None
    tier: Written[int] | None
    loopback6: Written[IPv6Address] | None


def read_labels(layers: Sequence[Section]) -> WrittenLabels:
    """Return the labels of a node and of what it inherits from, the nearest layer first:
    each label's nearest value holds."""
    sections = [labels for layer in layers if (labels := layer.section("labels", None)) is not None]
    for labels in sections:
        _refuse_unknown(labels)
    holder = {name: next((labels for labels in sections if name in labels), None) for name in LABELS}
    role, asn, loopback, tier, loopback6 = (holder[name] for name in LABELS)
    return WrittenLabels(
        role=None if role is None else _role(role),
        asn=None if asn is None else asn.convert(ASN_LABEL, "an AS number such as 64512", parse_asn),
        loopback=None if loopback is None else loopback.convert(LOOPBACK_LABEL, "an IPv4 address", parse_loopback),
        tier=None if tier is None else tier.value(TIER_LABEL, _TIER),
        loopback6=None if loopback6 is None else loopback6.convert(LOOPBACK6_LABEL, "an IPv6 address", parse_loopback6),
    )


def _role(labels: Section) -> Role:
    """Return the role; a wrong one is recorded, and host until it is mended."""
    written = labels.value(ROLE_LABEL, _ROLE)
    return "host" if written is None else cast(Role, written.value)


def _refuse_unknown(labels: Section) -> None:
    for name in labels.names():
        if name.startswith(PREFIX) and name not in LABELS:
            # Without the prefix, which all have in common and which makes everything look near.
            near = nearest(name.removeprefix(PREFIX), [label.removeprefix(PREFIX) for label in LABELS])
            hint = f"did you mean {PREFIX + near!r}?" if near else f"valid here: {listed(LABELS)}"
            labels.problems.add(labels.mapping.key_place(name), labels.path(name), f"unknown label; {hint}", name)


def parse_asn(text: str) -> int:
    """Return an AS number that a router may have. Raises ValueError."""
    example = "write one such as 64512 (private: 64512 to 65534, 4200000000 to 4294967294, RFC 6996)"
    if WHOLE_NUMBER.fullmatch(text) is None:
        raise ValueError(f"{shown(text)} is not an AS number; {example}")
    if not 1 <= int(text) <= _LARGEST_ASN:
        raise ValueError(f"{shown(text)} is out of range; {example}")
    if int(text) in _RESERVED_ASNS:
        raise ValueError(f"{shown(text)} is {_RESERVED_ASNS[int(text)]}; {example}")
    return int(text)


def parse_loopback(text: str) -> IPv4Address:
    """Return a node's own address; the prefix length is 32 and may be left out. Raises ValueError."""
    return _loopback(text, IPv4Address, 32, "10.255.0.1")


def parse_loopback6(text: str) -> IPv6Address:
    """Return a node's own IPv6 address; the prefix length is 128 and may be left out. Raises ValueError."""
    return _loopback(text, IPv6Address, 128, "fd00::1")


def _loopback(text: str, kind: type[A], length: int, such: str) -> A:
    example = f"write one such as '{such}'"
    bare, slash, written_length = text.partition("/")
    if slash and written_length != str(length):
        raise ValueError(f"{shown(text)}: a loopback address is a single one; {example}")
    try:
        address = kind(bare)
    except ValueError:
        raise ValueError(
            f"{shown(text)} is not an {kind.__name__.removesuffix('Address')} address; {example}"
        ) from None
    if not is_unicast(address):
        raise ValueError(f"{shown(text)} cannot be reached from other nodes; {example}")
    return address
