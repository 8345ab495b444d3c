"""The objects that are compared, each as a record of texts that is the same from a file and from ASIC_DB."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from fabriclab.vendors.sonic.oracle.asic_db import AsicDb, Attributes
from fabriclab.vendors.sonic.read.config_db import BufferProfile, ConfigDb, WredProfile
from fabriclab.vendors.sonic.read.qos_tables import MAP_OF_FIELD

Record = tuple[tuple[str, str], ...]
"""Names and values of what an object is, by name."""
_ETHERNET_BYTES = 22
"""That portsorch adds to a port's MTU: Ethernet, VLAN tag and check sequence (sonic-swss, portsorch.cpp)."""
_MAPS = {
    "dscp_to_tc_map": ("SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP", "dscp", "tc"),
    "tc_to_queue_map": ("SAI_PORT_ATTR_QOS_TC_TO_QUEUE_MAP", "tc", "qidx"),
    "tc_to_pg_map": ("SAI_PORT_ATTR_QOS_TC_TO_PRIORITY_GROUP_MAP", "tc", "pg"),
    "pfc_to_queue_map": ("SAI_PORT_ATTR_QOS_PFC_PRIORITY_TO_QUEUE_MAP", "prio", "qidx"),
}
KINDS = ("pool", "profile", "group's profile", "queue's profile", "queue's WRED", "WRED", "scheduler", "port")


def _record(**fields: object) -> Record:
    return tuple((name, str(value)) for name, value in sorted(fields.items()) if value is not None)


def _words(record: Record) -> str:
    return " ".join(f"{name}={value}" for name, value in record)


# -- Of a file -----------------------------------------------------------------------------------------------------


def of_file(config: ConfigDb, ports: Iterable[str]) -> dict[str, list[Record]]:
    """Return what orchagent is to make of a file, by kind: of the ports that ASIC_DB has."""
    wanted = frozenset(ports)
    return {
        "pool": [_pool_of(config, name) for name in config.pools],
        "profile": [_profile_of(config, profile) for profile in config.profiles.values()],
        "group's profile": [
            _profile_of(config, config.profiles[one.profile])
            for one in config.buffer_pgs
            if one.profile is not None
            for _ in _places(one.ports, one.indices, wanted)
        ],
        "queue's profile": [
            _profile_of(config, config.profiles[one.profile])
            for one in config.buffer_queues
            if one.profile is not None
            for _ in _places(one.ports, one.indices, wanted)
        ],
        "queue's WRED": [
            _wred_of(config.wred_profiles[one.wred_profile])
            for one in config.queues
            if one.wred_profile is not None
            for _ in _places(one.ports, one.indices, wanted)
        ],
        "WRED": [_wred_of(one) for one in config.wred_profiles.values()],
        "scheduler": [
            _record(kind=one.kind, weight=one.weight if one.kind != "STRICT" else None, cir=one.cir, pir=one.pir)
            for one in config.schedulers.values()
        ],
        "port": [_port_of(config, name) for name in config.ports if name in wanted],
    }


def _places(ports: Iterable[str], indices: Iterable[int], wanted: frozenset[str]) -> list[tuple[str, int]]:
    """Return the queues or groups that an entry binds, of ports that ASIC_DB has."""
    return [(port, index) for port in ports if port in wanted for index in indices]


def _wred_of(one: WredProfile) -> Record:
    return _record(
        enabled=one.enabled,
        least=(one.min_threshold or 0) if one.enabled else None,
        most=(one.max_threshold or 0) if one.enabled else None,
        probability=one.drop_probability if one.enabled else None,
        ecn=one.ecn,
    )


def _pool_of(config: ConfigDb, name: str) -> Record:
    pool = config.pools[name]
    return _record(kind=pool.kind, mode=pool.mode, size=pool.size, xoff=pool.xoff)


def _profile_of(config: ConfigDb, profile: BufferProfile) -> Record:
    return _record(
        pool=_words(_pool_of(config, profile.pool or "")) if profile.pool in config.pools else None,
        reserved=profile.size or 0,
        dynamic_th=profile.dynamic_th,
        static_th=profile.static_th if profile.dynamic_th is None else None,
        xoff=profile.xoff,
        xon=profile.xon,
        xon_offset=profile.xon_offset,
    )


def _port_of(config: ConfigDb, name: str) -> Record:
    port = config.ports[name]
    qos = config.port_qos.get(name) or config.port_qos.get("global")
    maps = {} if qos is None else qos.maps
    said = {field: config.maps[MAP_OF_FIELD[field]][maps[field]] for field in _MAPS if field in maps}
    return _record(
        name=name,
        speed=port.speed_mbps,
        mtu=port.mtu,
        up=port.up,
        pfc=sorted((qos.pfc_enable or ()) if qos is not None else ()),
        **{field: sorted(values.items()) for field, values in said.items()},
    )


# -- Of ASIC_DB ----------------------------------------------------------------------------------------------------


