"""What pages of docs/ and the in-cast lab's page show of Python is executed as it stands there."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

import fabriclab
from fabriclab.engine.artefacts import EngineError, find_artefacts

ROOT = Path(__file__).parents[2]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, where the machine is built."""
    try:
        find_artefacts()
    except EngineError as error:
        pytest.skip(f"not executed: {error}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def examples(page: str) -> str:
    """Return the Python of a page, the line numbers those of the page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [
        (text.count("\n", 0, block.start(1)), block[1]) for block in re.finditer(r"```python\n(.*?)```", text, re.S)
    ]
    assert blocks, f"{page} shows no Python"
    lines = [""] * text.count("\n")
    for first, block in blocks:
        lines[first : first + block.count("\n")] = block.splitlines()
    return "\n".join(lines)


@pytest.mark.vm
@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize("page", ["docs/python.md", "docs/live.md", "docs/compare.md", "labs/incast/README.md"])
@pytest.mark.slow("runs all of a page's Python, which runs and sweeps labs")
def test_the_examples_of_a_page_run(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(examples(page), str(ROOT / page), "exec"), {"__name__": "page"})
    assert "complete" in capsys.readouterr().out


@pytest.mark.vm
@pytest.mark.usefixtures("desk")
@pytest.mark.slow("runs a lab twice")
def test_two_runs_at_once_in_threads_are_the_same_run() -> None:
    runs: list[fabriclab.Run] = []

    def one() -> None:
        runs.append(fabriclab.run("incast", set={"senders": 4, "rounds": 2}))

    threads = [threading.Thread(target=one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = runs
    assert first.directory != second.directory
    assert first.flows.collect().equals(second.flows.collect())
