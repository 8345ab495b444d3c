"""The tables of a user's config_db.json that `yang_data` can put to SONiC's YANG models: those of QoS,
and what they refer to."""

from __future__ import annotations

import json
import re

from fabriclab.vendors.sonic.export.tables import ConfigTables, FieldValue

TABLES = (
    *(
        "PORT",
        "CABLE_LENGTH",
        "BUFFER_POOL",
        "BUFFER_PROFILE",
        "BUFFER_PG",
        "BUFFER_QUEUE",
        "QUEUE",
        "SCHEDULER",
        "WRED_PROFILE",
    ),
    *(
        "DSCP_TO_TC_MAP",
        "TC_TO_QUEUE_MAP",
        "TC_TO_PRIORITY_GROUP_MAP",
        "MAP_PFC_PRIORITY_TO_QUEUE",
        "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    ),
    *("PORT_QOS_MAP", "PFC_WD", "DEVICE_METADATA", "SWITCH_TRIMMING"),
)
_MAPS = ("CABLE_LENGTH", *(table for table in TABLES if "_TO_" in table))
"""Their fields are keys of a list, so they may be called anything."""
_LEAF = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_KEY_WORDS = {"BUFFER_PG": 2, "BUFFER_QUEUE": 2, "QUEUE": 2}


def qos_tables(data: bytes) -> tuple[ConfigTables, tuple[str, ...]]:
    """Return the tables of a file that is a JSON object, and what no YANG model could have an answer to."""
    tables: ConfigTables = {}
    problems: list[str] = []
    root = json.loads(data)
    for name in TABLES:
        for key, fields in _entries(root.get(name)).items():
            if len(key.split("|")) != _KEY_WORDS.get(name, 1):
                problems.append(f"{name}|{key}: no list of the YANG model has such a key")
                continue
            bad = [field for field in fields if name not in _MAPS and _LEAF.fullmatch(field) is None]
            problems += [f"{name}|{key}|{field}: no leaf of a YANG model can be called so" for field in bad]
            tables.setdefault(name, {})[key] = {field: value for field, value in fields.items() if field not in bad}
    return tables, tuple(problems)


def _entries(table: object) -> dict[str, dict[str, FieldValue]]:
    """Return a table's entries; what is not text or list of texts is the reader's to tell."""
    entries = table.items() if isinstance(table, dict) else ()
    return {
        str(key): {str(name): _value(value) for name, value in fields.items()}
        for key, fields in entries
        if isinstance(fields, dict)
    }


def _value(value: object) -> FieldValue:
    return [str(item) for item in value] if isinstance(value, list) else str(value)
