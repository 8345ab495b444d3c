"""A comparison as the comment of a pull request: its table, its chart, and that a lab's words stay words."""

from __future__ import annotations

import re

from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.comparison.conditions import Finding, judge, read_condition
from fabriclab.comparison.markdown import MOST_BARS, MOST_ROWS, plain, to_markdown
from fabriclab.comparison.records import Change, ComparedMetric, ComparedPoint, Comparison
from fabriclab.results.differences import difference

BEFORE = [900e6, 880e6, 905e6, 870e6, 890e6]


def compared(*names: str, label: str = "16 senders", factor: float = 1.5) -> Comparison:
    after = [value * factor for value in BEFORE]
    found = difference(dict(enumerate(BEFORE)), dict(enumerate(after)))
    metrics = tuple(ComparedMetric(name, found, "better", "") for name in names)
    point = ComparedPoint(label, {"senders": 16}, 5, (5, 5), False, metrics)
    return Comparison("before", "after", (Change("buffer", "64 KB", "256 KB"),), (point,), (), (), "again", 0.95)


def test_table_chart_and_conditions() -> None:
    comparison = compared("goodput_bps")
    findings: list[Finding] = list(judge(comparison, [read_condition("worse:goodput_bps:2%")]))
    lines = to_markdown([comparison], findings).splitlines()
    assert lines[0] == "**after** against **before**: 1 better."
    (row,) = (line for line in lines if line.startswith("| 16 senders |"))
    assert row.split(" | ")[2:5] == ["889 Mbps", "1.333 Gbps", "+50.0 %"]
    assert "| buffer | 64 KB | 256 KB |" in lines
    chart = lines[lines.index("```mermaid") : lines.index("```") + 1]
    assert chart[1] == "xychart-beta horizontal" and chart[-2] == "  bar [50]"
    assert lines[-1] == "- ✅ `worse:goodput_bps:2%`: holds 0 of 1 times"


def test_what_a_lab_says_is_neither_markup_nor_a_mention() -> None:
    text = to_markdown([compared("goodput_bps", label="@somebody <img src=x> | `a` [b](c)\n# d")])
    assert not re.search(r"@somebody|<img|\[b\]|^# d", text, re.MULTILINE)
    (labels,) = re.findall(r"x-axis \[(.*)\]", text)
    assert re.fullmatch(r'"[\w .,%=/()-]+"', labels)
    assert plain("a | b") == "a &#124; b"


def test_a_long_comparison_is_cut_and_says_so() -> None:
    text = to_markdown([compared(*["goodput_bps"] * (MOST_ROWS + 5))])
    assert text.count("\n| 16 senders |") == MOST_ROWS
    assert "5 more changes are not listed here." in text
    (bars,) = re.findall(r"  bar \[(.*)\]", text)
    assert len(bars.split(",")) == MOST_BARS


def test_the_same_on_both_sides_has_no_chart() -> None:
    text = to_markdown([compared(factor=1.0)])
    assert "mermaid" not in text
    assert "nothing in common" in text


def test_the_command_names_its_formats() -> None:
    result = CliRunner().invoke(app, ["compare", "a", "b", "--format", "rst"])
    assert result.exit_code == 2
    assert "markdown" in result.output
