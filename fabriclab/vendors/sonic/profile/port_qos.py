"""What a config_db.json says of one port's queues, priority groups, maps and PFC, in the words of the lab language."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from fabriclab.formats.classes import QUEUES
from fabriclab.formats.framing import AROUND_MTU_BYTES
from fabriclab.lab.reading.problems import Problems
from fabriclab.units import format_duration, format_rate, format_size
from fabriclab.vendors.common.port_settings import Map, PortSettings
from fabriclab.vendors.common.sourced_values import Block, Figure, joined
from fabriclab.vendors.sonic.read.accounts import Accounts, alpha_text, computed_pool
from fabriclab.vendors.sonic.read.config_db import BufferBinding, ConfigDb, QueueBinding, Scheduler, WredProfile
from fabriclab.vendors.sonic.read.neighbours import port_mtu
from fabriclab.vendors.sonic.read.qos_tables import MAP_OF_FIELD, MAP_TABLES
from fabriclab.vendors.sonic.read.traffic_classes import Classes, in_eight

B = TypeVar("B", BufferBinding, QueueBinding)
LANGUAGE_MAPS = {
    "dscp_to_tc_map": "dscp_to_tc",
    "tc_to_queue_map": "tc_to_queue",
    "tc_to_pg_map": "tc_to_group",
    "pfc_to_queue_map": "priority_to_queue",
    "pfc_to_pg_map": "priority_to_group",
}
"""The lab language's word for a field of PORT_QOS_MAP."""
_OF_CLASSES = ("dscp_to_tc", "tc_to_queue", "tc_to_group")
_BITS = 8
_MS_NS = 10**6
_SLOWEST_BPS = 8_000
"""The slowest rate of a shaped queue in the lab language."""
_GLOBAL = "global"


