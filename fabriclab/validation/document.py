"""A validation as JSON, for programs. docs/language/validation.md has the keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from fabriclab.validation.finding import VERDICTS, ValidationFinding, all_pass

FORMAT = "fabriclab-validation-1"


def document(
    lab: str, directory: str | None, findings: Sequence[ValidationFinding], no_verdict: str | None = None
) -> dict[str, Any]:
    """Return a validation as JSON has it. `no_verdict` says why it has no verdict."""
    return {
        "format": FORMAT,
        "lab": lab,
        "directory": directory,
        "passed": None if no_verdict is not None else all_pass(findings),
        "no_verdict": no_verdict,
        "counts": {verdict: sum(finding.verdict == verdict for finding in findings) for verdict in VERDICTS},
        "findings": [{**asdict(finding), "why": finding.why or None} for finding in findings],
    }


def to_json(
    lab: str, directory: str | None, findings: Sequence[ValidationFinding], no_verdict: str | None = None
) -> str:
    """Return the document as text that ends with a newline."""
    return json.dumps(document(lab, directory, findings, no_verdict), indent=2, ensure_ascii=False) + "\n"
