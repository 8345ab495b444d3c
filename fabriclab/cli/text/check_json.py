"""What `fabriclab check` finds, as JSON for editors and pipelines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fabriclab.api.look import CheckedLab, CheckedTopology
from fabriclab.lab import LabError

FORMAT = "fabriclab-check-1"


def check_json(lab: Path, checked: CheckedLab | CheckedTopology | None, refusal: str | LabError | None) -> str:
    """Return the findings of a check, and what the lab has; `checked` is None for a lab that cannot be read.

    A finding has the keys severity, file, line, key, value, message and remedy; what it does not have is null.
    """
    findings = [*_refused(refusal), *_warned(checked)]
    document = {
        "format": FORMAT,
        "lab": str(lab),
        "ok": not any(finding["severity"] == "error" for finding in findings),
        "findings": findings,
        "contents": None if checked is None else _contents(checked),
    }
    return json.dumps(document, indent=1) + "\n"


def _refused(refusal: str | LabError | None) -> Iterator[dict[str, Any]]:
    if isinstance(refusal, LabError):
        for one in refusal.mistakes:
            yield {
                **{"severity": "error", "file": one.file, "line": one.line, "key": one.key or None},
                **{"value": one.value or None, "message": one.message, "remedy": one.remedy or None},
            }
    elif refusal is not None:
        yield _sentence("error", refusal)


def _warned(checked: CheckedTopology | None) -> Iterator[dict[str, Any]]:
    if checked is not None:
        faults = checked.faults if isinstance(checked, CheckedLab) else ()
        for sentence in checked.warnings:
            yield _sentence("error" if sentence in faults else "warning", sentence)


def _sentence(severity: str, text: str) -> dict[str, Any]:
    nowhere = {"file": None, "line": None, "key": None, "value": None}
    return {"severity": severity, **nowhere, "message": text, "remedy": None}


def _contents(checked: CheckedTopology) -> dict[str, Any]:
    size = {"name": checked.name, "hosts": checked.hosts, "switches": checked.switches, "links": checked.links}
    if not isinstance(checked, CheckedLab):
        return size
    return {
        **size,
        "traffic": dict(checked.traffic),
        "parameters": list(checked.parameters),
        "variants": list(checked.variants),
        "matrices": dict(checked.matrices),
        "checks": checked.checks,
        "stories": dict(checked.stories),
    }
