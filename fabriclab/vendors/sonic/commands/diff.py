"""`fabriclab sonic check --diff OLD NEW`: what a change of a configuration changes, and which findings it brings."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabriclab.vendors.sonic.commands.findings_text import as_document, as_text
from fabriclab.vendors.sonic.judge import Change, Judgement, SonicFinding, changes
from fabriclab.vendors.sonic.judge.findings import ports_text
from fabriclab.vendors.sonic.read import examine_config_db
from fabriclab.vendors.sonic.read.chips import Chip

FORMAT = "fabriclab-sonic-diff-1"


@dataclass(frozen=True)
class Difference:
    """A change of a file: what the switch does otherwise, what is found that was not, and what is found no more."""

    old: str
    changes: tuple[Change, ...]
    not_compared: str
    """Why what the switch does was not compared; empty: it was."""
    new: Judgement
    """With the findings that the change brings."""
    gone: tuple[SonicFinding, ...]


def difference(
    files: tuple[Path, Path], data: tuple[bytes, bytes], judged: Sequence[Judgement], chip: Chip | None
) -> Difference:
    """Return what differs between two files whose findings are there; a file that is malformed has no switch."""
    old, new = judged
    known, found = ({_mark(one) for one in each.findings} for each in (old, new))
    fresh = tuple(one for one in new.findings if _mark(one) not in known)
    gone = tuple(one for one in old.findings if _mark(one) not in found)
    said, why = _changes(files, data, judged, chip)
    return Difference(str(files[0]), said, why, replace(new, findings=fresh), gone)


def _mark(one: SonicFinding) -> tuple[object, ...]:
    return one.rule, one.severity, one.path, one.value, one.ports


def _changes(
    files: tuple[Path, Path], data: tuple[bytes, bytes], judged: Sequence[Judgement], chip: Chip | None
) -> tuple[tuple[Change, ...], str]:
    for each in judged:
        if any(one.rule == "malformed" and one.severity == "error" for one in each.findings) or each.skipped:
            return (), f"{each.file}: correct the errors first; the switches' behaviour was not compared"
    before, after = (examine_config_db(text, str(file))[0] for file, text in zip(files, data, strict=True))
    if before is None or after is None:
        return (), "a file does not describe a switch; the switches' behaviour was not compared"
    if chip is not None:
        before, after = replace(before, chip=chip), replace(after, chip=chip)
    return changes(before, after), ""


def diff_text(one: Difference) -> str:
    """Return the changes, then the findings that are new, then those that are gone."""
    return "".join(f"{line}\n" for line in _lines(one)) + ("\n" + as_text([one.new]) if one.new.findings else "")


def _lines(one: Difference) -> Iterator[str]:
    yield f"{one.old} -> {one.new.file}: {len(one.changes)} change{'' if len(one.changes) == 1 else 's'}"
    if one.not_compared:
        yield one.not_compared
    for change in one.changes:
        where = f" ({ports_text(change.ports)})" if change.ports else ""
        yield f"  {change.what}{where}"
        yield f"    - {change.old if change.old is not None else 'not there'}"
        yield f"    + {change.new if change.new is not None else 'gone'}"
    yield f"findings: {len(one.new.findings)} new, {len(one.gone)} gone"
    yield from (f"  gone: {found.rule}  {found.where}".rstrip() for found in one.gone)


def diff_json(one: Difference) -> str:
    """Return the same as one document."""
    return json.dumps(diff_document(one), indent=2) + "\n"


def diff_document(one: Difference) -> dict[str, Any]:
    """Return the same as plain data."""
    return {
        "format": FORMAT,
        "old": one.old,
        "new": one.new.file,
        "changes": [
            {"what": each.what, "old": each.old, "new": each.new, "ports": list(each.ports)} for each in one.changes
        ],
        "not_compared": one.not_compared,
        "new_findings": as_document(one.new)["findings"],
        "gone_findings": as_document(replace(one.new, findings=one.gone))["findings"],
    }
