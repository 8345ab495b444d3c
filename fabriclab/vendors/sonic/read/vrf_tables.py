"""Reading which interfaces are in which VRF.

intfmgrd binds an interface by the field `vrf_name` of its own entry, once VRF has the name; it looks at no such field
of an address (sonic-swss, cfgmgr/intfmgr.cpp: doIntfGeneralTask, doIntfAddrTask).
"""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats import names
from fabriclab.vendors.sonic.read.entries import SEPARATOR, FieldValue, Tables

TABLE, FIELD = "VRF", "vrf_name"
INTERFACES = ("INTERFACE", "PORTCHANNEL_INTERFACE", "VLAN_INTERFACE", "LOOPBACK_INTERFACE")
ONLY_DEFAULT = "a lab has only the default VRF"
"""What notes end with that are not true of a lab whose switches have VRFs."""


def read_vrfs(tables: Tables) -> dict[str, tuple[str, ...]]:
    """Return the VRFs of the switch, each with its interfaces, in the order of the file."""
    found: dict[str, list[str]] = {key: [] for key in tables.keys(TABLE) if names.INTERFACE_NAME.is_in(key)}
    for table in INTERFACES:
        for entry in tables.entries(table) if found else ():
            name = bound_vrf(entry.key, entry.fields)
            if name in found:
                found[name].append(entry.key)
    return {name: tuple(interfaces) for name, interfaces in found.items()}


def vrf_fields(tables: Tables, vrfs: Mapping[str, tuple[str, ...]]) -> set[tuple[str, str, str]]:
    """Return the fields that bind interfaces to VRFs, as table, key and field."""
    for table in INTERFACES if vrfs else ():
        tables.ask(table, FIELD)
    inside = {name for every in vrfs.values() for name in every}
    return {(table, name, FIELD) for table in INTERFACES for name in tables.keys(table) if name in inside}


def bound_vrf(key: str, fields: Mapping[str, FieldValue]) -> str:
    """Return the VRF that an entry binds its interface to; empty: none, or the entry is that of an address."""
    value = fields.get(FIELD)
    return value.strip() if isinstance(value, str) and SEPARATOR not in key else ""
