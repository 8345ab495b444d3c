"""The tables of docs/engines.md are made of docs/engines.json, which `make test-containers` measures."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from cases import CASES
from engines_page import WAITING, tables

DOCS = Path(__file__).parents[2] / "docs"
_TABLES = re.compile(r"(<!-- both engines -->\n).*?(<!-- end -->)", re.DOTALL)


def test_the_tables_have_what_was_measured() -> None:
    record = json.loads((DOCS / "engines.json").read_text(encoding="utf-8"))
    page = (DOCS / "engines.md").read_text(encoding="utf-8")
    right, regions = _TABLES.subn(lambda found: f"{found[1]}\n{tables(record)}\n{found[2]}", page)
    assert regions == 1
    if os.environ.get("FABRICLAB_ACCEPT") == "1":
        (DOCS / "engines.md").write_text(right, encoding="utf-8")
        return
    assert page == right, "FABRICLAB_ACCEPT=1 pytest tests/containers/test_engines_page.py writes it"


def test_what_differs_has_a_word_and_what_is_unknown_is_not_nothing() -> None:
    metrics = [
        {"name": "goodput_bps", "vm": [10e6, 11e6, 11.5e6], "containerlab": 9.9e6, "reason": ""},
        {"name": "drops", "vm": [4, 4, 4], "containerlab": 5, "reason": "one more"},
        {"name": "reconvergence_ns", "vm": None, "containerlab": 5, "reason": ""},
        {"name": "timeouts", "vm": [1, 3, 8], "containerlab": 3, "reason": ""},
        {"name": "retransmits", "vm": [0, 0, 0], "containerlab": 3, "reason": ""},
        {"name": "marks", "vm": [0, 0, 0], "containerlab": 0, "reason": ""},
    ]
    links = {"slowest_path": None, "worst_line": None}
    case = {"name": "A lab", "lab": "labs/incast", "status": "starved", "metrics": metrics, **links}
    lines = tables({"cases": [case]}).splitlines()
    goodput = "11\u00a0Mbps (10\u00a0Mbps to 11.5\u00a0Mbps) | 9.9\u00a0Mbps | -1.0 % |"
    assert lines[2] == f"| [A lab](../labs/incast/README.md) (starved) | Goodput | {goodput}"
    words = ["+25.0 % (one more) |", "not known |", "within |", "of nothing |"]
    assert [line.rsplit(" | ", 1)[1] for line in lines[3:7]] == words
    assert not lines[7], "what neither had is left out"


def test_a_lab_without_a_measurement_is_said_to_wait() -> None:
    record = json.loads((DOCS / "engines.json").read_text(encoding="utf-8"))
    labs = {case.lab for case in CASES}
    assert tables({"cases": []}).count(WAITING) == len(labs)
    of_all: dict[str, Any] = {"status": "complete", "metrics": [], "slowest_path": None, "worst_line": None}
    assert WAITING not in tables({"cases": [{"name": case.name, "lab": case.lab, **of_all} for case in CASES]})
    assert tables(record).count(WAITING) == len(labs - {case["lab"] for case in record["cases"]})
