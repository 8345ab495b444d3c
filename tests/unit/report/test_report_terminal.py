"""A sweep's results in a terminal and as files of pictures."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console
from synthetic_run import incast_sweep, long_run

from fabriclab.report import summary_table, write_pictures
from fabriclab.results import read_run, read_sweep


@pytest.fixture(scope="module")
def sweep_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return incast_sweep(tmp_path_factory.mktemp("sweep"), senders=(1, 4, 8, 16))


def test_terminal_table_fits_80_characters(sweep_dir: Path, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as file:
        console = Console(width=80, record=True, file=file)
        console.print(summary_table(read_sweep(sweep_dir), width=80))
    text = console.export_text()
    assert "…" not in text
    assert re.search(r"DCTCP +16 +931 Mbps", text)


def test_terminal_tables(sweep_dir: Path, tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as file:
        console = Console(width=160, record=True, file=file)
        console.print(summary_table(read_sweep(sweep_dir), width=160))
        console.print(summary_table(read_run(long_run(tmp_path / "run"))))
    text = console.export_text()
    assert re.search(r"CUBIC +8 +99\.7 Mbps", text)
    assert "checks: 3 of 3 pass" in text
    assert re.search(r"Goodput +941\.5 Mbps +100 % of the link's maximum", text)


def test_pictures_are_files_that_stand_alone(sweep_dir: Path, tmp_path: Path) -> None:
    files = write_pictures([sweep_dir], tmp_path / "pictures")
    assert "goodput-against-senders.svg" in [file.name for file in files]
    for file in (file for file in files if file.suffix == ".svg"):
        root = ElementTree.fromstring(file.read_text())
        style = "".join(element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}style"))
        assert "--ink: #1b2733" in style and "prefers-color-scheme: dark" in style
        for variable in set(re.findall(r"var\((--[\w-]+)", file.read_text())):
            assert f"{variable}:" in style, f"{file.name} uses {variable}, which it does not define"
