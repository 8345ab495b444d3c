"""A comparison as the comment of a pull request: its table, its bars, and that a lab's words stay words."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.comparison.conditions import Finding, judge, read_condition
from fabriclab.comparison.markdown import MOST_ROWS, plain, to_markdown
from fabriclab.comparison.records import Change, ComparedMetric, ComparedPoint, Comparison
from fabriclab.results.differences import difference

BEFORE = [900e6, 880e6, 905e6, 870e6, 890e6]


def compared(*names: str, label: str = "16 senders", factor: float = 1.5) -> Comparison:
    after = [value * factor for value in BEFORE]
    found = difference(dict(enumerate(BEFORE)), dict(enumerate(after)))
    metrics = tuple(ComparedMetric(name, found, "better", "") for name in names)
    point = ComparedPoint(label, {"senders": 16}, 5, (5, 5), False, metrics)
    return Comparison("before", "after", (Change("buffer", "64 KB", "256 KB"),), (point,), (), (), "again", 0.95)


def test_table_bar_and_conditions() -> None:
    comparison = compared("goodput_bps")
    findings: list[Finding] = list(judge(comparison, [read_condition("worse:goodput_bps:2%")]))
    lines = to_markdown([comparison], findings).splitlines()
    assert lines[0] == "**after** against **before**: 1 better."
    (row,) = (line for line in lines if line.startswith("| 16 senders |"))
    assert row.split(" | ")[2:5] == ["889 Mbps", "1.333 Gbps", "+50.0 %"]
    assert "| buffer | 64 KB | 256 KB |" in lines
    assert row.split(" | ")[5].replace("\u00a0", ".") == "`........|████████`"
    assert lines[-1] == "- ✅ `worse:goodput_bps:2%`: holds 0 of 1 times"


def test_what_a_lab_says_is_neither_markup_nor_a_mention() -> None:
    text = to_markdown([compared("goodput_bps", label="@somebody <img src=x> | `a` [b](c)\n# d")])
    assert not re.search(r"@somebody|<img|\[b\]|^# d", text, re.MULTILINE)
    assert plain("a | b") == "a &#124; b"


def test_a_long_comparison_is_cut_and_says_so() -> None:
    text = to_markdown([compared(*["goodput_bps"] * (MOST_ROWS + 5))])
    assert text.count("\n| 16 senders |") == MOST_ROWS
    assert "5 more changes are not listed here." in text


@pytest.mark.parametrize(("factor", "bar"), [(0.5, "████████|........"), (1.0, None), (3.0, "........|████████")])
def test_a_bar_goes_to_the_side_of_its_change(factor: float, bar: str | None) -> None:
    (found,) = re.findall(r"`([^`]*[|][^`]*)`", to_markdown([compared("goodput_bps", factor=factor)])) or [None]
    assert found == (bar and bar.replace(".", "\u00a0"))


def test_the_command_names_its_formats() -> None:
    result = CliRunner().invoke(app, ["compare", "a", "b", "--format", "rst"])
    assert result.exit_code == 2
    assert "markdown" in result.output
