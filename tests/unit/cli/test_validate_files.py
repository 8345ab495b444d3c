"""The files that a verdict of `validate` goes to."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

from fabriclab.api.validation import Validation
from fabriclab.cli.commands.validate import VerdictFiles
from fabriclab.validation.finding import judged


def test_a_warning_neither_fails_nor_passes(tmp_path: Path) -> None:
    findings = (
        judged("reach", "h1 to h2", "answers", "answers", holds=True),
        judged("routes", "r1, rib 10.9.0.0/16", "there", "absent", holds=False, severity="warning"),
    )
    found = Validation("mine", tmp_path / "runs", findings, interrupted=False)
    VerdictFiles(tmp_path / "a.xml", tmp_path / "a.json").write(found)
    written = json.loads((tmp_path / "a.json").read_text())
    assert written["passed"] is True
    assert (written["counts"]["warning"], written["counts"]["pass"], written["counts"]["fail"]) == (1, 1, 0)
    suite = ElementTree.parse(tmp_path / "a.xml").getroot()
    cases = {case.get("classname"): case for case in suite.iter("testcase")}
    skipped = cases["validate.routes"].find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "absent"
    assert cases["validate.reach"].find("skipped") is None
