"""The stages of a validation, one run after the other, and their findings."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from fabriclab.api.cancel import HasIsSet, carried_out
from fabriclab.api.engine import fit_engine
from fabriclab.api.idle_wishes import refuse_idle_wishes
from fabriclab.api.ingest import ingest_run_logs
from fabriclab.api.lab import Lab, PathLike, Settings, check_seed, loaded, written_settings
from fabriclab.api.progress import Begun, Ended, ProgressCallback, RunTeller, ignored
from fabriclab.api.run import new_run_directory
from fabriclab.api.warnings import sentences_before_runs
from fabriclab.engine.interrupt import Interrupt
from fabriclab.errors import ArgumentError
from fabriclab.formats.stages import PARTS, STAGES
from fabriclab.keys.wording import did_you_mean, listed
from fabriclab.lab.network.own_configuration import Contradiction, NotEmulated
from fabriclab.lab.network.topology import Topology
from fabriclab.resolve import Resolver
from fabriclab.resolve.points import plans_of_points, settings_of_points
from fabriclab.resolve.where_clauses import refuse_idle_clauses
from fabriclab.runs import RunContext, RunResult, run_point
from fabriclab.runs.claim import claimed
from fabriclab.runs.engines import EngineName, engine_name, has_stock_qdiscs_only, plan_for
from fabriclab.runs.point import remove_run
from fabriclab.validation import (
    Bench,
    Stage,
    ValidationFinding,
    all_pass,
    first_stage,
    later_stages,
    not_here,
    observed,
    of_configuration,
    unmeasured,
    why_undecided,
    with_causes,
    with_reasons,
)

if TYPE_CHECKING:
    from fabriclab.results import Results

_RUN = "run"
"""The check that a stage's run ends by itself."""
_STARVED = "starved"
_MEASURED = ("complete", "limit", _STARVED)
"""Ways for a run to end after which what it measured counts: flows that never end are findings, not accidents."""
_AS_IT_IS = "reach-as-it-is"
_NOTHING_ASKED = "`validation` names no pair of nodes, no session and no route to check"


@dataclass(frozen=True)
class Validation:
    """The findings of a validation's stages."""

    lab: str
    directory: Path
    """Holds a run directory for each stage."""
    findings: tuple[ValidationFinding, ...]
    """Each with what was checked, where, what was expected, what was measured, and the verdict."""
    interrupted: bool
    """Whether it was stopped before its end: then there is no verdict."""

    @property
    def passed(self) -> bool:
        """Whether the validation reached its end without a failure, and judged all that it measured."""
        return not self.interrupted and all_pass(self.findings)

    @property
    def why_undecided(self) -> str | None:
        """Why there is no verdict although nothing failed: what acts in a switch and is not emulated. None: there is
        one."""
        return why_undecided(self.findings)


def validate(
    lab: Lab | PathLike,
    *,
    only: Sequence[str] = (),
    set: Settings | None = None,
    seed: int | None = None,
    out: PathLike | None = None,
    force: bool = False,
    engine: EngineName = "vm",
    stall_s: float = 120.0,
    trust: bool = False,
    progress: ProgressCallback | None = None,
    cancel: Interrupt | HasIsSet | None = None,
) -> Validation:
    """Deploy a lab and check it as an operator would.

    The stages check sessions, routes, pairs of hosts, MTU, queues, marks, losses and failures. `only` names the stages
    to run, by default all. All other arguments, and the effect of Ctrl-C, are those of `run`. A failed check raises
    nothing: it is among the findings. Raises LabError, ConsentError, ArgumentError, EngineError and OSError as `run`
    does.
    """
    for name in only:
        if name not in STAGES:
            raise ArgumentError("{only} {0!r}: no such stage; {1}", name, did_you_mean(name, STAGES))
    check_seed(seed)
    chosen, tell = loaded(lab), progress or ignored
    settings = written_settings(chosen, set)
    resolver = Resolver(chosen.written)
    plan = plan_for(resolver.resolve(settings, seed), engine)
    refuse_idle_clauses(chosen.written, resolver, [plan.parameters])
    wanted = chosen.written.apply(settings, seed).experiment.validation
    bench = Bench(plan, plan, wanted, *_of_files(chosen.written.topology, engine))
    refuse_idle_wishes(chosen.written, chain([plan], plans_of_points(resolver, settings_of_points(chosen.written))))
    _refuse_absent_stages(bench, only)
    made_from = fit_engine(engine, chosen.written, [plan], trust)
    directory = Path(out) if out is not None else new_run_directory(chosen.name, "validate-{time}")
    with claimed(directory, ours=out is None):
        _make_room(directory, force)
        warnings = sentences_before_runs(chosen.written.topology, [plan.warnings])
        tell(Begun(directory, engine, tuple(warnings), _runs(bench, only), 0))

        def work(interrupt: Interrupt) -> Validation:
            context = RunContext(
                chosen.directory, made_from, tuple(sys.argv), ingest_run_logs, interrupt=interrupt, stall_s=stall_s
            )
            stages = Stages(directory, context, tell)
            findings = tuple(stages.carry_out(bench, only))
            if not interrupt.requested:
                return Validation(chosen.name, directory, findings, interrupted=False)
            # That the last one did not end is not a finding.
            ended = tuple(finding for finding in findings if finding.check != _RUN)
            return Validation(chosen.name, directory, ended, interrupted=True)

        return carried_out(work, cancel)


