"""The BGP sessions of a switch, of every VRF, and what is at their other ends."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from typing import NamedTuple

from fabriclab.formats.family import AnyAddress
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.vrf.routers import vrf_of
from fabriclab.vendors.sonic.vrf.words import DEFAULT, rows, with_group


class VrfSession(NamedTuple):
    """A session."""

    vrf: str
    peer: AnyAddress | None
    """None: it runs over the interface's link-local addresses."""
    interface: str
    """Where `peer` is None."""
    asn: str
    """The neighbour's AS number, or `external`, or `internal`."""
    own_asn: str
    key: str


def sessions_of(config: ConfigDb) -> Iterator[VrfSession]:
    """Yield the sessions that are not shut down, of VRFs that have a router."""
    groups = {one.words: one for one in rows(config, "BGP_PEER_GROUP")}
    routers = {one.words[0]: one.word("local_asn") for one in rows(config, "BGP_GLOBALS")} if config.frrcfgd else {}
    for row in rows(config, "BGP_NEIGHBOR"):
        full, vrf = with_group(row, groups) if len(row.words) > 1 else row, vrf_of(row)
        own = full.word("local_asn") or routers.get(vrf) or ("" if config.asn is None else str(config.asn))
        asn = full.word("asn") or full.word("peer_type")
        if not own or not asn or full.text("admin_status") in ("false", "down") or not _is_there(config, vrf):
            continue
        try:
            peer, interface = ip_address(row.words[-1]), ""
        except ValueError:
            peer, interface = None, row.words[-1]
        yield VrfSession(vrf, peer, interface, asn, own, row.key)


def _is_there(config: ConfigDb, vrf: str) -> bool:
    return vrf == DEFAULT or vrf in config.vrfs
