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
START = PROJECT / "analysis" / "start.ipynb"

# Jupyter's own libraries warn of their own changes; its event loops close late.
pytestmark = pytest.mark.filterwarnings("default")


def outputs(notebook: Any, kind: str) -> list[str]:
    found = []
    for cell in notebook.cells:
        found += [output["data"][kind] for output in cell.get("outputs", []) if kind in output.get("data", {})]
    return found


def test_the_committed_notebook_holds_no_outputs() -> None:
    notebook = nbformat.read(START, as_version=4)
    assert not [cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")]


@pytest.mark.vm
def test_start_runs_a_lab_and_shows_its_figures(tmp_path: Path) -> None:
    try:
        find_artefacts()
    except EngineError as error:
        pytest.skip(f"not executed: {error}")
    (tmp_path / "analysis").mkdir()
    shutil.copy(START, tmp_path / "analysis")
    shutil.copytree(PROJECT / "labs", tmp_path / "labs")
    notebook = nbformat.read(START, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path / "analysis")}}).execute()
    pages = outputs(notebook, "text/html")
    assert sum("<svg" in page for page in pages) == 2, "both runs' figures"
    assert any("Goodput" in text for text in outputs(notebook, "text/plain"))
    assert (tmp_path / "runs" / "start" / "dctcp" / "summary.json").is_file()
