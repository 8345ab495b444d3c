"""What was found in SONiC configurations as SARIF 2.1.0 (OASIS), which code hosts show beside the lines of a change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from fabriclab import __version__
from fabriclab.formats.finding import Severity
from fabriclab.vendors.sonic.judge import RULES, Judgement, Rule, SonicFinding

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "note"}
_FINGERPRINT = "fabriclabSonicCheck/v1"


def as_sarif(judgements: Sequence[Judgement]) -> str:
    """Return one run of `fabriclab sonic check`: its rules, and a result for each finding with line and fingerprint."""
    driver = {
        "name": "fabriclab sonic check",
        "version": __version__,
        "rules": [_rule(rule) for rule in RULES.values()],
    }
    numbers = {name: number for number, name in enumerate(RULES)}
    results = [_result(each.file, one, numbers[one.rule]) for each in judgements for one in each.findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def fingerprint(file: str, found: SonicFinding) -> str:
    """Return what stays the same of a finding while lines move and other values change: file, rule, place, ports."""
    words = [PurePath(file).as_posix(), found.rule, found.where, *found.ports]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:32]


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.name,
        "shortDescription": {"text": rule.asks},
        "help": {"text": f"{rule.asks} ({rule.source})"},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(file: str, found: SonicFinding, number: int) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": PurePath(file).as_posix()}}
    if found.line is not None:
        location["region"] = {"startLine": found.line}
    where = f"{found.where}: " if found.where else ""
    return {
        "ruleId": found.rule,
        "ruleIndex": number,
        "level": _LEVELS[found.severity],
        "message": {"text": f"{where}{found.sentence}"},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {_FINGERPRINT: fingerprint(file, found)},
    }
