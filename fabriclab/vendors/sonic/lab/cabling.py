"""Cables as people have them: a plan (CSV), NetBox's or Nautobot's cables (CSV, JSON), what switches heard by LLDP."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from fabriclab.keys.wording import listed
from fabriclab.lab.reading.files import UnreadableError, read_named_file, text_of
from fabriclab.lab.reading.problems import LabError, Mistake, Place
from fabriclab.vendors.sonic.read.lldp_text import LldpText, parse_lldp

LARGEST_BYTES = 64 * 2**20
"""A cable has about 100 bytes in CSV, and 2 KB in NetBox's JSON."""
_COLUMNS = (
    ("device_a", "port_a", "device_b", "port_b"),
    ("side_a_device", "side_a_name", "side_b_device", "side_b_name"),
    ("device_a", "termination_a", "device_b", "termination_b"),
    ("side_a", "termination_a", "side_b", "termination_b"),
)
"""Of a plan; of NetBox's import; of the table that NetBox exports, today and until 3.2, as Nautobot does."""
_TYPES = ("side_a_type", "side_b_type")
_INTERFACES = ("", "dcim.interface", "interface")
_LAID = ("", "connected", "active")


class CableEnd(NamedTuple):
    """An end of a cable, as it is written."""

    device: str
    ports: tuple[str, ...]
    """What the port may be called."""


@dataclass(frozen=True)
class Cable:
    """A cable, or what one end of it says."""

    a: CableEnd
    b: CableEnd
    place: Place
    said_by: str
    """What says it: `cable`, `LLDP`; with its number where the file's lines tell nothing."""

    @property
    def source(self) -> str:
        """What says so, and where: how a link's comment names it."""
        return f"{self.said_by} of {Place(Path(self.place.file).name, self.place.line)}"


def read_cabling(paths: Sequence[Path]) -> tuple[Cable, ...]:
    """Return the cables of several files, each with its line. Raises LabError."""
    return tuple(cable for path in paths for cable in _read(path))


def heard_cables(text: LldpText, device: str, file: str) -> Iterator[Cable]:
    """Yield what a switch heard by LLDP."""
    for one in text.heard:
        near, far = CableEnd(device, (one.port,)), CableEnd(one.device, one.far_ports)
        yield Cable(near, far, Place(file, one.line), "LLDP")


def _read(path: Path) -> Iterator[Cable]:
    try:
        text = text_of(read_named_file(path, LARGEST_BYTES)).removeprefix("\ufeff")
    except UnreadableError as error:
        raise _error(path, None, f"{error}; give a cabling plan, NetBox's cables, or `show lldp table`") from error
    except UnicodeDecodeError as error:
        raise _error(path, None, "is not text (UTF-8)") from error
    if text.lstrip()[:1] in ("{", "["):
        return _of_json(text, path)
    lldp = parse_lldp(text)
    if lldp is not None:
        return heard_cables(lldp, lldp.hostname or path.name.partition(".")[0], str(path))
    return _of_csv(text, path)


def _of_csv(text: str, path: Path) -> Iterator[Cable]:
    first = text.partition("\n")[0]
    delimiter = max((",", ";", "\t"), key=first.count)
    rows = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        header = [cell.strip().lower().replace(" ", "_") for cell in next(rows, [])]
        names = next((names for names in _COLUMNS if set(names) <= set(header)), None)
        if names is None:
            wanted = " or ".join(",".join(names) for names in _COLUMNS)
            raise _error(path, 1, f"has the columns {listed(header) or 'none'}; a table of cables has {wanted}")
        for cells in rows:
            row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
            if any(row.values()):
                yield from _of_row(row, names, path, rows.line_num)
    except csv.Error as error:
        raise _error(path, rows.line_num, f"is not CSV ({error})") from error


def _of_row(row: Mapping[str, str], names: Sequence[str], path: Path, line: int) -> Iterator[Cable]:
    """Yield the cable of a row; none of a row for something else than ports, and of a cable that is not laid."""
    types = [row.get(name, "").lower() for name in _TYPES]
    if any(kind not in _INTERFACES for kind in types) or row.get("status", "").lower() not in _LAID:
        return
    device_a, port_a, device_b, port_b = (row.get(name, "") for name in names)
    if not (device_a and port_a and device_b and port_b):
        missing = listed(name for name in names if not row.get(name))
        raise _error(path, line, f"{missing} missing; a cable has two devices and two ports")
    yield Cable(CableEnd(device_a, (port_a,)), CableEnd(device_b, (port_b,)), Place(str(path), line), "cable")


def _of_json(text: str, path: Path) -> Iterator[Cable]:
    """Yield the cables of NetBox's API, /api/dcim/cables/ (or of Nautobot's, with depth=1)."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _error(path, getattr(error, "lineno", None), "is not JSON") from error
    cables = value.get("results") if isinstance(value, dict) else value
    if not isinstance(cables, list):
        raise _error(path, 1, "is not a list of cables; give the answer of NetBox's /api/dcim/cables/")
    for number, cable in enumerate(cables, start=1):
        if isinstance(cable, dict) and _status(cable.get("status")) in _LAID:
            yield from _of_object(cable, number, path)


def _status(value: Any) -> str:
    value = value.get("value") if isinstance(value, dict) and "value" in value else value
    value = value.get("name") if isinstance(value, dict) else value
    return value.lower() if isinstance(value, str) else ""


def _of_object(cable: Mapping[str, Any], number: int, path: Path) -> Iterator[Cable]:
    ends = [_terminations(cable, side) for side in ("a", "b")]
    if any(end is None for one in ends for end in one):
        message = f"cable {number} names no device and port at an end; export with the objects of the terminations"
        raise _error(path, None, message)
    if len(ends[0]) != len(ends[1]):
        counts = f"{len(ends[0])} and {len(ends[1])}"
        raise _error(path, None, f"cable {number} has {counts} ports at its ends; write a cable for each pair of ports")
    for a, b in zip(*ends, strict=True):
        if a is not None and b is not None:
            yield Cable(a, b, Place(str(path), None), f"cable {number}")


def _terminations(cable: Mapping[str, Any], side: str) -> list[CableEnd | None]:
    """Return the ends at one side; None in the place of one that is not named. Ends that are no interfaces are left
    out."""
    every = cable.get(f"{side}_terminations")
    if not isinstance(every, list):
        kind, said = cable.get(f"termination_{side}_type", ""), cable.get(f"termination_{side}")
        every = [{"object_type": kind, "object": said}]
    kinds = [one.get("object_type") if isinstance(one, dict) else None for one in every]
    return [
        _end(one.get("object")) if isinstance(one, dict) else None
        for one, kind in zip(every, kinds, strict=True)
        if kind is None or kind in _INTERFACES
    ]


def _end(termination: Any) -> CableEnd | None:
    device = termination.get("device") if isinstance(termination, dict) else None
    name = device.get("name") or device.get("display") if isinstance(device, dict) else None
    port = termination.get("name") if isinstance(termination, dict) else None
    return CableEnd(name, (port,)) if isinstance(name, str) and isinstance(port, str) and name and port else None


def _error(path: Path, line: int | None, message: str) -> LabError:
    return LabError([Mistake(str(path), line, "", "", message)])
