"""What `fabriclab sonic oracle` does: tells how orchagent's objects compare with a file's."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriclab.cli.host.failure import FAILED, OK, BadInputError, say
from fabriclab.cli.host.waiting import waiting
from fabriclab.files import write_files
from fabriclab.vendors.sonic.daemons import DaemonsError, asic_db_of
from fabriclab.vendors.sonic.oracle import Comparison, Difference, compared, read_asic_db
from fabriclab.vendors.sonic.oracle.facts import Record
from fabriclab.vendors.sonic.read import read_bytes, read_config_db

FORMAT = "fabriclab-sonic-oracle-1"


@dataclass(frozen=True)
class Source:
    """Where ASIC_DB is from, as written: a file, or SONiC's daemons, whose ASIC_DB may be kept."""

    asic_db: Path | None
    daemons: Path | None
    save: Path | None


@dataclass(frozen=True)
class _Compared:
    file: Path
    asic_db: str
    """Where it is from, in words."""
    found: Comparison


def compare(files: Sequence[Path], source: Source, output: str) -> int:
    """Compare each file with its ASIC_DB, tell of it, and return the exit status: FAILED where something differs.

    Text comes file by file; a file that SONiC's daemons do not take is told, and the others go on.
    """
    _check(files, source)
    done, status = [], OK
    for file in files:
        try:
            one = _compared(file, source)
        except DaemonsError as error:
            if len(files) == 1:
                raise
            say(f"{file}: {error}")
            status = FAILED
            continue
        done.append(one)
        if output == "text":
            sys.stdout.write("".join(f"{line}\n" for line in _lines(one)))
    if output == "json":
        sys.stdout.write(json.dumps({"format": FORMAT, "files": [_document(one) for one in done]}, indent=2) + "\n")
    return FAILED if any(one.found.differences for one in done) else status


def _check(files: Sequence[Path], source: Source) -> None:
    if (source.asic_db is None) == (source.daemons is None):
        raise BadInputError("the source of ASIC_DB is missing; write either --asic-db FILE or --daemons ROOT")
    if source.asic_db is not None and len(files) > 1:
        raise BadInputError(
            f"--asic-db: the dump is of one switch, but {len(files)} files are given; give only its configuration"
        )
    if source.save is not None and source.daemons is None:
        raise BadInputError("--save keeps the dumps of --daemons; it needs --daemons")


def _compared(file: Path, source: Source) -> _Compared:
    config = read_config_db(file)
    if source.asic_db is not None:
        database = read_asic_db(read_bytes(source.asic_db), str(source.asic_db))
        return _Compared(file, str(source.asic_db), compared(config, database))
    assert source.daemons is not None
    with waiting(f"{file}: SONiC's daemons start") as show:
        tables = json.loads(read_bytes(file))
        data = asic_db_of(tables, source.daemons, lambda count: show(f"{file}: {count} objects in ASIC_DB"))
    origin = f"orchagent of {source.daemons}"
    if source.save is not None:
        path = source.save / f"{file.stem}.asic.json"
        write_files({path: data}, force=True)
        origin = str(path)
    return _Compared(file, origin, compared(config, read_asic_db(data, origin)))


def _lines(one: _Compared) -> Iterator[str]:
    found = one.found
    yield f"{one.file}, {one.asic_db}: {sum(found.equal.values())} of {sum(found.compared.values())} objects are equal"
    for kind, count in found.compared.items():
        yield f"  {kind:16}  {found.equal[kind]:5} of {count}"
    for difference in found.differences:
        yield from _difference(difference)


def _difference(one: Difference) -> Iterator[str]:
    times = f", {one.times} times" if one.times > 1 else ""
    if one.in_file is None:
        yield f"{one.kind}{times}: only in ASIC_DB: {_said(one.in_asic)}"
        if one.kind in ("profile", "group's profile"):
            yield "  buffermgrd makes it for a port with PFC and a cable, but without a lossless group in the file"
    elif one.in_asic is None:
        yield f"{one.kind}{times}: not in ASIC_DB: {_said(one.in_file)}"
    else:
        yield f"{one.kind}{times}: {_said(tuple(set(one.in_file) & set(one.in_asic)))}"
        yield f"  file:    {_said(tuple(set(one.in_file) - set(one.in_asic)))}"
        yield f"  ASIC_DB: {_said(tuple(set(one.in_asic) - set(one.in_file)))}"


def _said(record: Record | None) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(record or ())) or "nothing more"


def _document(done: _Compared) -> dict[str, Any]:
    return {
        "file": str(done.file),
        "asic_db": done.asic_db,
        "compared": done.found.compared,
        "equal": done.found.equal,
        "differences": [
            {
                "kind": one.kind,
                "times": one.times,
                "file": None if one.in_file is None else dict(one.in_file),
                "asic_db": None if one.in_asic is None else dict(one.in_asic),
            }
            for one in done.found.differences
        ],
    }
