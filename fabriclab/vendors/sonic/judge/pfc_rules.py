"""Rules of PFC that ask for tables which a switch of a lab does not have: maps by name, the watchdog, cables; and which
queues and groups of a port are of a lossless class."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.formats.classes import QUEUES
from fabriclab.formats.finding import Severity
from fabriclab.resolve.switch.checks import classes_in_use
from fabriclab.resolve.switch.findings import CheckedPort
from fabriclab.resolve.switch.notes import number_ranges
from fabriclab.vendors.sonic.judge.bindings import GLOBAL, Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.read.qos_tables import MAP_OF_FIELD


def lossless_groups(port: CheckedPort) -> frozenset[int]:
    """Return the lossless priority groups."""
    return frozenset(group.index for group in port.port.groups if group.lossless is not None)


def lossless_queues(port: CheckedPort) -> frozenset[int]:
    """Return the queues that frames of some lossless group leave by."""
    maps, lossless = port.port.maps, lossless_groups(port)
    return frozenset(maps.tc_to_queue[tc] for tc in range(QUEUES) if maps.tc_to_group[tc] in lossless)


def groups_in_use(port: CheckedPort) -> frozenset[int]:
    """Return the priority groups that frames can get to."""
    maps = port.port.maps
    return frozenset(maps.tc_to_group[tc] for tc in classes_in_use(maps))


_POLL = "POLL_INTERVAL"
_PRESET = "sonic"
"""The hostname of a switch that nobody named (sonic-buildimage, src/sonic-config-engine)."""
_NEEDED_MAPS = {"dscp_to_tc_map": "class", "tc_to_queue_map": "queue", "tc_to_pg_map": "priority group"}


def maps_missing(bindings: Bindings, ports: tuple[CheckedPort, ...]) -> Iterator[SonicFinding]:
    """A port whose queues or PFC are configured has the maps that lead there."""
    for port in ports:
        qos = bindings.qos(port.name)
        has_pfc, has_queues = port.port.pfc is not None, len(bindings.queues.get(port.name, {})) > 1
        key = GLOBAL if qos is not None and qos.name == GLOBAL else port.name
        for field, what in _NEEDED_MAPS.items():
            is_needed = has_pfc or (has_queues and field != "tc_to_pg_map")
            if is_needed and bindings.map_holder(port.name, field) is None:
                bound = f"missing, although {'PFC is enabled' if has_pfc else 'several queues are configured'}"
                fate = f"all frames have {what} 0 (SAI's default)"
                path = ("PORT_QOS_MAP", key, field)
                yield finding("map-missing", path, None, bound, fate, f"name a {MAP_OF_FIELD[field]}", (port.name,))
        if has_pfc and bindings.map_holder(port.name, "pfc_to_queue_map") is None:
            bound, fate = "missing, although PFC is enabled", "the platform decides which queue a received pause stops"
            path = ("PORT_QOS_MAP", key, "pfc_to_queue_map")
            yield finding(
                "pfc-queue-map-missing", path, None, bound, fate, "name a MAP_PFC_PRIORITY_TO_QUEUE", (port.name,)
            )


def unused_groups(bindings: Bindings, ports: tuple[CheckedPort, ...]) -> Iterator[SonicFinding]:
    """Frames can get into a lossless group."""
    for port in ports:
        used = groups_in_use(port)
        for index in sorted(lossless_groups(port) - used):
            binding = bindings.groups[port.name][index]
            bound = (
                "lossless, but no DSCP is mapped to it: the DSCPs in use are mapped to priority groups "
                f"{number_ranges(used)}"
            )
            fate = "frames that should be lossless come in by a lossy group, and are dropped"
            remedy = "correct dscp_to_tc_map or tc_to_pg_map"
            yield finding(
                "lossless-group-unused", ("BUFFER_PG", binding.key), f"group {index}", bound, fate, remedy, (port.name,)
            )


def unwatched(bindings: Bindings, ports: tuple[CheckedPort, ...]) -> Iterator[SonicFinding]:
    """Every priority of PFC is watched."""
    is_template = _is_template(bindings)
    for port in ports:
        qos = bindings.qos(port.name)
        if port.port.pfc is None or qos is None:
            continue
        priorities = port.port.pfc.priorities
        path, value = ("PORT_QOS_MAP", qos.name, "pfc_enable"), ",".join(map(str, priorities))
        watched = qos.pfcwd_sw_enable
        if port.name not in bindings.config.watchdogs:
            bound, remedy = "without a PFC_WD for the port", "write PFC_WD (`pfcwd start`)"
            if not bindings.config.watchdogs:
                bound, remedy = "without any PFC_WD", "start it: `pfcwd start_default`"
                if is_template:
                    bound = f"{bound}, as in SONiC's templates"
        elif watched is not None and set(priorities) - set(watched):
            bound = f"not all in pfcwd_sw_enable, {','.join(map(str, watched)) or 'which is empty'}"
            remedy = "write the same priorities in both"
        else:
            continue
        fate = "one broken NIC that pauses for ever stops the queue, and all traffic in the fabric that waits for it"
        severity: Severity = "warning" if is_template and not bindings.config.watchdogs else "error"
        yield finding("pfc-without-watchdog", path, value, bound, fate, remedy, (port.name,), severity)


def _is_template(bindings: Bindings) -> bool:
    """Return whether a file is as SONiC makes it at first, before anybody started the watchdog: a preset, whose
    hostname is sonic, or a minigraph's, which says that the watchdog is to be started."""
    device = entries(bindings.config, "DEVICE_METADATA").get("localhost", {})
    return device.get("hostname", _PRESET) == _PRESET or "default_pfcwd_status" in device


def watchdog_times(bindings: Bindings) -> Iterator[SonicFinding]:
    """A watchdog detects in no less than the time between two polls."""
    written = entries(bindings.config, "PFC_WD").get("GLOBAL", {}).get(_POLL)
    if not isinstance(written, str) or not written.isdigit():
        return
    for watchdog in bindings.config.watchdogs.values():
        for name, value in (("detection_time", watchdog.detection_ms), ("restoration_time", watchdog.restoration_ms)):
            if value is not None and value < int(written):
                bound = f"below PFC_WD|GLOBAL|{_POLL}, {written} ms"
                path = ("PFC_WD", watchdog.port, name)
                fate = (
                    "the YANG models refuse it, because the watchdog cannot detect anything shorter than its poll "
                    "interval"
                )
                yield finding(
                    "watchdog-faster-than-poll",
                    path,
                    f"{value} ms",
                    bound,
                    fate,
                    "write at least that interval, or a shorter POLL_INTERVAL",
                    (watchdog.port,),
                )


def cables(bindings: Bindings, ports: tuple[CheckedPort, ...]) -> Iterator[SonicFinding]:
    """A port with lossless groups says how long its cable is."""
    for port in ports:
        if lossless_groups(port) and not bindings.config.cable_metres.get(port.name):
            is_zero = port.name in bindings.config.cable_metres
            bound = (
                "a cable of 0 m on a port with a lossless group"
                if is_zero
                else "no cable length for a port with a lossless group"
            )
            fate = "SONiC makes no pg_lossless profile for the port; its headroom was checked for a cable of 0 m"
            yield finding(
                "cable-length-missing",
                ("CABLE_LENGTH", "AZURE", port.name),
                None,
                bound,
                fate,
                "write it, such as 5m",
                (port.name,),
            )
