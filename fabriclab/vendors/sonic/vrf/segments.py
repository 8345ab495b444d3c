"""SRv6 for FRR: locators, SIDs and the source of tunnels, as frrcfgd hands them to it (sonic-buildimage,
src/sonic-frr-mgmt-framework, frrcfgd.py: SRV6_MY_LOCATORS, SRV6_MY_SIDS, SRV6_MY_SOURCE).

SONiC's bgpd takes the SID of a VRF as it is written (`sid vpn per-vrf export explicit`). That of a lab takes its
number, the bits of the function below the locator, which is the same SID if the locator is the SID's.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv6Address, IPv6Network

from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.vrf.words import DEFAULT, Row, rows

_EXPLICIT = "sid_vpn_per_vrf_export_explicit"
_DECAPSULATING = ("uDT46", "uDT4", "uDT6")
_BITS = 128
HEADERS_BYTES = 40 + 24
"""By which a packet grows: IPv6, and a routing header with one segment (RFC 8754), which Linux always writes."""


def segment_lines(config: ConfigDb) -> Iterator[str]:
    """Yield the switch's own part, if it has a locator."""
    locators = [*rows(config, "SRV6_MY_LOCATORS")]
    if not locators:
        return
    yield from ("segment-routing", " srv6")
    for row in rows(config, "SRV6_MY_SOURCE"):
        if row.word("source-address"):
            yield from ("  encapsulation", f"   source-address {row.word('source-address')}", "  exit")
    yield "  locators"
    for row in locators:
        lengths = (_length(row, "block_len", 32), _length(row, "node_len", 16), _length(row, "func_len", 16))
        yield f"   locator {row.words[0]}"
        words = "block-len {} node-len {} func-bits {}".format(*lengths)
        yield from (f"    prefix {_network(row)} {words}", "   exit")
    yield from ("  exit", "  static-sids")
    yield from _sids(config)
    yield from ("  exit", " exit", "exit")


def _sids(config: ConfigDb) -> Iterator[str]:
    for row in rows(config, "SRV6_MY_SIDS"):
        action, vrf = row.word("action"), row.word("decap_vrf")
        if len(row.words) == 2 and (action == "uN" or (action in _DECAPSULATING and vrf in config.vrfs)):
            yield f"   sid {row.words[1]} locator {row.words[0]} behavior {action}" + (
                "" if action == "uN" else f" vrf {vrf}"
            )


def locator_lines(config: ConfigDb, globals_of: Row) -> Iterator[str]:
    """Yield the locator that BGP takes SIDs from."""
    name = globals_of.word("srv6_locator")
    if name and any(row.words[0] == name for row in rows(config, "SRV6_MY_LOCATORS")):
        yield from (" segment-routing srv6", f"  locator {name}", " exit")


def sid_line(config: ConfigDb, globals_of: Row) -> Iterator[str]:
    """Yield the SID by which other switches send packets into a VRF."""
    number = sid_number(config, globals_of)
    if number is not None:
        yield f" sid vpn per-vrf export {number}"


def sid_number(config: ConfigDb, globals_of: Row) -> int | None:
    """Return the number of a VRF's SID below the locator of BGP; None: it has none, or is not of that locator."""
    text = globals_of.word(_EXPLICIT)
    named = next((row.word("srv6_locator") for row in rows(config, "BGP_GLOBALS") if row.words == (DEFAULT,)), "")
    locator = next((row for row in rows(config, "SRV6_MY_LOCATORS") if row.words[0] == named), None)
    if not text or locator is None:
        return None
    try:
        sid, network = IPv6Address(text), IPv6Network(_network(locator), strict=False)
    except ValueError:
        return None
    below = _length(locator, "block_len", 32) + _length(locator, "node_len", 16)
    bits = _length(locator, "func_len", 16)
    number = int(sid) >> max(0, _BITS - below - bits) & (1 << bits) - 1
    return number if sid in network and number else None


def _network(row: Row) -> str:
    """Return a locator's prefix; without a length it is as long as block and node."""
    prefix = row.word("prefix")
    return prefix if "/" in prefix else f"{prefix}/{_length(row, 'block_len', 32) + _length(row, 'node_len', 16)}"


def _length(row: Row, name: str, otherwise: int) -> int:
    text = row.word(name)
    return min(int(text), _BITS) if text.isdigit() and len(text) < 4 else otherwise


def has_segments(config: ConfigDb) -> bool:
    """Return whether the switch has a locator."""
    return any(True for _ in rows(config, "SRV6_MY_LOCATORS"))
