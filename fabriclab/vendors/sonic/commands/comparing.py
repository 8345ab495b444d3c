"""What `fabriclab sonic oracle` does: tells how orchagent's objects compare with a file's."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from fabriclab.cli.host.failure import FAILED, OK
from fabriclab.vendors.sonic.oracle import Comparison, Difference, compared, read_asic_db
from fabriclab.vendors.sonic.oracle.facts import Record
from fabriclab.vendors.sonic.read import read_bytes, read_config_db

FORMAT = "fabriclab-sonic-oracle-1"


def compare(file: Path, asic_db: Path, output: str) -> int:
    """Compare two files, tell of it, and return the exit status: FAILED where something differs."""
    found = compared(read_config_db(file), read_asic_db(read_bytes(asic_db), str(asic_db)))
    sys.stdout.write(_json(file, asic_db, found) if output == "json" else _text(file, asic_db, found))
    return FAILED if found.differences else OK


def _text(file: Path, asic_db: Path, found: Comparison) -> str:
    return "".join(f"{line}\n" for line in _lines(file, asic_db, found))


def _lines(file: Path, asic_db: Path, found: Comparison) -> Iterator[str]:
    yield f"{file}, {asic_db}: {sum(found.equal.values())} of {sum(found.compared.values())} objects are equal"
    for kind, count in found.compared.items():
        yield f"  {kind:16}  {found.equal[kind]:5} of {count}"
    for one in found.differences:
        yield from _difference(one)


def _difference(one: Difference) -> Iterator[str]:
    times = f", {one.times} times" if one.times > 1 else ""
    if one.in_file is None:
        yield f"{one.kind}{times}: only in ASIC_DB: {_said(one.in_asic)}"
        if one.kind in ("profile", "group's profile"):
            yield "  buffermgrd makes it where a port has PFC, a cable, and no lossless group in the file"
    elif one.in_asic is None:
        yield f"{one.kind}{times}: not in ASIC_DB: {_said(one.in_file)}"
    else:
        yield f"{one.kind}{times}: {_said(tuple(set(one.in_file) & set(one.in_asic)))}"
        yield f"  file:    {_said(tuple(set(one.in_file) - set(one.in_asic)))}"
        yield f"  ASIC_DB: {_said(tuple(set(one.in_asic) - set(one.in_file)))}"


def _said(record: Record | None) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(record or ())) or "nothing more"


def _json(file: Path, asic_db: Path, found: Comparison) -> str:
    document = {
        "format": FORMAT,
        "file": str(file),
        "asic_db": str(asic_db),
        "compared": found.compared,
        "equal": found.equal,
        "differences": [
            {
                "kind": one.kind,
                "times": one.times,
                "file": None if one.in_file is None else dict(one.in_file),
                "asic_db": None if one.in_asic is None else dict(one.in_asic),
            }
            for one in found.differences
        ],
    }
    return json.dumps(document, indent=2) + "\n"
