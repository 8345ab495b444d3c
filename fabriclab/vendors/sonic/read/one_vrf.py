"""A file as one VRF of the switch sees it: its interfaces, its BGP and its routes, under the name of the default one.

So routes of a VRF are calculated as those of the default one are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fabriclab.lab.reading.problems import Place
from fabriclab.vendors.sonic.read.bgp_tables import DEFAULT_VRF
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.entries import SEPARATOR
from fabriclab.vendors.sonic.read.json_text import Json, JsonText
from fabriclab.vendors.sonic.read.read import config_of
from fabriclab.vendors.sonic.read.vrf_tables import INTERFACES

_WITH_VRF = (
    *("BGP_GLOBALS", "BGP_GLOBALS_AF", "BGP_GLOBALS_AF_NETWORK", "BGP_GLOBALS_AF_AGGREGATE_ADDR", "BGP_NEIGHBOR"),
    *("BGP_NEIGHBOR_AF", "BGP_PEER_GROUP", "BGP_PEER_GROUP_AF", "ROUTE_REDISTRIBUTE", "STATIC_ROUTE"),
    "BGP_GLOBALS_LISTEN_PREFIX",
)
"""Tables whose keys begin with a VRF; those of bgpcfgd may do without it."""
_SHARED = (
    *("DEVICE_METADATA", "DEVICE_NEIGHBOR", "PORT", "PORTCHANNEL", "PORTCHANNEL_MEMBER", "VLAN", "VLAN_MEMBER"),
    *("ROUTE_MAP", "ROUTE_MAP_SET", "PREFIX_SET", "PREFIX", "COMMUNITY_SET", "EXTENDED_COMMUNITY_SET", "AS_PATH_SET"),
    "VRF",
)
"""Tables that are the same for all VRFs. What others say is told of the default one."""


@dataclass
class _VrfText(JsonText):
    """The tables of one VRF, whose entries are found where the whole file has them."""

    whole: JsonText = field(default_factory=lambda: JsonText("", "", None))
    keys: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """The key that is written, by table and key."""

    def place(self, path: Sequence[str]) -> Place:
        """Return where an entry stands."""
        return self.whole.place(_written(tuple(path), self.keys))


def of_vrf(config: ConfigDb, vrf: str) -> ConfigDb:
    """Return what a file says of one VRF; empty: of the default one."""
    text = config.json
    root = None if text is None else text.value
    if text is None or not isinstance(root, dict):
        return config
    keys: dict[tuple[str, str], str] = {}
    tables: dict[str, Json] = {}
    for table, entries in root.items():
        if not isinstance(entries, dict):
            continue
        if table in INTERFACES:
            tables[table] = {key: one for key, one in entries.items() if _is_in(config, key, vrf)}
        elif table in _WITH_VRF:
            tables[table] = _renamed(table, entries, vrf, keys)
        elif not vrf or table in _SHARED:
            tables[table] = entries
    found = config_of(_VrfText(text.file, text.text, tables, whole=text, keys=keys))
    told = tuple(replace(one, path=_written(one.path, keys)) for one in found.not_emulated)
    return replace(found, vrfs={}, not_emulated=told)


def _written(path: tuple[str, ...], keys: Mapping[tuple[str, str], str]) -> tuple[str, ...]:
    return (path[0], keys.get((path[0], path[1]), path[1]), *path[2:]) if path[1:] else path


def _is_in(config: ConfigDb, key: str, vrf: str) -> bool:
    name = key.partition(SEPARATOR)[0].strip()
    return vrf == next((one for one, every in config.vrfs.items() if name in every), "")


def _renamed(table: str, entries: Mapping[str, Json], vrf: str, keys: dict[tuple[str, str], str]) -> dict[str, Json]:
    """Return the entries of a VRF, under the default one's name."""
    found: dict[str, Json] = {}
    for key, one in entries.items():
        head, bar, rest = key.partition(SEPARATOR)
        is_named = bool(bar) or table == "BGP_GLOBALS"
        if head == vrf and is_named:
            found[f"{DEFAULT_VRF}{bar}{rest}"] = one
            keys[table, f"{DEFAULT_VRF}{bar}{rest}"] = key
        elif not vrf and (head == DEFAULT_VRF or not is_named):
            found[key] = one
    return found
