"""Reading the buffer, queue, scheduler, WRED, map and PFC tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Literal, TypeVar, cast

from fabriclab.formats.classes import QUEUES
from fabriclab.keys.wording import shown
from fabriclab.vendors.sonic.read.config_db import (
    BufferBinding,
    BufferPool,
    BufferProfile,
    LosslessDefaults,
    PfcWatchdog,
    PortQosMap,
    QueueBinding,
    Scheduler,
    WredProfile,
)
from fabriclab.vendors.sonic.read.entries import Entry, Fields, Tables, parse_indices, port_list, suggestion

T = TypeVar("T")
_ECN_WORDS = (
    "ecn_none",
    "ecn_green",
    "ecn_yellow",
    "ecn_red",
    "ecn_green_yellow",
    "ecn_green_red",
    "ecn_yellow_red",
    "ecn_all",
)
_LARGEST_RATE = 2**63 - 1
_MOST_QUEUES = 15
"""YANG's bound; a port has eight unicast queues, those above are multicast's or the CPU's."""

_CLASSES = 16
"""SONiC's traffic classes (sonic-types.yang, tc_type)."""

MAP_TABLES = {
    "DSCP_TO_TC_MAP": (64, _CLASSES),
    "TC_TO_QUEUE_MAP": (_CLASSES, _MOST_QUEUES + 1),
    "TC_TO_PRIORITY_GROUP_MAP": (_CLASSES, QUEUES),
    "MAP_PFC_PRIORITY_TO_QUEUE": (QUEUES, QUEUES),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": (QUEUES, QUEUES),
}
"""How many keys and values a map has, each from 0."""
MAP_OF_FIELD = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
    "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
}


