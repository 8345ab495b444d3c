"""What was measured of a matrix, as published: a row for each metric of each point, in a CSV file beside the README."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriclab.files import write_text
from fabriclab.formats.published_files import DIRECTORY
from fabriclab.formats.where_clause import Scalar
from fabriclab.gallery.published import GalleryError
from fabriclab.gallery.quantities import as_written

NUMBERS = ("mean", "low", "high", "least", "greatest")
"""The mean over the point's runs, or the statistic of all its runs' flows; its 95 % interval; the least and the
greatest run's own. A point of one run has no interval."""
Numbers = dict[str, float | None]
"""The numbers of a quantity at a point, by NUMBERS; those that it has not are missing."""
_COLUMNS = ("metric", *NUMBERS, "runs")
_SOURCES = "made-from.json"


@dataclass(frozen=True)
class Row:
    """A metric of a point. `numbers` are in the metric's own unit, None where there is none; by NUMBERS."""

    settings: Mapping[str, str]
    metric: str
    numbers: Mapping[str, float | None]
    runs: int

    def fits(self, where: Mapping[str, Scalar | tuple[Scalar, ...]]) -> bool:
        """Return whether the point has these settings, each with that value or one of several."""
        wanted = {name: value if isinstance(value, tuple) else (value,) for name, value in where.items()}
        return all(self.settings.get(name) in [as_written(one) for one in values] for name, values in wanted.items())


@dataclass(frozen=True)
class Source:
    """What a matrix was measured with: nothing of when or where, so that the same commit gives the same file."""

    commits: tuple[str, ...]
    kernels: tuple[str, ...]
    artefacts: Mapping[str, Any]
    plans: str = ""
    """The digest of the points' plans (`plans_digest`); empty: it was measured before there were such digests."""


def data_file(lab: Path, matrix: str) -> Path:
    """Return where the data of a matrix lie."""
    return lab / DIRECTORY / f"{matrix}.csv"


def csv_text(rows: Sequence[Row]) -> str:
    """Return rows as CSV: settings first, numbers to the last bit."""
    names = list(dict.fromkeys(name for row in rows for name in row.settings))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, *_COLUMNS])
    for row in rows:
        numbers = [_number_text(row.numbers[name]) for name in NUMBERS]
        writer.writerow([*(row.settings.get(name, "") for name in names), row.metric, *numbers, row.runs])
    return out.getvalue()


def _number_text(value: float | None) -> str:
    if value is None:
        return ""
    return str(int(value)) if value == int(value) else repr(value)


def read_rows(lab: Path, matrix: str) -> list[Row]:
    """Return the published rows of a matrix. Raises GalleryError where there are none or they can't be read."""
    path = data_file(lab, matrix)
    try:
        table = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8"))))
    except FileNotFoundError as error:
        raise GalleryError(f"{path}: not measured yet; `fabriclab figures {lab}` measures and writes it") from error
    head = table[0] if table else []
    if tuple(head[-len(_COLUMNS) :]) != _COLUMNS:
        raise GalleryError(f"{path}:1: {','.join(head)!r} does not end with {','.join(_COLUMNS)}; make it anew")
    return [_row(path, line, head, fields) for line, fields in enumerate(table[1:], 2)]


def _row(path: Path, line: int, head: Sequence[str], fields: Sequence[str]) -> Row:
    try:
        entry = dict(zip(head, fields, strict=True))
        numbers = {name: float(entry[name]) if entry[name] else None for name in NUMBERS}
        settings = {name: entry[name] for name in head[: -len(_COLUMNS)] if entry[name]}
        return Row(settings, entry["metric"], numbers, int(entry["runs"]))
    except ValueError as error:
        raise GalleryError(f"{path}:{line}: {','.join(fields)!r}: {error}; make the file anew") from error


def read_sources(lab: Path) -> dict[str, Source]:
    """Return what each published matrix was measured with; nothing where none was."""
    path = lab / DIRECTORY / _SOURCES
    if not path.is_file():
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return {
            name: Source(tuple(entry["commits"]), tuple(entry["kernels"]), entry["artefacts"], entry.get("plans", ""))
            for name, entry in data.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise GalleryError(f"{path}: {error}; `fabriclab figures {lab}` writes it anew") from error


def write_data(lab: Path, measured: Mapping[str, tuple[Sequence[Row], Source]]) -> None:
    """Write the data of matrices, each file whole or not at all; those of other matrices stay. Raises OSError."""
    sources = read_sources(lab) | {name: source for name, (_, source) in measured.items()}
    (lab / DIRECTORY).mkdir(exist_ok=True)
    for name, (rows, _) in measured.items():
        write_text(data_file(lab, name), csv_text(rows))
    entries = {
        name: {
            "commits": list(source.commits),
            "kernels": list(source.kernels),
            "artefacts": source.artefacts,
            **({"plans": source.plans} if source.plans else {}),
        }
        for name, source in sorted(sources.items())
    }
    write_text(lab / DIRECTORY / _SOURCES, json.dumps(entries, indent=1) + "\n")
