"""The notebooks run from the first cell to the last, and show figures."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from fabriclab.engine.artefacts import EngineError, find_artefacts

nbclient = pytest.importorskip("nbclient", reason="not executed: pip install 'fabriclab[notebook]'")
nbformat = pytest.importorskip("nbformat", reason="not executed: pip install 'fabriclab[notebook]'")
pytest.importorskip("ipykernel", reason="not executed: pip install 'fabriclab[notebook]'")

PROJECT = Path(__file__).parents[2]
NOTEBOOKS = sorted((PROJECT / "analysis").glob("*.ipynb"))
MANY_S = 1800
"""A limit on waiting for a cell, or for Jupyter's kernel; nothing is judged by it."""

# Jupyter's own libraries warn of their own changes; its event loops close late.
pytestmark = pytest.mark.filterwarnings("default")


def outputs(notebook: Any, kind: str) -> list[str]:
    found = []
    for cell in notebook.cells:
        found += [output["data"][kind] for output in cell.get("outputs", []) if kind in output.get("data", {})]
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_committed_notebooks_hold_no_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not [cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")]


def executed(name: str, directory: Path) -> Any:
    """Execute a notebook beside a copy of the labs; returns it with its outputs."""
    try:
        find_artefacts()
    except EngineError as error:
        pytest.skip(f"not executed: {error}")
    (directory / "analysis").mkdir()
    shutil.copytree(PROJECT / "labs", directory / "labs")
    notebook = nbformat.read(PROJECT / "analysis" / name, as_version=4)
    resources = {"metadata": {"path": str(directory / "analysis")}}
    nbclient.NotebookClient(notebook, timeout=MANY_S, startup_timeout=MANY_S, resources=resources).execute()
    return notebook


@pytest.mark.vm
def test_completion_times_pools_seeds_and_shows_tables(tmp_path: Path) -> None:
    notebook = executed("completion-times.ipynb", tmp_path)
    pages = outputs(notebook, "text/html")
    assert sum("<svg" in page for page in pages) == 2, "the distributions and the slowdown"
    assert "CUBIC, 3 seeds" in "".join(pages)
    assert "{'cubic': 3, 'dctcp': 3}" in outputs(notebook, "text/plain")


@pytest.mark.vm
def test_start_runs_a_lab_and_shows_its_figures(tmp_path: Path) -> None:
    notebook = executed("start.ipynb", tmp_path)
    pages = outputs(notebook, "text/html")
    assert sum("<svg" in page for page in pages) == 2, "both runs' figures"
    assert any("Goodput" in text for text in outputs(notebook, "text/plain"))
    assert (tmp_path / "runs" / "start" / "dctcp" / "summary.json").is_file()
