"""A config_db.json as the data that SONiC's YANG models describe (RFC 7950), as XML.

SONiC does the same translation with `sonic-yang-mgmt`: table T lies in a container T of a module's container, an entry
in the list T_LIST, the words of its key in the list's keys. XML rather than JSON, because there every value is a text,
as in CONFIG_DB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape

from fabriclab.vendors.sonic.export.tables import ConfigTables, FieldValue

_NAMESPACE = "http://github.com/sonic-net"
_SEPARATOR = "|"


@dataclass(frozen=True)
class _List:
    """A list of a table and the leaves that make its key."""

    name: str
    keys: tuple[str, ...]


@dataclass(frozen=True)
class _Table:
    """Where a table lies. One of the lists holds an entry, by the number of words in its key."""

    module: str
    lists: tuple[_List, ...] = ()
    pairs: tuple[str, str] | None = None
    """For a table whose entries are maps: the leaves of a field's name and value, in a list named like the table."""


def _plain(module: str, table: str, *keys: str) -> _Table:
    return _Table(module, (_List(f"{table}_LIST", keys),))


def _addressed(module: str, table: str, prefix: str = "ip-prefix") -> _Table:
    """Return a table of interfaces, whose keys are `name` and `name|address`; `prefix` is the latter's leaf."""
    return _Table(module, (_List(f"{table}_LIST", ("name",)), _List(f"{table}_IPPREFIX_LIST", ("name", prefix))))


def _map(module: str, table: str, key: str, value: str) -> _Table:
    return _Table(module, (_List(f"{table}_LIST", ("name",)),), (key, value))


_TABLES = {
    "DEVICE_METADATA": _Table("sonic-device_metadata"),
    "PORT": _plain("sonic-port", "PORT", "name"),
    "CABLE_LENGTH": _map("sonic-cable-length", "CABLE_LENGTH", "port", "length"),
    "INTERFACE": _addressed("sonic-interface", "INTERFACE"),
    "PORTCHANNEL": _plain("sonic-portchannel", "PORTCHANNEL", "name"),
    "PORTCHANNEL_MEMBER": _plain("sonic-portchannel", "PORTCHANNEL_MEMBER", "name", "port"),
    "PORTCHANNEL_INTERFACE": _addressed("sonic-portchannel", "PORTCHANNEL_INTERFACE", "ip_prefix"),
    "VLAN": _plain("sonic-vlan", "VLAN", "name"),
    "VLAN_MEMBER": _plain("sonic-vlan", "VLAN_MEMBER", "name", "port"),
    "VLAN_INTERFACE": _addressed("sonic-vlan", "VLAN_INTERFACE"),
    "LOOPBACK_INTERFACE": _addressed("sonic-loopback-interface", "LOOPBACK_INTERFACE"),
    "DEVICE_NEIGHBOR": _plain("sonic-device_neighbor", "DEVICE_NEIGHBOR", "peer_name"),
    "DEVICE_NEIGHBOR_METADATA": _plain("sonic-device_neighbor_metadata", "DEVICE_NEIGHBOR_METADATA", "name"),
    "STATIC_ROUTE": _plain("sonic-static-route", "STATIC_ROUTE", "vrf_name", "prefix"),
    "BGP_GLOBALS": _plain("sonic-bgp-global", "BGP_GLOBALS", "vrf_name"),
    "BGP_GLOBALS_AF": _plain("sonic-bgp-global", "BGP_GLOBALS_AF", "vrf_name", "afi_safi"),
    "BGP_GLOBALS_AF_NETWORK": _plain("sonic-bgp-global", "BGP_GLOBALS_AF_NETWORK", "vrf_name", "afi_safi", "ip_prefix"),
    "BGP_NEIGHBOR": _Table(
        "sonic-bgp-neighbor",
        (_List("BGP_NEIGHBOR_TEMPLATE_LIST", ("neighbor",)), _List("BGP_NEIGHBOR_LIST", ("vrf_name", "neighbor"))),
    ),
    "BGP_NEIGHBOR_AF": _plain("sonic-bgp-neighbor", "BGP_NEIGHBOR_AF", "vrf_name", "neighbor", "afi_safi"),
    "BUFFER_POOL": _plain("sonic-buffer-pool", "BUFFER_POOL", "name"),
    "BUFFER_PROFILE": _plain("sonic-buffer-profile", "BUFFER_PROFILE", "name"),
    "BUFFER_PG": _plain("sonic-buffer-pg", "BUFFER_PG", "port", "pg_num"),
    "BUFFER_QUEUE": _plain("sonic-buffer-queue", "BUFFER_QUEUE", "port", "qindex"),
    "QUEUE": _plain("sonic-queue", "QUEUE", "ifname", "qindex"),
    "SCHEDULER": _plain("sonic-scheduler", "SCHEDULER", "name"),
    "WRED_PROFILE": _plain("sonic-wred-profile", "WRED_PROFILE", "name"),
    "DSCP_TO_TC_MAP": _map("sonic-dscp-tc-map", "DSCP_TO_TC_MAP", "dscp", "tc"),
    "TC_TO_QUEUE_MAP": _map("sonic-tc-queue-map", "TC_TO_QUEUE_MAP", "tc", "qindex"),
    "TC_TO_PRIORITY_GROUP_MAP": _map("sonic-tc-priority-group-map", "TC_TO_PRIORITY_GROUP_MAP", "tc", "pg"),
    "MAP_PFC_PRIORITY_TO_QUEUE": _map(
        "sonic-pfc-priority-queue-map", "MAP_PFC_PRIORITY_TO_QUEUE", "pfc_priority", "qindex"
    ),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": _map(
        "sonic-pfc-priority-priority-group-map", "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "pfc_priority", "pg"
    ),
    "PORT_QOS_MAP": _plain("sonic-port-qos-map", "PORT_QOS_MAP", "ifname"),
    "PFC_WD": _plain("sonic-pfcwd", "PFC_WD", "ifname"),
    "SWITCH_TRIMMING": _Table("sonic-trimming"),
    "ARS_PROFILE": _plain("sonic-ars", "ARS_PROFILE", "profile_name"),
    "ARS_OBJECT": _plain("sonic-ars", "ARS_OBJECT", "ars_obj_name"),
}
"""The tables that the export writes."""
_ASKED_BY = {"sonic-vlan": ("sonic-mirror-session", "sonic-portchannel", "sonic-interface")}
"""Modules that another one's conditions (`must`) look at: they have to be there,
whether they describe anything or not."""


