"""Reading SWITCH_TRIMMING (sonic-trimming.yang): what becomes of packets that there is no room for."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fabriclab.formats import ranges
from fabriclab.formats.classes import QUEUES
from fabriclab.lab.reading.dscp import LARGEST_DSCP
from fabriclab.vendors.sonic.read.config_db import SwitchTrimming
from fabriclab.vendors.sonic.read.entries import Entry, Fields, Tables, port_list

FROM_TC, DYNAMIC = "from-tc", "dynamic"
_LARGEST_TC = 15
_GLOBAL = "global"


def read_trimming(tables: Tables, ports: Collection[str]) -> SwitchTrimming | None:
    """Return what SWITCH_TRIMMING|GLOBAL says; None where it is not written."""
    entry = next((one for one in tables.entries("SWITCH_TRIMMING") if one.key == "GLOBAL"), None)
    return None if entry is None else _read(Fields(tables, entry), ports)


def _read(fields: Fields, ports: Collection[str]) -> SwitchTrimming:
    size = fields.number("size", *ranges.TRIMMED_BYTES, "bytes")
    said = fields.text("dscp_value")
    if said is None:
        fields.complain("dscp_value", "missing; write the DSCP of trimmed packets, such as 48, or from-tc")
    from_class = _classes_dscps(fields, ports) if said == FROM_TC else {}
    dscp = None if said in (None, FROM_TC) else fields.number("dscp_value", 0, LARGEST_DSCP)
    queue = None if fields.text("queue_index") == DYNAMIC else fields.number("queue_index", 0, QUEUES - 1)
    return SwitchTrimming(size, dscp, from_class, queue)


def _classes_dscps(fields: Fields, ports: Collection[str]) -> dict[str, int]:
    """Return the DSCP of each port: what its TC_TO_DSCP_MAP makes of tc_value."""
    tables = fields.tables
    tc = fields.number("tc_value", 0, _LARGEST_TC)
    if tc is None:
        if "tc_value" not in fields:
            fields.complain("tc_value", "missing, although dscp_value is from-tc; write the traffic class, such as 5")
        return {}
    tables.ask("PORT_QOS_MAP", "tc_to_dscp_map")
    maps = {entry.key: entry for entry in tables.entries("TC_TO_DSCP_MAP")}
    found: dict[str, int] = {}
    for entry in tables.entries("PORT_QOS_MAP"):
        bound = Fields(tables, entry)
        name = bound.reference("tc_to_dscp_map", "TC_TO_DSCP_MAP", maps)
        dscp = None if name is None else _dscp(tables, maps[name], tc)
        names = list(ports) if entry.key == _GLOBAL else port_list(entry.key, ports)[0]
        own = {port: dscp for port in names if dscp is not None}
        found = own | found if entry.key == _GLOBAL else found | own
    _complain_of_none(fields, found, ports, tc)
    return found


def _dscp(tables: Tables, entry: Entry, tc: int) -> int | None:
    fields = Fields(tables, entry)
    if str(tc) not in fields:
        fields.complain(str(tc), f"missing, although trimmed packets have class {tc}; write its DSCP")
        return None
    return fields.number(str(tc), 0, LARGEST_DSCP)


def _complain_of_none(fields: Fields, found: Mapping[str, int], ports: Collection[str], tc: int) -> None:
    lacking = [port for port in ports if port not in found]
    if lacking and not fields.tables.problems:
        fields.tables.note(
            f"SWITCH_TRIMMING: {', '.join(lacking)} without a tc_to_dscp_map that has class {tc}: nothing is trimmed "
            "there"
        )
