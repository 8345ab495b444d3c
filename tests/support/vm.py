"""Boots the real machine for tests."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from patience import patient
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.compile import machine_memory_bytes, needed_layers
from fabriclab.compile.cut import one_part
from fabriclab.compile.wires import BEGIN_NS
from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.cpu import claim_cpu
from fabriclab.engine.events import Event, EventCallback
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.kernel_needs import check_kernel
from fabriclab.engine.layers import with_layers
from fabriclab.engine.shared_memory import Shared
from fabriclab.engine.virtual import Machine, Wired, run_machine
from fabriclab.engine.watch import Outcome
from fabriclab.formats.plan.model import Plan
from fabriclab.results import ingest_run
from fabriclab.runs import RunContext, RunResult, run_point
from fabriclab.runs.directory import write_inputs

Job = Mapping[str, Any]


def ignore(_: Event) -> None:
    pass


def skip_without(artefacts: Artefacts, plan: Plan) -> None:
    """Skip the test where the machine's kernel lacks what a plan asks for."""
    try:
        check_kernel(artefacts, [plan])
    except EngineError as error:
        pytest.skip(str(error))


@dataclass(frozen=True)
class Vm:
    """The machine, and a place for its runs."""

    artefacts: Artefacts
    directory: Path

    def run(
        self, plan: Plan, name: str = "run", on_event: EventCallback = ignore, interrupt: Interrupt | None = None
    ) -> RunResult:
        """Run a plan as `fabriclab run` does."""
        context = RunContext(self.directory, self.artefacts, ("test",), ingest_run, interrupt=interrupt or Interrupt())
        return run_point(plan, self.directory / name, context, on_event)

    def with_packages(self, plan: Plan) -> Vm:
        """Return the machine with the layers that a plan's programs need; the calling test is skipped where Debian's
        archive, from which they come, can't be reached."""
        try:
            return Vm(with_layers(self.artefacts, [needed_layers(plan)]), self.directory)
        except EngineError as error:
            pytest.skip(str(error))

    def boot(
        self,
        plan: Plan,
        traffic: Sequence[Job],
        name: str = "run",
        stall_s: float | None = None,
        *,
        sampled: bool = False,
    ) -> Outcome:
        """Boot a plan's network with other programs in place of its traffic; without the plan's probes,
        unless it is to be sampled."""
        directory = self.directory / name
        write_inputs(plan, self.directory, directory, cut=one_part(plan))
        job = json.loads((directory / "machine" / "job.json").read_text())
        (directory / "machine" / "job.json").write_text(
            json.dumps({**job, "traffic": traffic, "probes": job["probes"] if sampled else []})
        )
        with claim_cpu() as cpu:
            machine = Machine(
                *(self.artefacts, directory, plan.seed, machine_memory_bytes(plan), cpu, stall_s or patient(120)),
                wired=Wired(0, Shared(1, BEGIN_NS)),
            )
            return run_machine(machine, ignore, Interrupt())

    def summary(self, name: str = "run") -> dict[str, Any]:
        """Return the metrics of a run."""
        metrics: dict[str, Any] = json.loads((self.directory / name / "summary.json").read_text())["metrics"]
        return metrics

    def flows(self, name: str = "run") -> list[dict[str, Any]]:
        """Return the rows of flows.parquet."""
        return pl.read_parquet(self.directory / name / "flows.parquet").to_dicts()

    def tcp(self, name: str = "run") -> pl.DataFrame:
        """Return tcp.parquet."""
        return pl.read_parquet(self.directory / name / "tcp.parquet")


def fabriclab_command() -> list[str]:
    """Return how `fabriclab` is called."""
    return [sys.executable, "-m", "fabriclab"]


def fabriclab(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the command line in a directory, as a user does."""
    return subprocess.run([*fabriclab_command(), *arguments], cwd=directory, capture_output=True, text=True)


def called(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Call the command line in a directory, but in this process: starting one takes longer than some
    of the machine's runs."""
    with contextlib.chdir(directory):
        result = CliRunner().invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout, result.stderr)
