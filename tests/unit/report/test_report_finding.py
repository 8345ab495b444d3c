"""A report begins with what was found, and what is left out stands lower; its drawings can be read on a phone."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from synthetic_run import incast_run, incast_sweep

from fabriclab.report import write_report
from fabriclab.report.headline import finding_of_sweep
from fabriclab.report.page import page_of

LEFT_OUT = "Figures that show points one by one"
LEAST_TEXT_PX = 9.0
DRAWING_UNITS, TEXT_UNITS = 547.2, 8.5
"""Width of a drawing and its smallest letters, in the units of its viewBox (`fabriclab.report.drawing.style`)."""


def paragraphs(path: Path) -> list[str]:
    out = path / "report.html"
    write_report([path], out)
    return re.findall(r"<p(?: [^>]*)?>(.*?)</p>", unescape(out.read_text()).replace("\u00a0", " "), re.DOTALL)


def test_a_run_begins_with_what_it_found(tmp_path: Path) -> None:
    _, first, *_ = paragraphs(incast_run(tmp_path / "run", 4))
    assert first.startswith(
        "32 of 32 flows completed; Goodput 901 Mbps, 96 % of the link's maximum; 0 packets dropped;"
    ), first
    assert first.endswith("1 of 1 checks pass, 2 not asked here.")


def test_a_sweep_begins_with_the_ends_of_what_it_found_and_not_with_what_it_left_out(tmp_path: Path) -> None:
    directory = incast_sweep(tmp_path / "sweep", senders=(1, 4, 8, 16))
    _, first, *others = paragraphs(directory)
    assert re.fullmatch(
        r"Goodput from [\d.]+ Mbps \(CUBIC, \d+ senders\) to [\d.]+ Mbps \(.*\); 3 of 3 checks pass\.", first
    ), first
    assert any(other.startswith(LEFT_OUT) for other in others)
    html = (directory / "report.html").read_text()
    assert html.index("</figure>") < html.index(LEFT_OUT)


def test_a_run_without_results_claims_nothing(tmp_path: Path) -> None:
    assert page_of([incast_run(tmp_path / "run", 1, status="starved")]).finding == ""
    assert finding_of_sweep([]) == ""


def test_drawings_are_as_wide_on_a_phone_as_their_letters_need(tmp_path: Path) -> None:
    paragraphs(incast_run(tmp_path / "run", 4))
    html = (tmp_path / "run" / "report.html").read_text()
    drawings = re.findall(r'<svg role="img".*?viewBox="0 0 ([\d.]+)', html)
    assert drawings and all(float(width) <= DRAWING_UNITS + 0.1 for width in drawings)
    assert html.count('<div class="drawn"') == len(drawings)
    width = re.search(r"\.drawn > svg \{ width: (\d+)rem; \}", html)
    assert width is not None and int(width[1]) * 16 / DRAWING_UNITS * TEXT_UNITS >= LEAST_TEXT_PX
