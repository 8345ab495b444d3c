"""The maps, PORT_QOS_MAP and PFC_WD."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats.plan.switch import IDENTITY, Pfc, QosMaps, SwitchPort, Watchdog
from fabriclab.units import format_duration
from fabriclab.vendors.sonic.export.tables import Names, Tables

MAP_NAME = "AZURE"
"""What SONiC's own templates call their maps."""
_MS_NS = 10**6
_DETECTION_MS = (100, 5000)
_RESTORATION_MS = (100, 60_000)
_POLL_MS = 200
"""SONiC's, for up to 32 ports; neither time may be less."""
_LONGEST_QUANTA = 65_535


def write_maps(ports: Mapping[str, SwitchPort], tables: Tables) -> None:
    """Write all these tables; `ports` have SONiC's names."""
    names: dict[str, Names[tuple[int, ...]]] = {}
    for name, port in ports.items():
        fields: dict[str, str] = {}
        for table, field, values in _maps(port.maps):
            if table == "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP" and values == IDENTITY:
                continue  # what holds without it; only some platforms take the field
            map_name, is_new = names.setdefault(table, Names()).of(values, MAP_NAME)
            if is_new:
                tables.put(table, map_name, {str(index): str(value) for index, value in enumerate(values)})
            fields[field] = map_name
        if port.pfc is not None:
            fields["pfc_enable"] = ",".join(map(str, port.pfc.priorities))
            fields["pfcwd_sw_enable"] = fields["pfc_enable"] if _write_watchdog(name, port.pfc, tables) else ""
            _leave_unsaid(port.pfc, tables)
        tables.put("PORT_QOS_MAP", name, fields)


def _maps(maps: QosMaps) -> list[tuple[str, str, tuple[int, ...]]]:
    return [
        ("DSCP_TO_TC_MAP", "dscp_to_tc_map", maps.dscp_to_tc),
        ("TC_TO_QUEUE_MAP", "tc_to_queue_map", maps.tc_to_queue),
        ("TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg_map", maps.tc_to_group),
        ("MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue_map", maps.priority_to_queue),
        ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "pfc_to_pg_map", maps.priority_to_group),
    ]


def _write_watchdog(name: str, pfc: Pfc, tables: Tables) -> bool:
    """Write the watchdog of a port; return whether there is one that SONiC can have."""
    if pfc.watchdog is None:
        return False
    times = _milliseconds(pfc.watchdog)
    if times is None:
        said = f"{format_duration(pfc.watchdog.detection_ns)} and {format_duration(pfc.watchdog.restoration_ns)}"
        tables.leave_unsaid(
            "watchdog",
            f"{said}: SONiC takes whole ms, detection from 100 to 5000 and restoration from 100 to 60000; left out",
        )
        return False
    detection, restoration = times
    known = tables.tables.get("PFC_WD", {}).get("GLOBAL", {}).get("POLL_INTERVAL", str(_POLL_MS))
    tables.put("PFC_WD", "GLOBAL", {"POLL_INTERVAL": str(min(int(str(known)), detection, restoration))})
    fields = {"action": pfc.watchdog.action, "detection_time": str(detection), "restoration_time": str(restoration)}
    tables.put("PFC_WD", name, fields)
    return True


def _milliseconds(watchdog: Watchdog) -> tuple[int, int] | None:
    detection, rest = divmod(watchdog.detection_ns, _MS_NS)
    restoration, other_rest = divmod(watchdog.restoration_ns, _MS_NS)
    fits = _DETECTION_MS[0] <= detection <= _DETECTION_MS[1] and _RESTORATION_MS[0] <= restoration <= _RESTORATION_MS[1]
    return (detection, restoration) if fits and not rest and not other_rest else None


def _leave_unsaid(pfc: Pfc, tables: Tables) -> None:
    if pfc.quanta != _LONGEST_QUANTA:
        tables.leave_unsaid("PFC", f"pauses of {pfc.quanta} quanta; the platform has its own")
    if pfc.reaction_ns:
        tables.leave_unsaid("PFC", f"a reaction time of {format_duration(pfc.reaction_ns)}")
