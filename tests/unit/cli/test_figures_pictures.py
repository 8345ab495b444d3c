"""`fabriclab figures`: pictures of published tables, drawn from the data without a run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from command_line import Invoke
from repository import LABS

from fabriclab.formats.published_files import FILE
from fabriclab.gallery.data import read_rows
from fabriclab.gallery.published import GalleryError, read_published
from fabriclab.gallery.quantities import in_unit
from fabriclab.gallery.readme import README
from fabriclab.gallery.tables import number_text
from fabriclab.report.drawing.table_bars import INTERVAL, table_bars


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """A copy of a lab whose page has bars of a table with intervals."""
    return Path(shutil.copytree(LABS / "two-jobs", tmp_path / "mine"))


def test_a_bar_is_drawn_for_each_number_of_the_cell(lab: Path) -> None:
    published = read_published(lab)
    table = published.tables["placement"]
    data = {name: read_rows(lab, name) for name in published.matrices}
    cell = table.cells[0]
    picture = table_bars("placement", table, cell, data, "time")
    (panel,) = picture.chart.panels
    rows = [row for row in data["demo"] if row.metric == cell.column and row.fits(table.where)]
    assert sorted(text.text for text in panel.texts) == sorted(number_text(cell, row.numbers["mean"]) for row in rows)
    *means, intervals = panel.bars
    assert [bars.name for bars in means] == [table.words[value] for value in ("false", "true")]
    drawn = sorted(float(end) for bars in means for end in bars.end if end is not None)
    assert drawn == pytest.approx(sorted(in_unit(row.numbers["mean"] or 0, cell.metric, cell.unit) for row in rows))
    spread = [row for row in rows if row.numbers["low"] != row.numbers["high"]]
    assert intervals.name == INTERVAL and len(intervals.places) == len(spread) > 0
    assert panel.x.label == "time" and "time" in picture.svg


def test_pictures_are_drawn_from_the_data_and_old_ones_are_named(lab: Path, invoke: Invoke) -> None:
    before = {path: path.read_bytes() for path in lab.rglob("*") if path.is_file()}
    assert invoke("figures", str(lab), "--draw").exit_code == 0
    assert {path: path.read_bytes() for path in lab.rglob("*") if path.is_file()} == before
    (lab / FILE).write_text((lab / FILE).read_text().replace("by leaf", "leaf by leaf"))
    checked = invoke("figures", str(lab), "--check")
    assert checked.exit_code == 1
    assert f"{lab}/answer.svg: is not the picture that the data make; `fabriclab figures mine --draw`" in checked.stdout
    assert invoke("figures", str(lab), "--draw").exit_code == 0
    assert "leaf by leaf" in (lab / "answer.svg").read_text() and "leaf by leaf" in (lab / README).read_text()
    assert invoke("figures", str(lab), "--check").exit_code == 0
    (lab / "answer.svg").unlink()
    assert invoke("figures", str(lab), "--check").exit_code == 1


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("{table: nothing}", "picture answer.svg: no table 'nothing'; write one of: placement"),
        ("{table: placement, cell: 9}", "picture answer.svg: table placement has no cell 9, it has 2"),
        ("{table: placement, cell: 0}", "greater than or equal to 1"),
        ("{table: placement, matrix: demo, picture: a.svg}", "write `matrix` and `picture`"),
        ("{matrix: demo}", "write `matrix` and `picture`, for one of its report, or `table`, for bars of a table"),
        ("{}", "write `matrix` and `picture`"),
    ],
)
def test_a_picture_of_no_kind_is_refused(lab: Path, entry: str, words: str) -> None:
    text = re.sub(r"answer\.svg: \{.*\}", f"answer.svg: {entry}", (lab / FILE).read_text())
    (lab / FILE).write_text(text)
    with pytest.raises(GalleryError, match=re.escape(words)) as caught:
        read_published(lab)
    assert re.match(rf"{re.escape(str(lab / FILE))}:\d+: ", str(caught.value))
