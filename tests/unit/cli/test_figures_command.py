"""`fabriclab figures`: what it measures and writes, what it refuses, and which kernel it measures with."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import fake_machine
import pytest
from command_line import ANSWER, Invoke
from published_labs import PAGE, PUBLISHED
from repository import LABS
from synthetic_run import QUEUE_HEADER, TCP_HEADER

from fabriclab.engine.artefacts import Artefacts
from fabriclab.formats.published_files import FILE
from fabriclab.gallery.published import USUAL_SERIES
from fabriclab.gallery.readme import README


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The in-cast lab with one sender, publishing as `lab` does."""
    found = tmp_path / "mine"
    shutil.copytree(LABS / "incast", found, ignore=shutil.ignore_patterns("published", "*.svg"))
    text = (found / "experiment.yml").read_text()
    (found / "experiment.yml").write_text(text.replace("senders: [1, 2, 4, 8, 16, 32, 48]", "senders: [1]"))
    (found / FILE).write_text(re.sub(r"pictures:\n.*", "", PUBLISHED).replace("senders: 8", "senders: 1"))
    (found / README).write_text(PAGE)
    return found


SAMPLED = "".join(
    f"cat > $job/raw/{name}.csv <<'EOF'\n{header}EOF\n"
    for name, header in (("queues", QUEUE_HEADER), ("tcp", TCP_HEADER))
)
"""Samples that were taken, of nothing."""


def test_the_command_measures_writes_and_compares(
    small: Path,
    invoke: Invoke,
    machine: Callable[[str], Artefacts],
) -> None:
    machine(ANSWER + SAMPLED + fake_machine.END)
    result = invoke("figures", str(small))
    assert result.exit_code == 0, result.output
    assert "## mine" in result.stdout and "2 are new" in result.stdout
    assert Path("runs/figures/moved.md").read_text().startswith("# What moved\n")
    checked = invoke("figures", str(small), "--check")
    assert (checked.exit_code, checked.stdout) == (0, "mine: the READMEs agree with their data\n")
    again = invoke("figures", str(small))
    assert again.exit_code == 0
    assert "2 the same to the bit" in again.stdout
    assert "2 of 2 points are done already" in again.stderr
    (small / README).write_text((small / README).read_text().replace("| CUBIC |", "| Cubic |"))
    assert invoke("figures", str(small), "--check").exit_code == 1


def test_one_matrix_is_measured_and_the_rest_stays_superseded(
    small: Path,
    invoke: Invoke,
    machine: Callable[[str], Artefacts],
) -> None:
    machine(ANSWER + SAMPLED + fake_machine.END)
    text = (small / FILE).read_text().replace("matrices:\n", "superseded: older hosts\n\nmatrices:\n  newreno: {}\n")
    other = "tables:\n  other: {matrices: [newreno], rows: [variant], cells: [{metric: goodput_bps, unit: Mbps}]}\n"
    text = text.replace("tables:\n", other)
    (small / FILE).write_text(text)
    page = f"<!-- superseded -->\n\n<!-- end -->\n\n{PAGE}\n<!-- table: other -->\n\n<!-- end -->\n"
    (small / README).write_text(page)
    alone = invoke("figures", str(small), "--matrix", "demo")
    assert alone.exit_code == 2 and "newreno" in alone.output
    assert invoke("figures", str(small)).exit_code == 0
    assert "superseded" not in (small / FILE).read_text() + (small / README).read_text()
    (small / FILE).write_text(text)
    (small / README).write_text(page)
    result = invoke("figures", str(small), "--matrix", "demo")
    assert result.exit_code == 0, result.output
    assert "newreno" not in result.output
    assert (small / FILE).read_text() == text
    assert "are to be measured again: older hosts." in (small / README).read_text()
    assert "| CUBIC |" in (small / README).read_text()
    unknown = invoke("figures", str(small), "--matrix", "buffer")
    assert unknown.exit_code == 2
    assert "--matrix buffer:" in unknown.output and "it has newreno, demo" in " ".join(unknown.output.split())
    nameless = invoke("figures", "--matrix", "demo")
    assert nameless.exit_code == 2 and "is for one lab" in nameless.output


def test_a_run_that_fails_publishes_nothing(
    small: Path,
    invoke: Invoke,
    machine: Callable[[str], Artefacts],
) -> None:
    machine("exit 1\n")
    result = invoke("figures", str(small))
    assert result.exit_code != 0
    assert "are not done" in result.output
    assert (small / README).read_text() == PAGE


def test_a_page_without_a_place_is_named_before_anything_runs(
    small: Path,
    invoke: Invoke,
    machine: Callable[[str], Artefacts],
) -> None:
    machine("exit 1\n")
    (small / README).write_text(PAGE.replace("<!-- table: goodput -->", ""))
    result = invoke("figures", str(small))
    assert result.exit_code != 0
    assert "the region of 'table: goodput' occurs 0 times" in " ".join(result.output.split())
    assert not Path("runs/figures").exists()


def test_a_lab_is_measured_with_the_kernel_that_it_names(
    small: Path,
    invoke: Invoke,
    machine: Callable[[str], Artefacts],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine("exit 1\n")
    (small / FILE).write_text('kernel_series: "7.3"\n' + (small / FILE).read_text())
    refused = invoke("figures", str(small))
    assert refused.exit_code != 0
    assert "mine is measured with Linux 7.3: export KERNEL_SERIES=7.3" in " ".join(refused.output.split())
    monkeypatch.setenv("KERNEL_SERIES", "7.3")
    assert "mine is measured with" not in invoke("figures", str(small)).output
    shutil.copytree(small, small.parent / "usual")
    (small.parent / "usual" / FILE).write_text((small / FILE).read_text().partition("\n")[2])
    others = invoke("figures", str(small.parent / "usual"))
    assert "usual is measured with Linux 6.12: unset KERNEL_SERIES" in " ".join(others.output.split())
    monkeypatch.setenv("KERNEL_SERIES", USUAL_SERIES)
    assert "is measured with" not in invoke("figures", str(small.parent / "usual")).output
    monkeypatch.setattr("fabriclab.cli.commands.figures.known_labs", lambda: [small])
    monkeypatch.delenv("KERNEL_SERIES")
    left_out = invoke("figures")
    assert (left_out.exit_code, left_out.stdout) == (0, "")
    assert "left out: mine is measured with Linux 7.3: export KERNEL_SERIES=7.3" in " ".join(left_out.stderr.split())
    assert (small / README).read_text() == PAGE


def test_the_usual_kernel_is_that_which_is_built() -> None:
    script = (LABS.parent / "images/machine/kernel/build.sh").read_text()
    assert re.findall(r"^default_series=(.*)$", script, re.MULTILINE) == [USUAL_SERIES]


def test_a_cluster_that_is_none_is_named_before_anything_runs(small: Path, invoke: Invoke) -> None:
    result = invoke("figures", str(small), "--on", "nowhere")
    assert result.exit_code == 2
    assert "nowhere" in result.output and "dask://" in result.output
    assert (small / README).read_text() == PAGE


def test_a_lab_that_publishes_nothing_is_named(tmp_path: Path, invoke: Invoke) -> None:
    result = invoke("figures", str(LABS / "hello-world"))
    assert result.exit_code == 2
    shutil.copytree(LABS / "incast", tmp_path / "plain", ignore=shutil.ignore_patterns("published*"))
    result = invoke("figures", "plain")
    assert result.exit_code == 2
    assert "publishes nothing; published.yml lists what a lab publishes" in " ".join(result.output.split())
