"""The benchmark of AI training fabrics on a lab: its tests, one run after the other."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fabriclab.api.cancel import HasIsSet, carried_out
from fabriclab.api.engine import fit_engine
from fabriclab.api.ingest import ingest_run_logs
from fabriclab.api.lab import Lab, PathLike, Settings, check_seed, loaded, written_settings
from fabriclab.api.progress import Begun, Ended, ProgressCallback, RunTeller, ignored
from fabriclab.api.run import new_run_directory
from fabriclab.api.validation import results_if_possible
from fabriclab.api.warnings import sentences_before_runs
from fabriclab.benchmark import BenchmarkTest, Scale, tests_of
from fabriclab.benchmark.document import Outcome, to_json, to_markdown
from fabriclab.engine.interrupt import Interrupt
from fabriclab.errors import ArgumentError
from fabriclab.files import write_all
from fabriclab.formats.plan.model import Plan
from fabriclab.keys.wording import did_you_mean
from fabriclab.resolve import Resolver
from fabriclab.runs import RunContext, RunResult, run_point
from fabriclab.runs.claim import claimed
from fabriclab.validation import Bench

REPORT = "benchmark.md"
DOCUMENT = "benchmark.json"
_MEASURED = ("complete", "limit")
"""Ways for a run to end after which what it measured counts."""


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark found."""

    lab: str
    directory: Path
    """Holds the report and a run directory for each test."""
    outcomes: tuple[Outcome, ...]
    interrupted: bool
    """Whether it was stopped before its end."""

    @property
    def reached(self) -> bool:
        """Whether every test ran to its end, and every reference target was measured and reached."""
        if self.interrupted or any(one.anomaly for one in self.outcomes):
            return False
        return all(kpi.reached for one in self.outcomes for kpi in one.kpis if kpi.reference is not None)


def bench_ai(
    lab: Lab | PathLike,
    *,
    scale: Scale | None = None,
    only: Sequence[str] = (),
    set: Settings | None = None,
    seed: int | None = None,
    out: PathLike | None = None,
    stall_s: float = 120.0,
    trust: bool = False,
    progress: ProgressCallback | None = None,
    cancel: Interrupt | HasIsSet | None = None,
) -> Benchmark:
    """Run the benchmark of AI training fabrics on a lab's nodes and links (`fabriclab.benchmark`).

    The lab's own traffic, events and checks stay out of it. `only` names the tests to run, by default all. The report
    is `benchmark.md` in the directory, with the sections that the draft asks for; `benchmark.json` has the same for
    programs. All other arguments, and the effect of Ctrl-C, are those of `run`. Raises LabError, ConsentError,
    ArgumentError, EngineError and OSError as `run` does.
    """
    check_seed(seed)
    chosen, tell, sizes = loaded(lab), progress or ignored, scale or Scale()
    settings = written_settings(chosen, set)
    plan = Resolver(chosen.written).resolve(settings, seed)
    bench = Bench(plan, plan, chosen.written.apply(settings, seed).experiment.validation)
    tests = _chosen(tests_of(bench, sizes), only)
    made_from = fit_engine("vm", chosen.written, [test.plan for test in tests], trust)
    directory = Path(out) if out is not None else new_run_directory(chosen.name, "bench-ai-{time}")
    with claimed(directory, ours=out is None):
        if any(directory.iterdir()):
            raise ArgumentError("{out} {0} already exists; choose another one", directory)
        tell(
            Begun(
                directory, "vm", tuple(sentences_before_runs(chosen.written.topology, [plan.warnings])), len(tests), 0
            )
        )

        def work(interrupt: Interrupt) -> Benchmark:
            context = RunContext(
                chosen.directory, made_from, tuple(sys.argv), ingest_run_logs, interrupt=interrupt, stall_s=stall_s
            )
            outcomes = []
            for number, test in enumerate(tests, start=1):
                if interrupt.requested:
                    break
                outcomes.append(_run(test, directory, context, tell, (number, len(tests))))
                _write(directory, chosen.name, plan, sizes, outcomes)
            return Benchmark(chosen.name, directory, tuple(outcomes), interrupted=interrupt.requested)

        return carried_out(work, cancel)


def _chosen(tests: Sequence[BenchmarkTest], only: Sequence[str]) -> list[BenchmarkTest]:
    """Return the tests that are asked for. A name may be that of several: `all-reduce`."""
    names = [test.name for test in tests]
    for name in only:
        if not any(each.startswith(name) for each in names):
            raise ArgumentError("{only} {0!r}: no such test; {1}", name, did_you_mean(name, names))
    return [test for test in tests if not only or any(test.name.startswith(name) for name in only)]


def _run(
    test: BenchmarkTest, directory: Path, context: RunContext, tell: ProgressCallback, place: tuple[int, int]
) -> Outcome:
    teller = RunTeller(test.name, test.plan, tell)
    context = replace(context, ingest=teller.around(context.ingest))
    result = run_point(test.plan, directory / test.name, context, teller.event)
    tell(Ended(test.name, result, *place))
    results = results_if_possible(result.directory)
    kpis = () if results is None else tuple(test.judge(results))
    return Outcome(test.name, test.section, test.name, kpis, _anomaly(result, measured=results is not None))


def _anomaly(result: RunResult, *, measured: bool) -> str:
    if result.status == "complete" and measured:
        return ""
    message = result.message.splitlines()[0] if result.message else ""
    if result.status in _MEASURED and measured:
        return f"not everything was done at the end of the run's time ({message or result.status})"
    return message or result.status


def _write(directory: Path, lab: str, plan: Plan, scale: Scale, outcomes: Sequence[Outcome]) -> None:
    """Write what there is: an interruption, or a crash, keeps what was measured."""
    write_all(
        {
            directory / REPORT: to_markdown(lab, plan, scale, outcomes),
            directory / DOCUMENT: to_json(lab, plan, scale, outcomes),
        }
    )
