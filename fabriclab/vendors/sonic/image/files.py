"""What a switch of docker-sonic-vs is given before it starts: its config_db.json, cut down to the ports that have
links, and the image's two lists of ports, written for these links."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fabriclab.engine.artefacts import EngineError

Tables = Mapping[str, Any]
"""Of a config_db.json: an entry's fields by table and key."""

_ETHERNET = re.compile(r"Ethernet([0-9]+)")
_PORTS_APART = 4
_LANE_COUNTS = (1, 2, 4, 8)
"""That a port may have (sonic-sairedis, vslib/LaneMapFileParser.cpp)."""


class SonicError(EngineError):
    """A SONiC node cannot be, or is not, what its file says; the text names the node and what differs."""


def link_of_port(port: str) -> str | None:
    """Return Containerlab's interface of a port, `ethM` of `EthernetN`; None for any other name."""
    match = _ETHERNET.fullmatch(port)
    return None if match is None or int(match[1]) % _PORTS_APART else f"eth{int(match[1]) // _PORTS_APART + 1}"


def stored_text(value: object) -> str:
    """Return a field of a config_db.json as CONFIG_DB holds it, where all is text: 40000 is `40000`.

    Source: sonic-swss-common, common/configdb.h, `typed_to_raw`.
    """
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def tables_for_image(tables: Tables, ports: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the tables without the ports that have no link here (`ports` have one), and the names of these.

    Where vslib finds no host interface behind a port, its TAP is up and leads nowhere, with an address whose network
    BGP announces. start.sh does the same with its own list: what has no `ethN` is left out. Numbers become the texts
    that CONFIG_DB holds, for sonic-cfggen cannot join a list of numbers.
    """
    out = frozenset(name for name in _entries(tables.get("PORT")) if name not in ports)
    cut: dict[str, Any] = {}
    for table, entries in tables.items():
        if not isinstance(entries, Mapping):
            continue
        cut[table] = {}
        for key, fields in entries.items():
            kept = _key_without(str(key), out)
            if kept is not None:
                cut[table][kept] = _fields_without(fields, out)
    return cut, tuple(sorted(out, key=_number))


def _entries(table: object) -> Mapping[str, Any]:
    return table if isinstance(table, Mapping) else {}


def _number(port: str) -> tuple[int, str]:
    match = _ETHERNET.fullmatch(port)
    return (int(match[1]) if match else 0, port)


def _key_without(key: str, out: frozenset[str]) -> str | None:
    """Return a key (`Ethernet0,Ethernet4|3-4`) without the ports `out`; None where nothing is left of it."""
    parts = []
    for part in key.split("|"):
        names = part.split(",")
        # A subinterface, Ethernet0.100, goes with its port.
        kept = [name for name in names if name.partition(".")[0] not in out]
        if not kept:
            return None
        parts.append(",".join(kept))
    return "|".join(parts)


def _fields_without(fields: object, out: frozenset[str]) -> object:
    if not isinstance(fields, Mapping):
        return fields
    return {name: _value_without(value, out) for name, value in fields.items() if name not in out}


def _value_without(value: object, out: frozenset[str]) -> object:
    if isinstance(value, list):
        return [str(item) for item in value if item not in out]
    text = str(value)
    if "," not in text:
        return text
    return ",".join(part for part in text.split(",") if part not in out)


def port_lists(node: str, tables: Tables, ports: Sequence[str]) -> dict[str, bytes]:
    """Return `lanemap.ini` and `port_config.ini` of a switch's links, by name, as the hwsku's directory has them.

    vslib finds a port's host interface by its lanes (SwitchStateBaseHostif.cpp, `vs_get_veth_name`), which every hwsku
    numbers in its own way: the lane map says which `ethM` the lanes of an `EthernetN` of this file are.
    Raises SonicError for a port without lanes, or with ones that vslib does not take.
    """
    lane_map, config = [], ["# name lanes alias"]
    owner: dict[str, str] = {}
    for port in ports:
        link = link_of_port(port)
        fields = _entries(tables.get("PORT")).get(port)
        if link is None or not isinstance(fields, Mapping):
            continue
        lanes = stored_text(fields.get("lanes", "")).replace(" ", "").split(",")
        where = f"{node}: PORT|{port}|lanes"
        if not all(lane.isdecimal() for lane in lanes):
            raise SonicError(f"{where} is {fields.get('lanes')!r}; SONiC finds the port's link by it: write 1,2,3,4")
        if len(lanes) not in _LANE_COUNTS:
            raise SonicError(f"{where}: {len(lanes)} lanes; docker-sonic-vs takes 1, 2, 4 or 8")
        for lane in lanes:
            if lane in owner:
                raise SonicError(f"{where}: lane {lane} is also a lane of {owner[lane]}; each port needs its own")
            owner[lane] = port
        lane_map.append(f"{link}:{','.join(lanes)}")
        # Blanks around the lanes, for start.sh looks for them like that; no more columns, in which it would find them.
        config.append(f"{port} {','.join(lanes)} {link}")
    return {
        "lanemap.ini": "".join(f"{line}\n" for line in lane_map).encode(),
        "port_config.ini": "".join(f"{line}\n" for line in config).encode(),
    }