class QosReader:
    """Reads the tables in the order in which they refer to each other."""

    def __init__(self, tables: Tables, ports: Collection[str]) -> None:
        self._tables = tables
        self._ports = ports

    def named(self, table: str, read: Callable[[Fields], T]) -> dict[str, T]:
        """Return a table's entries by their key."""
        return {entry.key: self._read(entry, read) for entry in self._tables.entries(table)}

    def _read(self, entry: Entry, read: Callable[[Fields], T]) -> T:
        return read(Fields(self._tables, entry))

    def pool(self, fields: Fields) -> BufferPool:
        """Read an entry of BUFFER_POOL."""
        return BufferPool(
            name=fields.entry.key,
            kind=fields.choice("type", ("ingress", "egress", "both")),
            mode=fields.choice("mode", ("static", "dynamic")),
            size=fields.size("size"),
            xoff=fields.size("xoff") or 0,
        )

    def profile(self, fields: Fields, pools: Mapping[str, BufferPool]) -> BufferProfile:
        """Read an entry of BUFFER_PROFILE."""
        self._tables.ask("BUFFER_PROFILE", "headroom_type")  # who computed the headroom, not what it is
        return BufferProfile(
            name=fields.entry.key,
            pool=fields.reference("pool", "BUFFER_POOL", pools),
            size=fields.size("size"),
            static_th=fields.size("static_th"),
            dynamic_th=fields.number("dynamic_th", -8, 7),
            xon=fields.size("xon") or 0,
            xoff=fields.size("xoff") or 0,
            xon_offset=fields.size("xon_offset") or 0,
            trims=fields.choice("packet_discard_action", ("drop", "trim")) == "trim",
        )

    def buffer_bindings(self, table: str, profiles: Mapping[str, BufferProfile]) -> tuple[BufferBinding, ...]:
        """Read BUFFER_PG or BUFFER_QUEUE."""
        most = QUEUES - 1 if table == "BUFFER_PG" else _MOST_QUEUES

        def read(fields: Fields) -> BufferBinding | None:
            bound = self._bound(fields, most)
            name = None if fields.text("profile") == "NULL" else fields.reference("profile", "BUFFER_PROFILE", profiles)
            if "profile" not in fields:
                fields.complain("profile", "missing; write the name of a BUFFER_PROFILE")
            return None if bound is None else BufferBinding(fields.entry.key, *bound, name)

        return tuple(
            binding for entry in self._tables.entries(table) if (binding := self._read(entry, read)) is not None
        )

    def queue_bindings(
        self, schedulers: Mapping[str, Scheduler], wreds: Mapping[str, WredProfile]
    ) -> tuple[QueueBinding, ...]:
        """Read QUEUE; the CPU's queues are left out."""

        def read(fields: Fields) -> QueueBinding | None:
            if fields.entry.words[0] == "CPU":
                return None
            bound = self._bound(fields, _MOST_QUEUES)
            scheduler = fields.reference("scheduler", "SCHEDULER", schedulers)
            wred = fields.reference("wred_profile", "WRED_PROFILE", wreds)
            return None if bound is None else QueueBinding(fields.entry.key, *bound, scheduler, wred)

        return tuple(
            binding for entry in self._tables.entries("QUEUE") if (binding := self._read(entry, read)) is not None
        )

    def _bound(self, fields: Fields, most: int) -> tuple[tuple[str, ...], tuple[int, ...]] | None:
        """Return ports and numbers of a key `port|3-4`, or of a chassis' `host|asic|port|3-4`."""
        entry = fields.entry
        path = (entry.table, entry.key)
        if len(entry.words) not in (2, 4):
            self._tables.complain(path, "the key of an entry is a port and a number or a range, such as Ethernet0|3-4")
            return None
        names, unknown = port_list(entry.words[-2], self._ports)
        for name in unknown if len(entry.words) == 2 else ():
            self._tables.complain(path, f"{shown(name)} is not a PORT; {suggestion(name, self._ports)}", name)
        if len(entry.words) == 4 and not self._is_here(entry):
            self._tables.note(f"{entry.table}: entries of other line cards were left out; a lab has one switch")
            return None
        if len(names) > 1:
            self._tables.note(
                f"{entry.table}: keys that list ports were accepted; current YANG models require a key for each port"
            )
        indices = parse_indices(entry.words[-1], most)
        if indices is None:
            self._tables.complain(
                path, f"{shown(entry.words[-1])}: must be a number from 0 to {most} or a range such as 3-4"
            )
            return None
        return tuple(names), tuple(indices)

    def _is_here(self, entry: Entry) -> bool:
        """Return whether a key of a chassis, `host|asic|port|3-4`, is of this file's host and chip."""
        host, asic, port, _ = entry.words
        ours = self._tables.device("hostname"), self._tables.device("asic_name")
        return port in self._ports and all(
            not one or one.lower() == word.lower() for one, word in zip(ours, (host, asic), strict=True)
        )

    def scheduler(self, fields: Fields) -> Scheduler:
        """Read an entry of SCHEDULER."""
        return Scheduler(
            name=fields.entry.key,
            kind=cast(Literal["DWRR", "WRR", "STRICT"], fields.choice("type", ("DWRR", "WRR", "STRICT")) or "WRR"),
            weight=fields.number("weight", 1, 100) or 1,
            meter_type=fields.choice("meter_type", ("bytes", "packets")) or "bytes",
            cir=fields.number("cir", 0, _LARGEST_RATE),
            cbs=fields.number("cbs", 0, 2**32 - 1),
            pir=fields.number("pir", 0, _LARGEST_RATE),
            pbs=fields.number("pbs", 0, 2**32 - 1),
        )

    def wred(self, fields: Fields) -> WredProfile:
        """Read an entry of WRED_PROFILE."""
        probability = fields.number("green_drop_probability", 0, 100, "per cent")
        return WredProfile(
            name=fields.entry.key,
            min_threshold=fields.size("green_min_threshold"),
            max_threshold=fields.size("green_max_threshold"),
            drop_probability=100 if probability is None else probability,
            enabled=fields.flag("wred_green_enable") or False,
            ecn=fields.choice("ecn", _ECN_WORDS) or "ecn_none",
        )

    def maps(self) -> dict[str, dict[str, dict[int, int]]]:
        """Read the tables of maps; an entry that is wrong is recorded."""
        return {
            table: self.named(table, partial(self._map, keys=keys, values=values))
            for table, (keys, values) in MAP_TABLES.items()
        }

    def _map(self, fields: Fields, keys: int, values: int) -> dict[int, int]:
        mapping = {}
        for name in fields.entry.fields:
            value = fields.number(name, 0, values - 1)
            if not name.isascii() or not name.isdigit() or len(name) > 2 or int(name) >= keys:
                fields.complain(
                    name, f"{shown(name)}: the field's name must be a whole number from 0 to {keys - 1}", name
                )
            elif value is not None:
                mapping[int(name)] = value
        return mapping

    def port_qos(self, maps: Mapping[str, Mapping[str, object]]) -> dict[str, PortQosMap]:
        """Read PORT_QOS_MAP; a key that lists ports is read for each."""
        every: dict[str, PortQosMap] = {}

        def read(fields: Fields) -> None:
            key = fields.entry.key
            names, unknown = ([key], []) if key == "global" else port_list(key, self._ports)
            for name in unknown:
                message = f"{shown(name)} is not a PORT; {suggestion(name, [*self._ports, 'global'])}"
                self._tables.complain((fields.entry.table, key), message, name)
            named = {name: fields.reference(name, table, maps[table]) for name, table in MAP_OF_FIELD.items()}
            pfc, watched = self._priorities(fields, "pfc_enable"), self._priorities(fields, "pfcwd_sw_enable")
            for name in names:
                every[name] = PortQosMap(
                    name, {one: value for one, value in named.items() if value is not None}, pfc, watched
                )

        for entry in self._tables.entries("PORT_QOS_MAP"):
            self._read(entry, read)
        return every

    def _priorities(self, fields: Fields, name: str) -> tuple[int, ...] | None:
        words = fields.words(name)
        if words is None:
            return None
        for word in words:
            if word not in tuple("01234567"):
                fields.complain(name, f"{shown(word)}: must be priorities from 0 to 7, such as 3,4", word)
        return tuple(sorted({int(word) for word in words if word in tuple("01234567")}))

    def watchdogs(self) -> dict[str, PfcWatchdog]:
        """Read PFC_WD of ports."""
        every: dict[str, PfcWatchdog] = {}

        def read(fields: Fields) -> None:
            if fields.entry.key == "GLOBAL":
                return
            names, unknown = port_list(fields.entry.key, self._ports)
            for name in unknown:
                message = f"{shown(name)} is not a PORT; {suggestion(name, [*self._ports, 'GLOBAL'])}"
                self._tables.complain(("PFC_WD", fields.entry.key), message, name)
            action = fields.choice("action", ("drop", "forward", "alert"))
            detection, restoration = (
                fields.number("detection_time", 100, 5000, "ms"),
                fields.number("restoration_time", 100, 60_000, "ms"),
            )
            every.update({name: PfcWatchdog(name, action, detection, restoration) for name in names})

        for entry in self._tables.entries("PFC_WD"):
            self._read(entry, read)
        return every

    def lossless_defaults(self, fields: Fields) -> LosslessDefaults:
        """Read an entry of DEFAULT_LOSSLESS_BUFFER_PARAMETER."""
        return LosslessDefaults(fields.entry.key, fields.number("default_dynamic_th", -8, 7))
