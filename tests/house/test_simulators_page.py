"""The tables of docs/fidelity.md beside other simulators.

docs/simulators.json has what each simulator did, and what fabriclab does without TSO and GRO. fabriclab's other figures
are those that labs publish, so they cannot go stale here.
"""

from __future__ import annotations

import csv
import json
import os
import re
from pathlib import Path
from typing import Any

import polars as pl

from fabriclab.results.bootstrap import Estimate, Sample, mean_estimate

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "fidelity.md"
SIMULATORS = ("ns-3", "csg-htsim")
_TABLE = re.compile(r"(<!-- simulators: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def _record() -> dict[str, Any]:
    record: dict[str, Any] = json.loads((ROOT / "docs" / "simulators.json").read_text(encoding="utf-8"))
    return record


def _published(row: dict[str, Any]) -> Estimate:
    """Return what a lab publishes of the row's point, in the row's unit."""
    where, unit = row["published"]["where"], row["published"]["unit"]
    with (ROOT / row["published"]["data"]).open(encoding="utf-8", newline="") as file:
        found = [line for line in csv.DictReader(file) if all(line[name] == value for name, value in where.items())]
    assert len(found) == 1, f"{row['published']}: {len(found)} lines"
    mean, low, high = (float(found[0][key]) / unit if found[0][key] else None for key in ("mean", "low", "high"))
    return Estimate(mean, low, high)


def _estimate(values: list[float]) -> Estimate:
    return mean_estimate(Sample.of(pl.Series(values))) if len(values) > 1 else Estimate(values[0])


def _cell(found: Estimate, digits: int) -> str:
    text = f"{found.value:,.{digits}f}"
    if found.low is None or found.high is None or f"{found.low:.{digits}f}" == f"{found.high:.{digits}f}":
        return text
    return f"{text} [{found.low:,.{digits}f}, {found.high:,.{digits}f}]"


def table(simulator: str) -> str:
    """Return the simulator's table: a line for each point that both have."""
    header = f"| scenario | figure | runs of {simulator} | {simulator} | fabriclab | ratio | no TSO, no GRO |"
    lines, above = [header, "|---|---|---|---|---|---|---|"], ""
    for row in _record()["rows"]:
        if simulator not in row:
            continue
        peer, own = _estimate(row[simulator]["values"]), _published(row)
        assert peer.value and own.value
        plain = _cell(_estimate(row["plain"]), row["digits"]) if row.get("plain") else ""
        scenario = "" if row["scenario"] == above else row["scenario"]
        cells = (_cell(peer, row["digits"]), _cell(own, row["digits"]), f"{own.value / peer.value:.2f}", plain)
        lines.append(f"| {scenario} | {row['figure']} | {len(row[simulator]['seeds'])} | {' | '.join(cells)} |")
        above = row["scenario"]
    return "\n".join(lines) + "\n"


def test_the_tables_have_what_simulators_and_labs_measured() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert tuple(region[2] for region in _TABLE.finditer(page)) == SIMULATORS
    right = _TABLE.sub(lambda region: f"{region[1]}\n{table(region[2])}\n{region[3]}", page)
    if os.environ.get("FABRICLAB_ACCEPT") == "1":
        PAGE.write_text(right, encoding="utf-8")
        return
    assert page == right, "FABRICLAB_ACCEPT=1 pytest tests/house/test_simulators_page.py writes it"


def test_the_record_says_what_was_compared() -> None:
    record = _record()
    assert record["plain"]["commit"]
    for simulator in SIMULATORS:
        assert record[simulator]["commit"] and record[simulator]["source"] and record[simulator]["parameters"]
    for row in record["rows"]:
        runs = [row[simulator] for simulator in SIMULATORS if simulator in row]
        assert runs and all(of["seeds"] and len(of["values"]) == len(of["seeds"]) for of in runs), row
        assert len(row.get("plain", ())) in (0, len(record["plain"]["seeds"])), row