class PortResolver:
    """Resolves the ports of one switch. What cannot be said in a lab is recorded, what is worth knowing is noted."""

    def __init__(self, config: ConfigDb, accounts: Accounts, notes: dict[str, None], problems: Problems) -> None:
        self._config = config
        self._accounts = accounts
        self._notes = notes
        self._problems = problems
        self._groups = self._by_port(config.buffer_pgs, "BUFFER_PG", ("profile",))
        self._buffers = self._by_port(config.buffer_queues, "BUFFER_QUEUE", ("profile",))
        self._queues = self._by_port(config.queues, "QUEUE", ("scheduler", "wred_profile"))

    def _by_port(self, bindings: Iterable[B], table: str, what: tuple[str, ...]) -> dict[str, dict[int, B]]:
        """Return the bindings by port and number; two that differ in `what` and name the same are recorded."""
        by_port: dict[str, dict[int, B]] = {}
        for binding in bindings:
            for port in binding.ports:
                known = by_port.setdefault(port, {})
                self._refuse_overlap(
                    binding, [known[index] for index in binding.indices if index in known], table, what
                )
                known.update(dict.fromkeys(binding.indices, binding))
        return by_port

    def _refuse_overlap(self, binding: B, others: list[B], table: str, what: tuple[str, ...]) -> None:
        for other in dict.fromkeys(others):
            if any(getattr(binding, name) != getattr(other, name) for name in what):
                message = f"overlaps {table}|{other.key}, which differs; SONiC would use the one that it reads last"
                self._complain((table, binding.key), message)

    def resolve(self, port: str) -> PortSettings:
        """Return what holds for a port."""
        maps = self._maps(port)
        buffers, queues = self._buffers.get(port, {}), self._queues.get(port, {})
        above = sorted(index for index in {*buffers, *queues} if index >= QUEUES)
        if above:
            self._note(
                f"queues {above[0]} to {above[-1]} (multicast or CPU) were left out; "
                f"a lab's port has queues 0 to {QUEUES - 1}"
            )
        reached = {maps["tc_to_queue"].values[tc] for tc in maps["dscp_to_tc"].values}
        wanted = sorted(index for index in {*buffers, *queues, *reached} if index < QUEUES)
        weighted = {
            self._config.schedulers[one.scheduler].kind for one in queues.values() if one.scheduler is not None
        } - {"STRICT"}
        if len(weighted) > 1:
            self._complain(
                ("QUEUE", next(iter(queues.values())).key),
                "a port with DWRR and WRR queues; a lab's port supports only one of the two",
            )
        default = "wrr" if weighted == {"WRR"} else "dwrr"
        return PortSettings(
            queues={
                index: self._queue(port, index, buffers.get(index), queues.get(index), default) for index in wanted
            },
            groups={index: self._group(binding) for index, binding in sorted(self._groups.get(port, {}).items())},
            maps=maps,
            pfc=self._pfc(port),
            slice=self._slice(port),
            trimming=self._trimming(port, [binding for index, binding in buffers.items() if index < QUEUES]),
        )

    def _slice(self, port: str) -> Block:
        """Return which slice of the chip's memory a port's frames are in, by its lanes."""
        slices, lane = self._config.chip.slices, self._config.ports[port].first_lane
        if slices is None:
            return {}
        if lane is None:
            self._note(f"PORT|{port}: no lanes, so the port is taken to be in the chip's first pipeline")
        into, out = slices.of(lane or 1)
        return {name: Figure(str(value), f"PORT|{port}|lanes") for name, value in (("in", into), ("out", out))}

    def _trims(self, port: str, buffer: BufferBinding | None) -> bool:
        """Return whether queues with a profile trim at a port; noted where only the profile says so."""
        profile = None if buffer is None or buffer.profile is None else self._config.profiles[buffer.profile]
        if profile is None or not profile.trims:
            return False
        if self._config.trimming is None:
            self._note(f"BUFFER_PROFILE|{profile.name}: packet_discard_action trim without SWITCH_TRIMMING: it drops")
        return self._config.trimming is not None and self._config.trimming.dscp_of(port) is not None

    def _trimming(self, port: str, buffers: Iterable[BufferBinding]) -> Block:
        """Return what becomes of packets that the port has no room for, if one of its queues trims."""
        trimming = self._config.trimming
        if trimming is None or not [buffer for buffer in buffers if self._trims(port, buffer)]:
            return {}
        origin = "SWITCH_TRIMMING|GLOBAL"
        block = {} if trimming.size is None else {"size": Figure(format_size(trimming.size), f"{origin}|size")}
        from_class = " from-tc" if trimming.dscp is None else ""
        queue = "dynamic" if trimming.queue is None else str(trimming.queue)
        return block | {
            "dscp": Figure(str(trimming.dscp_of(port)), f"{origin}|dscp_value{from_class}"),
            "queue": Figure(queue, f"{origin}|queue_index"),
        }

    def _queue(
        self, port: str, index: int, buffer: BufferBinding | None, binding: QueueBinding | None, weighted: str
    ) -> Block:
        block: dict[str, Figure | Block] = {}
        profile = None if buffer is None or buffer.profile is None else self._config.profiles[buffer.profile]
        if profile is None:
            self._note(f"queue {index}: no BUFFER_QUEUE, so only the ingress side limits it")
            block["pool"] = Figure("none", "no BUFFER_QUEUE")
            block["limit"] = Figure(format_size(max(1, self._accounts.memory_bytes())), "all of the memory")
        else:
            block.update(self._accounts.account(profile, "egress"))
            if self._trims(port, buffer):
                block["discard"] = Figure("trim", f"BUFFER_PROFILE|{profile.name}|packet_discard_action")
        if binding is None or binding.scheduler is None:
            self._note(f"queue {index}: no SCHEDULER, so its weight is 1 (SAI's default)")
            block["scheduler"], block["weight"] = Figure(weighted, "no SCHEDULER"), Figure("1", "no SCHEDULER")
        else:
            block.update(self._scheduler(self._config.schedulers[binding.scheduler], port))
        if binding is not None and binding.wred_profile is not None:
            block.update(self._wred(self._config.wred_profiles[binding.wred_profile]))
        return block

    def _scheduler(self, scheduler: Scheduler, port: str) -> dict[str, Figure]:
        origin = f"SCHEDULER|{scheduler.name}"
        figures = {"scheduler": Figure(scheduler.kind.lower(), f"{origin}|type")}
        if scheduler.kind != "STRICT":
            figures["weight"] = Figure(str(scheduler.weight), f"{origin}|weight")
        rates = {"cir": scheduler.cir, "pir": scheduler.pir}
        counts_packets = scheduler.meter_type == "packets" and any(rates.values())
        unit_bytes, unit = (self._full_frame(port), "packets/s of full frames") if counts_packets else (1, "bytes/s")
        if counts_packets:
            self._note_packets(scheduler, port, unit_bytes)
        for name, rate in rates.items():
            if rate:
                rate_bps = rate * unit_bytes * _BITS
                if rate_bps < _SLOWEST_BPS:
                    message = (
                        f"{rate} {unit} are {format_rate(rate_bps)}; a lab's queue is shaped to at least "
                        f"{format_rate(_SLOWEST_BPS)}"
                    )
                    self._complain(("SCHEDULER", scheduler.name, name), message)
                figures[name] = Figure(format_rate(rate_bps), f"{origin}|{name} {rate} {unit}")
        for name, rate, burst in (("cbs", scheduler.cir, scheduler.cbs), ("pbs", scheduler.pir, scheduler.pbs)):
            if rate and burst:
                figures[name] = Figure(
                    format_size(burst * unit_bytes),
                    f"{origin}|{name}" + (f" {burst} packets" if counts_packets else ""),
                )
        return figures

    def _full_frame(self, port: str) -> int:
        """Return the bytes of the line that a frame of the port's MTU takes: what the switch port's buckets count."""
        return port_mtu(self._config, self._config.ports[port]) + AROUND_MTU_BYTES

    def _note_packets(self, scheduler: Scheduler, port: str, frame_bytes: int) -> None:
        path = ("SCHEDULER", scheduler.name, "meter_type")
        mtu = port_mtu(self._config, self._config.ports[port])
        self._note(
            f"{self._config.place(*path)}: {'|'.join(path)}: packets: the lab's shaper counts bytes, so a packet is "
            f"taken to be a full frame of MTU {mtu}, {frame_bytes} B on the link; more small frames per second pass "
            "than on the switch"
        )

    def _wred(self, wred: WredProfile) -> Block:
        path = ("WRED_PROFILE", wred.name)
        if not wred.enabled:
            if wred.marks:
                self._note(
                    f"WRED_PROFILE|{wred.name}: ecn without wred_green_enable: nothing is marked or dropped early "
                    "(sonic-buildimage#4545)"
                )
            return {"wred": Figure("none", f"WRED_PROFILE|{wred.name}|wred_green_enable is not true")}
        for name, value in (("green_min_threshold", wred.min_threshold), ("green_max_threshold", wred.max_threshold)):
            if value is None:
                self._complain((*path, name), "missing, although wred_green_enable is true; write it in bytes")
        low, high = wred.min_threshold or 0, wred.max_threshold or 0
        if high < low:
            self._complain((*path, "green_max_threshold"), f"{high} is below green_min_threshold, {low}", str(high))
        if wred.min_threshold is not None and wred.max_threshold == 0:
            self._complain(
                (*path, "green_max_threshold"), "0 would mark or drop every frame; write a size in bytes", "0"
            )
        origin = f"WRED_PROFILE|{wred.name}"
        return {
            "wred": {
                "min": Figure(format_size(low), f"{origin}|green_min_threshold"),
                "max": Figure(format_size(high), f"{origin}|green_max_threshold"),
                "probability": Figure(f"{wred.drop_probability} %", f"{origin}|green_drop_probability"),
                "ecn": Figure("true" if wred.marks else "false", f"{origin}|ecn {wred.ecn}"),
            }
        }

    def _group(self, binding: BufferBinding) -> Block:
        if binding.profile is None:
            return self._computed_group(binding)
        profile = self._config.profiles[binding.profile]
        block = self._accounts.account(profile, "ingress")
        if profile.xoff:
            origin = f"BUFFER_PROFILE|{profile.name}"
            block["lossless"] = Figure("true", f"{origin}|xoff")
            block["headroom"] = Figure(format_size(profile.xoff), f"{origin}|xoff")
            block["xon"] = Figure(format_size(profile.xon), f"{origin}|xon")
            block["xon_offset"] = Figure(format_size(profile.xon_offset), f"{origin}|xon_offset")
        return block

    def _computed_group(self, binding: BufferBinding) -> Block:
        """Return a lossless group whose profile SONiC makes of speed, cable and MTU:
        the lab computes its headroom likewise."""
        lossless = computed_pool(self._config)
        if lossless is None:
            self._complain(
                ("BUFFER_PG", binding.key, "profile"),
                "NULL, but its pool is ambiguous; write a BUFFER_PROFILE",
                "NULL",
            )
            return {}
        defaults = self._config.lossless_defaults
        log = defaults.dynamic_th if defaults is not None and defaults.dynamic_th is not None else 0
        self._note("BUFFER_PG with profile NULL: SONiC computes the headroom of these groups, and so does the lab")
        return {
            "pool": Figure(self._accounts.pool_name(lossless, "ingress"), "BUFFER_PG|*|profile NULL"),
            "alpha": Figure(
                alpha_text(log),
                "DEFAULT_LOSSLESS_BUFFER_PARAMETER"
                + (f"|{defaults.name}|default_dynamic_th" if defaults else ": none"),
            ),
            "lossless": Figure("true", "NULL"),
            "headroom": Figure("auto", "NULL"),
        }

    def _maps(self, port: str) -> dict[str, Map]:
        maps = {LANGUAGE_MAPS[name]: self._map(port, name) for name in MAP_OF_FIELD}
        said = Classes(*(maps[name].values for name in _OF_CLASSES))
        found = in_eight(said, self._note, lambda name, message: self._complain_of_map(maps[name], message))
        return maps | {name: Map(getattr(found, name), maps[name].origin) for name in _OF_CLASSES}

    def _complain_of_map(self, one: Map, message: str) -> None:
        self._complain(tuple(one.origin.split("|")) if "|" in one.origin else ("PORT_QOS_MAP",), message)

    def _map(self, port: str, name: str) -> Map:
        """Return a map of a port.

        Without one everything is of class, queue and group 0 (SAI, saiport.h); priorities keep their numbers.
        """
        table = MAP_OF_FIELD[name]
        size = MAP_TABLES[table][0]
        bound = next(
            (qos.maps[name] for key in (port, _GLOBAL) if (qos := self._config.port_qos.get(key)) and name in qos.maps),
            None,
        )
        if bound is None:
            is_priority = name.startswith("pfc_")
            if not is_priority:
                self._note(f"no {name}: all frames are mapped to 0, as SONiC does without a {table}")
            return Map(tuple(range(size)) if is_priority else (0,) * size, f"no {name} in PORT_QOS_MAP")
        written = self._config.maps[table][bound]
        told = size if name == "dscp_to_tc_map" else QUEUES  # classes above 7 are there where a map names them only
        absent = [str(index) for index in range(told) if index not in written]
        if absent and not name.startswith("pfc_"):
            self._note(f"{table}|{bound}: {joined(absent)} missing, taken as 0")
        fill = range(size) if name.startswith("pfc_") else (0,) * size
        return Map(tuple(written.get(index, fill[index]) for index in range(size)), f"{table}|{bound}")

    def _pfc(self, port: str) -> Block:
        qos = self._config.port_qos.get(port) or self._config.port_qos.get(_GLOBAL)
        priorities = qos.pfc_enable if qos is not None else None
        if qos is None or not priorities:
            return {}
        origin = f"PORT_QOS_MAP|{qos.name if qos.name == _GLOBAL else '*'}|pfc_enable"
        return {
            "priorities": Figure(f"[{joined(map(str, priorities))}]", origin),
            "watchdog": self._watchdog(port, qos.pfcwd_sw_enable, priorities),
        }

    def _watchdog(self, port: str, watched: tuple[int, ...] | None, priorities: tuple[int, ...]) -> Figure | Block:
        watchdog = self._config.watchdogs.get(port)
        if watchdog is None or watched == ():
            return Figure(
                "none", "no PFC_WD of the port" if watchdog is None else "PORT_QOS_MAP|pfcwd_sw_enable is empty"
            )
        if watched is not None and watched != priorities:
            self._note("pfcwd_sw_enable differs from pfc_enable; a lab's watchdog watches all priorities of pfc_enable")
        if watchdog.action == "alert":
            self._note("PFC_WD with action alert only reports; the lab has no watchdog there")
            return Figure("none", "PFC_WD|*|action alert")
        if watchdog.detection_ms is None:
            self._complain(("PFC_WD", port, "detection_time"), "missing; write it in ms, such as 200")
        restoration = watchdog.restoration_ms
        if restoration is None:
            restoration = 2 * (watchdog.detection_ms or 0)
            self._note("PFC_WD without restoration_time: twice the detection_time, as `pfcwd start` writes it")
        return {
            "detection": Figure(format_duration((watchdog.detection_ms or 1) * _MS_NS), "PFC_WD|*|detection_time"),
            "restoration": Figure(format_duration(max(1, restoration) * _MS_NS), "PFC_WD|*|restoration_time"),
            "action": Figure(watchdog.action or "drop", "PFC_WD|*|action"),
        }

    def _note(self, sentence: str) -> None:
        self._notes[sentence] = None

    def _complain(self, path: tuple[str, ...], message: str, value: str = "") -> None:
        self._config.complain(self._problems, path, message, value)
