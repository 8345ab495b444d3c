"""The Python API with a stand-in for the machine: names, types, errors, progress, cancel, labs in Python."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type

import fake_machine
import pair_lab
import pytest
from repository import ROOT

import fabriclab
from fabriclab.engine.interrupt import Interrupt

if TYPE_CHECKING:
    # What a type checker sees through the lazy names, which `make check` asks: mypy as a test took as long again.
    from polars import LazyFrame

    from fabriclab.api.measured import Run
    from fabriclab.formats.plan.model import Plan

    _RUN = fabriclab.run("incast", set={"senders": 16})
    assert_type(_RUN, Run)
    assert_type(_RUN.queues, LazyFrame)
    assert_type(fabriclab.plan("incast"), Plan)
    fabriclab.run("incast", sed=1)  # type: ignore[call-arg]  # mypy reports that nothing is ignored, if this is no error

COMPLETE = fake_machine.EPOCH + "echo 6.12.43 > $job/collect/kernel-release\n" + fake_machine.END
LAB = pair_lab.EXPERIMENT + "matrix: {demo: {rounds: [1, 2]}}\n"


@pytest.fixture
def lab() -> fabriclab.Lab:
    return fabriclab.Lab.from_yaml(pair_lab.TOPOLOGY, LAB)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def use(body: str) -> None:
        found = fake_machine.artefacts(tmp_path, body)
        monkeypatch.setattr("fabriclab.api.engine.find_artefacts", lambda: found)

    monkeypatch.chdir(tmp_path)
    return use


def test_importing_the_package_loads_nothing() -> None:
    script = "import sys, fabriclab; print(sorted(name for name in sys.modules if name.startswith('fabriclab.')))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_names_are_those_that_a_type_checker_sees() -> None:
    seen = re.findall(r"^    from (\S+) import (\w+) as \2$", Path(fabriclab.__file__).read_text(), re.M)
    assert {name for _, name in seen} == set(fabriclab._MODULE_OF)
    for module, name in seen:
        assert module == f"fabriclab.{fabriclab._MODULE_OF[name]}"
        assert getattr(fabriclab, name).__doc__ or name == "ProgressEvent" or name == "Setting"


def test_every_public_name_is_described() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert [name for name in fabriclab._MODULE_OF if not re.search(rf"\b{name}\b", page)] == ["Setting"]


def test_packages_do_not_hide_functions() -> None:
    script = (
        "import fabriclab, fabriclab.cli.commands.run, fabriclab.cli.commands.sweep; print(callable(fabriclab.run))"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "True\n"


def test_a_lab_changed_and_written_is_the_same_lab(lab: fabriclab.Lab, tmp_path: Path) -> None:
    changed = lab.replace("switches.default.buffer", "128 KB").replace("topology.links.1.vars", {"rate": "10 Gbps"})
    assert fabriclab.plan(lab) != fabriclab.plan(changed)
    assert fabriclab.plan(changed.write(tmp_path / "mine")) == fabriclab.plan(changed)
    with pytest.raises(fabriclab.ArgumentError, match="force=True replaces it"):
        changed.write(tmp_path / "mine")
    assert changed.remove("matrix").matrices == ()
    assert fabriclab.plan(lab.with_settings({"rounds": 7})) == fabriclab.plan(lab, set={"rounds": 7})


def test_mistakes_name_the_place_in_python(lab: fabriclab.Lab) -> None:
    def mistake_of(make: Callable[[], object]) -> tuple[str, int | None, str]:
        with pytest.raises(fabriclab.LabError) as caught:
            make()
        (mistake,) = caught.value.mistakes
        return mistake.file, mistake.line, mistake.remedy

    wrong = LAB.replace("64 KB", "64")
    unit = "write one of B, KB, MB, GB, KiB, MiB, GiB, such as '64 KB', or 'none'"
    assert mistake_of(lambda: fabriclab.Lab.from_yaml(pair_lab.TOPOLOGY, wrong)) == ("experiment", 2, unit)
    place = "replace('switches.default.buffer')"
    assert mistake_of(lambda: lab.replace("switches.default.buffer", 64)) == (place, None, unit)
    assert mistake_of(lambda: fabriclab.plan(lab, set={"rounds": 0}))[:2] == ("set={'rounds': 0}", None)
    assert mistake_of(lambda: lab.replace("topology.links.5.mtu", 1500))[2] == "it has 0 to 1"
    assert mistake_of(lambda: lab.replace("title.of", "x"))[0] == "replace('title.of')"
    assert mistake_of(lambda: lab.replace("limit", object()))[2].startswith("must be a text, a number")
    with pytest.raises(KeyError, match="did you mean 'title'"):
        lab.remove("titel")
    with pytest.raises(fabriclab.ArgumentError, match=r"^seed -1: must be a whole number"):
        fabriclab.plan(lab, seed=-1)


def test_a_run_that_fails_says_so(lab: fabriclab.Lab, machine: Callable[[str], None]) -> None:
    machine("echo Kernel panic; exit 3\n")
    with pytest.raises(fabriclab.RunFailed, match="crashed: the virtual machine died") as caught:
        fabriclab.run(lab, out="out")
    assert (caught.value.status, caught.value.directory) == ("crashed", Path("out"))
    assert caught.value.run.directory == Path("out")
    with pytest.raises(fabriclab.ArgumentError, match="replace it with force=True"):
        fabriclab.run(lab, out="out")


def test_progress_is_told_and_nothing_is_printed(
    lab: fabriclab.Lab, machine: Callable[[str], None], capfd: pytest.CaptureFixture[str]
) -> None:
    machine(COMPLETE)
    told: list[fabriclab.ProgressEvent] = []
    run = fabriclab.run(lab, out="out", progress=told.append)
    begun, *progress, ended = told
    assert isinstance(begun, fabriclab.Begun) and (begun.directory, begun.points, begun.done) == (Path("out"), 1, 0)
    stages = [event.stage for event in progress if isinstance(event, fabriclab.Progress)]
    assert stages == ["traffic", "traffic"] or stages == ["boot", "traffic", "traffic"]
    assert isinstance(ended, fabriclab.Ended) and (ended.done, ended.result.status) == (1, "complete")
    assert (run.status, run.summary["flows_incomplete"]) == ("complete", 1)
    assert capfd.readouterr() == ("", "")


def test_a_sweep_goes_on_where_it_was_left(lab: fabriclab.Lab, machine: Callable[[str], None]) -> None:
    machine(COMPLETE)
    first = fabriclab.sweep(lab, jobs=1)
    assert (list(first.statuses), len(first.runs)) == (["complete", "complete"], 2)
    told: list[fabriclab.ProgressEvent] = []
    again = fabriclab.sweep(lab, progress=told.append)
    assert [(event.points, event.done) for event in told if isinstance(event, fabriclab.Begun)] == [(2, 2)]
    assert len(told) == 1
    assert again.summary.select("rounds", "seed", "status").collect().rows() == [(1, 1, "complete"), (2, 1, "complete")]
    assert again.flows.collect().height == 3


WAITING = fake_machine.EPOCH + fake_machine.STOPPABLE


@pytest.mark.parametrize("kind", [fabriclab.Cancel, threading.Event])
def test_a_run_is_stopped_from_another_thread(
    lab: fabriclab.Lab, machine: Callable[[str], None], kind: type[Interrupt] | type[threading.Event]
) -> None:
    machine(WAITING)
    cancel = kind()

    def stop(event: fabriclab.ProgressEvent) -> None:
        if isinstance(event, fabriclab.Progress) and event.stage == "traffic":
            cancel.request() if isinstance(cancel, Interrupt) else cancel.set()

    assert fabriclab.run(lab, progress=stop, cancel=cancel).status == "interrupted"


def test_control_c_ends_a_run_in_order(lab: fabriclab.Lab, machine: Callable[[str], None]) -> None:
    machine(WAITING)

    def press(event: fabriclab.ProgressEvent) -> None:
        if isinstance(event, fabriclab.Progress) and event.stage == "traffic":
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        fabriclab.run(lab, out="out", progress=press)
    assert fabriclab.open_run("out").status == "interrupted"


def test_containers_are_deployed_from_files_only(lab: fabriclab.Lab, tmp_path: Path) -> None:
    right = r"lab was {} in Python, .*; .* write the lab first, `lab.write\(DIR\)`, and run DIR"
    with pytest.raises(fabriclab.ArgumentError, match=right.format("made")):
        fabriclab.run(lab, engine="containerlab")
    lab.write(tmp_path)
    changed = fabriclab.load_lab(tmp_path).replace("topology.links.0.vars.rate", "2 Gbps")
    with pytest.raises(fabriclab.ArgumentError, match=right.format("changed")):
        fabriclab.run(changed, engine="containerlab")


def test_a_lab_is_generated_and_written(tmp_path: Path) -> None:
    generated = fabriclab.generate(fabriclab.Dumbbell(left=3, bottleneck_rate="100 Mbps", name="bell"))
    assert (generated.name, generated.hosts, generated.switches, generated.links) == ("bell", 5, 2, 6)
    assert fabriclab.plan(generated.lab).lab == "bell"
    assert [file.name for file in generated.write(tmp_path)] == ["topology.clab.yml", "experiment.yml"]
    with pytest.raises(fabriclab.ArgumentError, match="already exists; force=True replaces it"):
        generated.write(tmp_path)
    assert [file.name for file in generated.write(tmp_path, force=True)] == ["topology.clab.yml"]
    with pytest.raises(fabriclab.ArgumentError, match=r"^hosts_per_edge 0: "):
        fabriclab.generate(fabriclab.FatTree(hosts_per_edge=0))


def test_a_lab_is_begun_with_another(tmp_path: Path) -> None:
    made = fabriclab.new(tmp_path / "mine", "incast")
    assert (made.origin, made.generated) == ("incast", None)
    assert fabriclab.load_lab(made.directory).name == "mine"
    assert fabriclab.new(tmp_path / "bell", "dumbbell").generated is not None
    with pytest.raises(fabriclab.ArgumentError, match="already exists; name a new directory"):
        fabriclab.new(tmp_path / "mine", "incast")


def test_a_lab_is_drawn(lab: fabriclab.Lab, tmp_path: Path) -> None:
    picture = fabriclab.graph(lab)
    assert picture.name == "pair"
    assert picture.write(tmp_path / "pair.svg").read_text() == picture.svg == picture._repr_svg_()


def test_a_flow_file_is_converted(tmp_path: Path) -> None:
    file = tmp_path / "flows.txt"
    file.write_text("1\n0 1 3 100 2 2.0\n")
    converted = fabriclab.convert(file, "hpcc", hosts=["a", "b"])
    assert (converted.hosts, converted.raised, converted.flows.collect()["src"].to_list()) == (("a", "b"), 1, ["a"])
    assert "".join(converted.lines()).startswith("# fabriclab-trace-1\n")
    with pytest.raises(fabriclab.ArgumentError, match=r"^hosts 'a,a': 'a' twice"):
        fabriclab.convert(file, "hpcc", hosts="a,a")
    wrong: Any = "roc"
    with pytest.raises(fabriclab.ArgumentError, match=r"^transport 'roc': not of a trace; did you mean 'roce'"):
        fabriclab.convert(file, "hpcc", transport=wrong)


def test_this_host_is_looked_at() -> None:
    report = fabriclab.doctor()
    assert {"fabriclab", "processor", "memory"} <= {finding.name for finding in report.findings}
    assert report.labs_can_run == (not report.remedies)
