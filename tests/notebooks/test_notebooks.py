"""The notebooks run from the first cell to the last, say what they claim, and know right answers from wrong ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hadoop_lab import skip_unless_asked
from notebook_kernel import first_cell
from patience import patient

from fabriclab.engine.artefacts import EngineError, find_artefacts

if any(find_spec(name) is None for name in ("nbclient", "nbformat", "ipykernel")):
    pytest.skip("not executed: pip install 'fabriclab[notebook]'", allow_module_level=True)

ANALYSIS = Path(__file__).parents[2] / "analysis"
NOTEBOOKS = sorted(ANALYSIS.glob("*.ipynb"))
HADOOP = {"hadoop": ANALYSIS.parent / "labs" / "hadoop"}
"""Notebooks that run Hadoop, and the lab: JVMs compute for minutes, and layers are built the first time."""
MANY_S = round(patient(1800))
"""A limit on waiting for a cell, or for Jupyter's kernel; nothing is judged by it."""

# Jupyter's own libraries warn of their own changes; its event loops close late.
pytestmark = pytest.mark.filterwarnings("default")


def library(name: str) -> Any:
    """Import one of Jupyter's libraries, which takes seconds: only a worker that needs it waits for that."""
    return import_module(name)


def shown(cell: Any, kind: str) -> list[str]:
    return [output["data"][kind] for output in cell.get("outputs", []) if kind in output.get("data", {})]


def numbers_of_exercises(notebook: Any) -> list[int]:
    return [int(cell.id.split("-")[1]) for cell in notebook.cells if "exercise" in cell.metadata.get("tags", ())]


def cell_of(notebook: Any, name: str) -> Any:
    (found,) = (cell for cell in notebook.cells if cell.id == name)
    return found


def answered(notebook: Any) -> Any:
    """Return the notebook with each exercise answered thrice: not at all, as its solution says, and wrongly."""
    nbformat = library("nbformat")

    tried = nbformat.v4.new_notebook(metadata=notebook.metadata)
    for cell in notebook.cells:
        tried.cells.append(cell)
        exercise = re.fullmatch(r"(exercise-\d+)-check", cell.id)
        if exercise is None:
            continue
        solution = re.search(r"```python\n(.*?)\n```", cell_of(notebook, f"{exercise[1]}-solution").source, re.DOTALL)
        assert solution is not None, "a solution that can be tried"
        answers = {
            "right": solution[1],
            "wrong": cell_of(notebook, f"{exercise[1]}-answer").metadata["fabriclab"]["wrong"],
        }
        for name, code in answers.items():
            tried.cells.append(nbformat.v4.new_code_cell(code, id=f"{exercise[1]}-{name}"))
            tried.cells.append(nbformat.v4.new_code_cell(cell.source, id=f"{exercise[1]}-{name}-check"))
    if any(cell.id == "claims" for cell in notebook.cells):
        tried.cells.append(nbformat.v4.new_code_cell('assert claims["holds"].all(), claims.to_dicts()', id="claimed"))
    return tried


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    """Jupyter's kernel, in which all notebooks are executed one after the other: matplotlib, Polars and IPython take a
    second to load. None finds anything of the one before (`first_cell`), and an error ends none that follows."""
    manager = library("jupyter_client").AsyncKernelManager(kernel_name="python3")
    yield manager
    if manager.has_kernel:
        library("jupyter_core.utils").run_sync(manager.shutdown_kernel)(now=False)


def executed(name: str, directory: Path, kernel: Any) -> Any:
    """Execute a notebook in a directory of its own, its exercises answered; returns it with its outputs."""
    nbclient, nbformat = library("nbclient"), library("nbformat")

    try:
        rootfs = find_artefacts().rootfs
    except EngineError as error:
        pytest.skip(f"not executed: {error}")
    if name in HADOOP:
        skip_unless_asked(rootfs, HADOOP[name])
    (directory / "analysis").mkdir()
    notebook = answered(nbformat.read(ANALYSIS / f"{name}.ipynb", as_version=4))
    notebook.cells.insert(0, nbformat.v4.new_code_cell(first_cell(directory / "analysis"), id="before"))
    # Hadoop's cell makes three runs, half an hour and more where others take the processors; each has its own limits.
    longest_s = None if name in HADOOP else MANY_S
    client = nbclient.NotebookClient(notebook, km=kernel, timeout=longest_s, startup_timeout=MANY_S)
    try:
        client.execute()
    finally:
        if client.kc is not None:
            client.kc.stop_channels()
    return notebook


def test_committed_notebooks_hold_no_outputs() -> None:
    nbformat = library("nbformat")

    assert [
        (path.name, cell.id)
        for path in NOTEBOOKS
        for cell in nbformat.read(path, as_version=4).cells
        if cell.get("outputs") or cell.get("execution_count")
    ] == []


def test_a_notebook_is_written_as_jupyter_writes_it() -> None:
    """So a change that somebody saves from JupyterLab is the change alone."""
    nbformat = library("nbformat")

    otherwise = []
    for path in NOTEBOOKS:
        text, notebook = path.read_text(encoding="utf-8"), nbformat.read(path, as_version=4)
        as_jupyter = nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n"
        if text != as_jupyter or len({cell.id for cell in notebook.cells}) != text.count('"cell_type": '):
            otherwise.append(path.name)
    assert otherwise == []


def test_the_directory_says_which_notebook_is_for_what() -> None:
    readme = (ANALYSIS / "README.md").read_text(encoding="utf-8")
    assert {path.name for path in NOTEBOOKS} == set(re.findall(r"\[([a-z-]+\.ipynb)\]", readme))


@pytest.mark.vm
@pytest.mark.parametrize("name", [path.stem for path in NOTEBOOKS])
@pytest.mark.slow("runs labs, and tries each exercise thrice; the last one waits for the kernel of all to end")
def test_a_notebook_executes_and_checks_its_exercises(name: str, tmp_path: Path, kernel: Any) -> None:
    notebook = executed(name, tmp_path, kernel)
    numbers = numbers_of_exercises(notebook)
    assert len(numbers) >= 3, "three to five exercises"
    assert numbers == list(range(1, len(numbers) + 1))
    for number in numbers:
        said = {
            state: " ".join(shown(cell_of(notebook, f"exercise-{number}{answer}-check"), "text/plain"))
            for state, answer in {"not answered yet": "", "right": "-right", "not yet": "-wrong"}.items()
        }
        assert {
            state: text.startswith(f"Exercise {number}: {state}.") for state, text in said.items()
        } == dict.fromkeys(said, True), said
        assert "Hint: " in said["not yet"]
    pages = [page for cell in notebook.cells for page in shown(cell, "text/html")]
    figures = [figure for cell in notebook.cells for figure in shown(cell, "image/png")]
    assert figures or any("<svg" in page for page in pages), "figures"
    assert any("<svg" in picture for cell in notebook.cells for picture in shown(cell, "image/svg+xml")), "the topology"
