"""A lab in several machines, in step: the bits do not tell how many, and all end together."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from pathlib import Path

import pytest
from cores_lab import SHARED, STOCK, plan_of, write_lab
from digests import digests
from patience import wait_until
from processes import live_processes
from vm import Vm, ignore

from fabriclab.engine.boundary import what_binds
from fabriclab.engine.events import Event, EventCallback
from fabriclab.engine.interrupt import Interrupt
from fabriclab.formats.plan.model import Plan
from fabriclab.results import ingest_run
from fabriclab.runs import RunContext, RunResult, run_point
from fabriclab.runs.parts import cut_for

pytestmark = pytest.mark.vm


def run(
    vm: Vm, lab: Path, plan: Plan, cores: int, on_event: EventCallback = ignore, interrupt: Interrupt | None = None
) -> RunResult:
    """Run a plan on so many cores; the run directory is named by their number."""
    context = RunContext(
        *(lab, vm.artefacts, ("test",), ingest_run),
        interrupt=interrupt or Interrupt(),
        cut=cut_for(plan, cores, lab),
    )
    return run_point(plan, vm.directory / f"run-{cores}", context, on_event)


def check_nothing_is_left(vm: Vm) -> None:
    wait_until(lambda: live_processes(str(vm.directory)) == [])
    assert not list(Path("/dev/shm").glob("fabriclab-wires*"))


LOSES_A_SYN, LOSES_NONE = 2, 4
"""Seeds with a shared buffer. After the first one's loss nothing happens for a second of virtual time. More machines
than processors spin through it for ten seconds of theirs: it is left to two, and sampled less often."""


@pytest.mark.parametrize(
    ("switches", "seed", "sampled", "most"),
    [(STOCK, 1, "100 us", 3), (SHARED, LOSES_NONE, "100 us", 3), (SHARED, LOSES_A_SYN, "1 ms", 2)],
    ids=["stock", "shared", "lost-syn"],
)
@pytest.mark.slow("boots one machine, then two, then more for one lab")
def test_the_bits_are_the_same_for_every_number_of_machines(
    vm: Vm, tmp_path: Path, switches: str, seed: int, sampled: str, most: int
) -> None:
    lab = write_lab(tmp_path / "lab", switches, sampled=sampled)
    plan = plan_of(lab, seed)
    seen = []
    for cores in range(1, most + 1):
        phases: list[str] = []

        def note(event: Event, phases: list[str] = phases) -> None:
            if event.name in ("phase", "epoch", "end"):
                phases.append(event.text("phase") or event.name)

        result = run(vm, lab, plan, cores, note)
        assert (result.status, result.message) == ("complete", "")
        assert phases == ["nodes", "links", "configure", "daemons", "probes", "traffic", "epoch", "collect", "end"]
        seen.append(digests(vm.directory / f"run-{cores}"))
    assert set(seen[0]) >= {"flows.parquet", "queues.parquet", "tcp.parquet", "interfaces.parquet"}
    assert seen == [seen[0]] * most
    assert (result.virtual_ns > 10**9) is (seed == LOSES_A_SYN and switches is SHARED)
    manifest = json.loads((vm.directory / f"run-{most}" / "manifest.json").read_text())
    assert manifest["machines"] == most
    assert manifest["boundary"] == what_binds(vm.artefacts.tools)
    check_nothing_is_left(vm)


def endless(tmp_path: Path) -> tuple[Path, Plan]:
    lab = write_lab(tmp_path / "lab")
    text = (lab / "experiment.yml").read_text()
    (lab / "experiment.yml").write_text(text.replace("receiver: h5, stop: 20 ms", "receiver: h5, stop: 60 s"))
    return lab, plan_of(lab)


def test_a_machine_that_is_killed_ends_the_run(vm: Vm, tmp_path: Path) -> None:
    lab, plan = endless(tmp_path)

    def kill(event: Event) -> None:
        if event.name == "progress":
            for process in live_processes("fabriclab_part=1"):
                if process in live_processes(str(vm.directory)):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)

    result = run(vm, lab, plan, 2, kill)
    assert result.status == "crashed"
    assert "machine 1: the virtual machine died" in result.message
    check_nothing_is_left(vm)


def test_an_interrupt_ends_all_machines_in_order(vm: Vm, tmp_path: Path) -> None:
    lab, plan = endless(tmp_path)
    interrupt = Interrupt()

    def stop(event: Event) -> None:
        if event.name == "progress" and not interrupt.requested:
            interrupt.request()

    result = run(vm, lab, plan, 2, stop, interrupt)
    assert result.status == "interrupted"
    flows = vm.flows("run-2")
    assert {flow["status"] for flow in flows if flow["class"] == "long"} == {"stopped"}
    check_nothing_is_left(vm)


def test_the_limit_of_virtual_time_is_the_same_in_all(vm: Vm, tmp_path: Path) -> None:
    lab, plan = endless(tmp_path)
    short = plan.model_copy(update={"limit_ns": 15_000_000})
    seen = []
    for cores in (1, 2):
        assert run(vm, lab, short, cores).status == "limit"
        seen.append(digests(vm.directory / f"run-{cores}"))
    assert seen[0] == seen[1]


def test_what_fails_in_one_machine_fails_the_run(vm: Vm, tmp_path: Path) -> None:
    lab, plan = endless(tmp_path)
    # Its replay can't write its log there.
    (vm.directory / "run-2" / "raw" / "flows" / "h5.csv").mkdir(parents=True)
    context = RunContext(*(lab, vm.artefacts, ("test",), lambda _: None), cut=cut_for(plan, 2, lab))
    result = run_point(plan, vm.directory / "run-2", context, ignore)
    assert result.status == "failed"
    assert "replay@h5" in result.message
    check_nothing_is_left(vm)