def _of_files(
    topology: Topology, engine: EngineName
) -> tuple[dict[str, tuple[NotEmulated, ...]], dict[str, tuple[Contradiction, ...]]]:
    """Return what acts in each switch and not in a run, and what its file and others say differently.

    A container has the switch's own routing, so that policies of routes act there.
    """
    own = {node.name: node.own for node in topology.nodes if node.own is not None}
    acts = ("routes",) if has_stock_qdiscs_only(engine) else ()
    left = {name: tuple(one for one in of.not_emulated if one.touches not in acts) for name, of in own.items()}
    differ = {name: of.contradictions for name, of in own.items() if of.contradictions}
    return {name: every for name, every in left.items() if every}, differ


def _refuse_absent_stages(bench: Bench, only: Sequence[str]) -> None:
    """Raise ArgumentError for a stage that was asked for and of which the lab has nothing: it would not be run."""
    present = list(dict.fromkeys([first_stage(bench).name, *(stage.asked_as for stage in later_stages(bench))]))
    for name in only:
        if name not in present:
            text = "{only} {0}: the lab has nothing for this stage to look at; it has {1}"
            raise ArgumentError(text, name, listed(present))


def _runs(bench: Bench, only: Sequence[str]) -> int:
    """Return how many runs there will be: the first stage's, which the others need, and those of what is asked for."""
    return 1 + sum(not only or stage.asked_as in only for stage in later_stages(bench))


class Stages:
    """Runs stages, each in a directory of its own below one."""

    def __init__(self, directory: Path, context: RunContext, tell: ProgressCallback) -> None:
        self._directory = directory
        self._context = context
        self._tell = tell
        self._done = 0
        self._has_stock_qdiscs_only = has_stock_qdiscs_only(engine_name(context.artefacts))

    def carry_out(self, bench: Bench, only: Sequence[str]) -> Iterator[ValidationFinding]:
        """Yield what every stage finds.

        The first also finds how far routing gets, where it does not get to where it should.
        """
        yield from of_configuration(bench)
        result = self._run(first_stage(bench))
        results = results_if_possible(result.directory)
        if results is not None and not _has_epoch(result.directory) and result.status == "failed":
            bench = replace(bench, plan=observed(bench.plan, results))
            result = self._run(replace(first_stage(bench), name=_AS_IT_IS))
            results = results_if_possible(result.directory)
        if not only or "reach" in only:
            found = with_causes(bench, _judged(first_stage(bench), result, results))
            yield from with_reasons(bench, found)
        for stage in later_stages(bench):
            if self._context.interrupt.requested:
                return
            if only and stage.asked_as not in only:
                continue
            if stage.check and self._has_stock_qdiscs_only:
                if not stage.part_of:
                    yield not_here(stage)
            else:
                result = self._run(stage)
                yield from with_reasons(bench, _judged(stage, result, results_if_possible(result.directory)))

    def _run(self, stage: Stage) -> RunResult:
        teller = RunTeller(stage.name, stage.plan, self._tell)
        ingest = teller.around(self._context.ingest)
        context = replace(self._context, collect=stage.collectors, ingest=ingest)
        result = run_point(stage.plan, self._directory / stage.name, context, teller.event)
        self._done += 1
        self._tell(Ended(stage.name, result, self._done, len(STAGES) + len(PARTS)))
        return result


def results_if_possible(directory: Path) -> Results | None:
    """Return a run's results, None when it left none, or none can be made of its logs."""
    from polars.exceptions import PolarsError

    from fabriclab.results import ResultsError, read_run

    try:
        return read_run(directory)
    except (ResultsError, PolarsError, OSError, MemoryError):
        return None


def _judged(stage: Stage, result: RunResult, results: Results | None) -> list[ValidationFinding]:
    if results is None or result.status not in _MEASURED:
        message = result.message.splitlines()[0] if result.message else result.status
        return [ValidationFinding(_RUN, stage.name, "ends by itself", message, "fail")]
    found = stage.judge(results) or [unmeasured(stage.name, "the lab", "something to ask", _NOTHING_ASKED)]
    return found if result.status != _STARVED else [_if_passed(finding) for finding in found]


def _if_passed(finding: ValidationFinding) -> ValidationFinding:
    """Return a finding of a run that had too little CPU: what arrived has arrived, what did not may be late."""
    if finding.verdict == "pass":
        return finding
    return replace(
        finding, verdict="not measured", measured=f"{finding.measured} (the host was too busy for real time)"
    )


def _has_epoch(directory: Path) -> bool:
    """Return whether the traffic began: it does not where routing never becomes what it should be."""
    events = directory / "events.jsonl"
    lines = events.read_text(encoding="utf-8", errors="replace").splitlines() if events.exists() else []
    return any(json.loads(line).get("event") == "epoch" for line in lines if line.endswith("}"))


def _make_room(directory: Path, force: bool) -> None:
    """Make room for the stages' runs.

    Raises ArgumentError where something else is, or where it must not be replaced.
    """
    if any(directory.iterdir()) and not force:
        raise ArgumentError("{out} {0} already exists; choose another one, or replace it with {force}", directory)
    for entry in directory.iterdir():
        if entry.name not in (*STAGES, *PARTS, _AS_IT_IS):
            text = "{out} {0}: holds {1}, which is not a run of a validation; choose another one"
            raise ArgumentError(text, directory, entry.name)
    for entry in directory.iterdir():
        try:
            remove_run(entry)
        except FileExistsError as error:
            raise ArgumentError("{0}", error) from error
