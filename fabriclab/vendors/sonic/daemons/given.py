"""The files that SONiC's daemons are given: CONFIG_DB for redis, and what vslib and redis themselves read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
_SOCKET = "/var/run/redis/redis.sock"
_DATABASES = {
    **{"APPL_DB": 0, "ASIC_DB": 1, "COUNTERS_DB": 2, "LOGLEVEL_DB": 3, "CONFIG_DB": 4, "FLEX_COUNTER_DB": 5},
    **{"STATE_DB": 6, "SNMP_OVERLAY_DB": 7, "RESTAPI_DB": 8, "GB_ASIC_DB": 9, "GB_COUNTERS_DB": 10},
    **{"GB_FLEX_COUNTER_DB": 11, "CHASSIS_APP_DB": 12, "CHASSIS_STATE_DB": 13, "APPL_STATE_DB": 14},
    **{"DPU_APPL_DB": 15, "DPU_APPL_STATE_DB": 16, "DPU_STATE_DB": 17, "DPU_COUNTERS_DB": 18, "EVENT_DB": 19},
}
"""Numbers of redis' databases (sonic-buildimage, dockers/docker-database/database_config.json.j2)."""
_BARS = frozenset({"CONFIG_DB", "STATE_DB", "CHASSIS_STATE_DB", "DPU_STATE_DB"})
"""Those whose keys are joined by bars, not by colons."""
_SAI_PROFILE = """\
SAI_VS_SWITCH_TYPE=SAI_VS_SWITCH_TYPE_BCM56850
SAI_VS_USE_TAP_DEVICE=false
SAI_VS_HOSTIF_USE_TAP_DEVICE=false
SAI_VS_INTERFACE_LANE_MAP_FILE=/usr/share/sonic/hwsku/lanemap.ini
"""
_PATIENCE, _REST = 40, 5
"""Half seconds at rest: that is stuck before all ports are there (20 s), and the end after it (2.5 s)."""
_PROGRAMS = ("orchagent", "buffermgrd", "portsyncd")


def files(tables: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the daemons' files by name. `tables`: a config_db.json as its JSON has it."""
    ports: Mapping[str, Any] = tables.get("PORT", {})
    lanes = [str(port.get("lanes", "")) for port in ports.values()]
    return {
        "inside.sh": (_HERE / "inside.sh").read_bytes(),
        "dump.lua": (_HERE / "dump.lua").read_bytes(),
        "numbers.sh": f"PORTS={len(ports)} PATIENCE={_PATIENCE} REST={_REST}\n".encode(),
        "config.resp": b"".join(_commands(tables)),
        "database_config.json": json.dumps(_database_config()).encode(),
        "lanemap.ini": "".join(f"eth{n}:{one}\n" for n, one in enumerate(lanes, 1)).encode(),
        "sai.profile": _SAI_PROFILE.encode(),
        # Profiles by speed and cable that the platform would have: none, so that all are the file's own.
        "pg_profile_lookup.ini": b"",
    }


def _commands(tables: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield what writes CONFIG_DB, in redis' protocol: lists have an @ after their name, as in SONiC."""
    for table, entries in tables.items():
        for key, fields in entries.items() if isinstance(entries, Mapping) else ():
            if isinstance(fields, Mapping):
                yield _command("HSET", f"{table}|{key}", *_words(fields))
    for program in _PROGRAMS:
        yield _command("HSET", f"LOGGER|{program}", "LOGLEVEL", "ERROR", "LOGOUTPUT", "STDERR")
    yield _command("SET", "CONFIG_DB_INITIALIZED", "1")


def _words(fields: Mapping[str, Any]) -> list[str]:
    words: list[str] = []
    for name, value in fields.items():
        words += [f"{name}@", ",".join(map(str, value))] if isinstance(value, list) else [name, str(value)]
    return words or ["NULL", "NULL"]


def _command(*words: str) -> bytes:
    encoded = [word.encode() for word in words]
    return b"*%d\r\n" % len(encoded) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in encoded)


def _database_config() -> dict[str, Any]:
    return {
        "INSTANCES": {"redis": {"hostname": "127.0.0.1", "port": 6379, "unix_socket_path": _SOCKET}},
        "DATABASES": {
            name: {"id": number, "separator": "|" if name in _BARS else ":", "instance": "redis"}
            for name, number in _DATABASES.items()
        },
        "VERSION": "1.0",
    }
