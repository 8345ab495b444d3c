"""The table of docs/fidelity.md is made of docs/fidelity.json, which tests/vm measures and compares."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
_TABLE = re.compile(r"(<!-- known answers -->\n).*?(<!-- end -->)", re.DOTALL)


def _by_number(name: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)]


def table() -> str:
    rows = json.loads((DOCS / "fidelity.json").read_text(encoding="utf-8"))
    assert rows, "FABRICLAB_ACCEPT=1 pytest tests/vm/test_known_answers.py measures them"
    lines = ["| | by theory | measured | error |", "|---|---|---|---|"]
    for name, row in sorted(rows.items(), key=lambda item: _by_number(item[0])):
        error = 100 * (row["measured"] / row["theory"] - 1)
        theory, measured = (f"{row[key]:,.5g}" for key in ("theory", "measured"))
        interval = f" ± {row['interval']:,.2g}" if "interval" in row else ""
        lines.append(f"| {name} | {theory} {row['unit']} | {measured}{interval} {row['unit']} | {error:+.2g} % |")
    return "\n".join(lines) + "\n"


def test_the_table_has_what_was_measured() -> None:
    page = (DOCS / "fidelity.md").read_text(encoding="utf-8")
    right, regions = _TABLE.subn(lambda found: f"{found[1]}\n{table()}\n{found[2]}", page)
    assert regions == 1
    if os.environ.get("FABRICLAB_ACCEPT") == "1":
        (DOCS / "fidelity.md").write_text(right, encoding="utf-8")
        return
    assert page == right, "FABRICLAB_ACCEPT=1 pytest tests/house/test_fidelity_page.py writes it"