def of_asic(database: AsicDb, config: ConfigDb) -> dict[str, list[Record]]:
    """Return what orchagent made, by kind. Objects that SONiC makes by itself are none of them."""
    profiles = {oid: _profile(database, one) for oid, one in database.of("BUFFER_PROFILE").items()}
    groups = database.of("INGRESS_PRIORITY_GROUP").values()
    bound = [one.get("SAI_INGRESS_PRIORITY_GROUP_ATTR_BUFFER_PROFILE", "") for one in groups]
    queues = database.of("QUEUE").values()
    queued = [one.get("SAI_QUEUE_ATTR_BUFFER_PROFILE_ID", "") for one in queues]
    wreds = {oid: _wred(one) for oid, one in database.of("WRED").items()}
    marked = [one.get("SAI_QUEUE_ATTR_WRED_PROFILE_ID", "") for one in queues]
    ports = database.ports()
    return {
        "pool": [_pool(one) for one in database.of("BUFFER_POOL").values()],
        "profile": list(profiles.values()),
        "group's profile": [profiles[oid] for oid in bound if oid in profiles],
        "queue's profile": [profiles[oid] for oid in queued if oid in profiles],
        "queue's WRED": [wreds[oid] for oid in marked if oid in wreds],
        "WRED": list(wreds.values()),
        "scheduler": [_scheduler(one) for one in database.of("SCHEDULER").values()],
        "port": [_port(database, config, name, one) for name, one in ports.items() if name in config.ports],
    }


def _word(attributes: Attributes, name: str, prefix: str) -> str | None:
    value = attributes.get(name)
    return None if value is None else value.removeprefix(prefix).lower()


def _pool(one: Attributes) -> Record:
    start = "SAI_BUFFER_POOL_ATTR_"
    return _record(
        kind=_word(one, f"{start}TYPE", "SAI_BUFFER_POOL_TYPE_"),
        mode=_word(one, f"{start}THRESHOLD_MODE", "SAI_BUFFER_POOL_THRESHOLD_MODE_"),
        size=one.get(f"{start}SIZE"),
        xoff=one.get(f"{start}XOFF_SIZE", "0"),
    )


def _profile(database: AsicDb, one: Attributes) -> Record:
    start = "SAI_BUFFER_PROFILE_ATTR_"
    pool = database.of("BUFFER_POOL").get(one.get(f"{start}POOL_ID", ""))
    return _record(
        pool=None if pool is None else _words(_pool(pool)),
        reserved=one.get(f"{start}RESERVED_BUFFER_SIZE", one.get(f"{start}BUFFER_SIZE", "0")),
        dynamic_th=one.get(f"{start}SHARED_DYNAMIC_TH"),
        static_th=one.get(f"{start}SHARED_STATIC_TH"),
        xoff=one.get(f"{start}XOFF_TH", "0"),
        xon=one.get(f"{start}XON_TH", "0"),
        xon_offset=one.get(f"{start}XON_OFFSET_TH", "0"),
    )


def _wred(one: Attributes) -> Record:
    start = "SAI_WRED_ATTR_"
    enabled = one.get(f"{start}GREEN_ENABLE") == "true"
    mode = _word(one, f"{start}ECN_MARK_MODE", "SAI_ECN_MARK_MODE_") or "none"
    return _record(
        enabled=enabled,
        least=one.get(f"{start}GREEN_MIN_THRESHOLD", "0") if enabled else None,
        most=one.get(f"{start}GREEN_MAX_THRESHOLD", "0") if enabled else None,
        probability=one.get(f"{start}GREEN_DROP_PROBABILITY", "100") if enabled else None,
        ecn=f"ecn_{mode}",
    )


def _scheduler(one: Attributes) -> Record:
    start = "SAI_SCHEDULER_ATTR_"
    kind = (_word(one, f"{start}SCHEDULING_TYPE", "SAI_SCHEDULING_TYPE_") or "strict").upper()
    return _record(
        kind=kind,
        weight=one.get(f"{start}SCHEDULING_WEIGHT", "1") if kind != "STRICT" else None,
        cir=one.get(f"{start}MIN_BANDWIDTH_RATE"),
        pir=one.get(f"{start}MAX_BANDWIDTH_RATE"),
    )


def _port(database: AsicDb, config: ConfigDb, name: str, one: Attributes) -> Record:
    mask = int(one.get("SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL", "0") or 0)
    mtu = int(one.get("SAI_PORT_ATTR_MTU", "0") or 0)
    maps = {}
    # What the entry `global` binds, the switch has; it holds for the ports that have no map of their own.
    whole = next(iter(database.of("SWITCH").values()), {})
    for field, (attribute, key, value) in _MAPS.items():
        bound = one.get(attribute) or whole.get(attribute.replace("_PORT_", "_SWITCH_"), "")
        found = database.of("QOS_MAP").get(bound)
        if found is not None:
            maps[field] = sorted(_entries(found, key, value))
    return _record(
        name=name,
        speed=one.get("SAI_PORT_ATTR_SPEED"),
        mtu=mtu - _ETHERNET_BYTES if config.ports[name].mtu is not None and mtu else None,
        up=one.get("SAI_PORT_ATTR_ADMIN_STATE") == "true",
        pfc=[priority for priority in range(8) if mask >> priority & 1],
        **maps,
    )


def _entries(one: Attributes, key: str, value: str) -> Iterator[tuple[int, int]]:
    listed: Mapping[str, list[Mapping[str, Mapping[str, int]]]] = json.loads(
        one.get("SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST", '{"list": []}')
    )
    for entry in listed["list"] or ():
        yield int(entry["key"][key]), int(entry["value"][value])