@dataclass(frozen=True)
class YangData:
    """What a YANG validator takes."""

    modules: tuple[str, ...]
    """Names of the modules that describe it."""
    xml: str


def yang_data(tables: ConfigTables) -> YangData:
    """Return a configuration as YANG data.

    Raises ValueError for a table that the export does not write, and for a key of no list.
    """
    by_module: dict[str, dict[str, Mapping[str, Mapping[str, FieldValue]]]] = {}
    for name, entries in tables.items():
        if name not in _TABLES:
            raise ValueError(f"table {name} is not among those that fabriclab exports")
        by_module.setdefault(_TABLES[name].module, {})[name] = entries
    # libyang reads top-level elements one after the other, without an element around them.
    asked = dict.fromkeys([*by_module, *(other for module in by_module for other in _ASKED_BY.get(module, ()))])
    return YangData(
        tuple(asked), "".join(f"{line}\n" for module, own in by_module.items() for line in _module(module, own))
    )


def _module(module: str, tables: Mapping[str, Mapping[str, Mapping[str, FieldValue]]]) -> Iterator[str]:
    yield f'<{module} xmlns="{_NAMESPACE}/{module}">'
    for name, entries in tables.items():
        yield f"  <{name}>"
        for key, fields in entries.items():
            yield from (f"    {line}" for line in _entry(name, _TABLES[name], key, fields))
        yield f"  </{name}>"
    yield f"</{module}>"


def _entry(name: str, table: _Table, key: str, fields: Mapping[str, FieldValue]) -> Iterator[str]:
    if not table.lists:
        yield from _element(key, _leaves(fields))
        return
    words = key.split(_SEPARATOR)
    holder = next((each for each in table.lists if len(each.keys) == len(words)), None)
    if holder is None:
        raise ValueError(f"{name}|{key}: no list of the YANG model has a key of {len(words)} words")
    keys = [f"<{leaf}>{escape(word)}</{leaf}>" for leaf, word in zip(holder.keys, words, strict=True)]
    content = _leaves(fields) if table.pairs is None else list(_pairs(name, table.pairs, fields))
    yield from _element(holder.name, [*keys, *content])


def _pairs(name: str, leaves: tuple[str, str], fields: Mapping[str, FieldValue]) -> Iterator[str]:
    for field, value in fields.items():
        pair = "".join(
            f"<{leaf}>{escape(str(text))}</{leaf}>" for leaf, text in zip(leaves, (field, value), strict=True)
        )
        yield f"<{name}>{pair}</{name}>"


def _leaves(fields: Mapping[str, FieldValue]) -> list[str]:
    every = [(name, text) for name, value in fields.items() for text in (value if isinstance(value, list) else [value])]
    return [f"<{name}>{escape(text)}</{name}>" for name, text in every]


def _element(name: str, content: list[str]) -> Iterator[str]:
    yield f"<{name}>"
    yield from (f"  {line}" for line in content)
    yield f"</{name}>"
