"""A baseline: findings that are known, so that a check of a change tells those that the change brings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabriclab.cli.host.failure import BadInputError
from fabriclab.files import write_all
from fabriclab.vendors.sonic.commands.sarif import fingerprint
from fabriclab.vendors.sonic.judge import Judgement

FORMAT = "fabriclab-sonic-baseline-1"
_WORDS = ("file", "rule", "where", "fingerprint")


@dataclass(frozen=True)
class Compared:
    """What a check found beside what was known."""

    judgements: tuple[Judgement, ...]
    """With what is new only."""
    known: int
    gone: tuple[str, ...]
    """Known findings of these files that are there no more, as `FILE: RULE PLACE`."""


def write_baseline(path: Path, judgements: Sequence[Judgement]) -> None:
    """Write every finding as a known one."""
    found = [
        {"file": each.file, "rule": one.rule, "where": one.where, "fingerprint": fingerprint(each.file, one)}
        for each in judgements
        for one in each.findings
    ]
    text = json.dumps({"format": FORMAT, "findings": found}, indent=2) + "\n"
    write_all({path: text})


def compared(path: Path, judgements: Sequence[Judgement]) -> Compared:
    """Return what is not in a baseline. Raises BadInputError for a file that is none."""
    known = _read(path)
    left, seen, count = [], set(), 0
    for each in judgements:
        fresh = []
        for one in each.findings:
            mark = fingerprint(each.file, one)
            if mark in known:
                seen.add(mark)
                count += 1
            else:
                fresh.append(one)
        left.append(replace(each, findings=tuple(fresh)))
    files = {each.file for each in judgements}
    gone = tuple(
        f"{one['file']}: {one['rule']} {one['where']}".rstrip()
        for mark, one in known.items()
        if mark not in seen and one["file"] in files
    )
    return Compared(tuple(left), count, gone)


def _read(path: Path) -> dict[str, dict[str, str]]:
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"--baseline {path}: cannot be read: {error}") from error
    except json.JSONDecodeError as error:
        raise BadInputError(f"--baseline {path}:{error.lineno}: is not JSON: {error.msg}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadInputError(
            f"--baseline {path}: is not a baseline of `fabriclab sonic check`; --write-baseline makes one"
        )
    known = {}
    for one in document.get("findings", []):
        said = one if isinstance(one, dict) else {}
        words = {name: said[name] for name in _WORDS if isinstance(said.get(name), str)}
        if len(words) < len(_WORDS):
            raise BadInputError(
                f"--baseline {path}: a finding lacks file, rule, where or fingerprint; write the baseline again with "
                "--write-baseline"
            )
        known[words["fingerprint"]] = words
    return known
