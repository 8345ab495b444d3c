"""Inspection of a lab without a run: its plan, its nodes' files, its flow trace, its mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING

from fabriclab.api.idle_wishes import refuse_idle_wishes, unseen_lines
from fabriclab.api.lab import Lab, PathLike, Settings, check_seed, load_found, loaded, written_settings
from fabriclab.api.lab_names import directory_of, find_lab_or_own_file
from fabriclab.api.own_algorithms import compiled_or_why_not
from fabriclab.api.rendering import rendered
from fabriclab.api.warnings import counted_sentences
from fabriclab.compile import compile_job, compile_node, compiled_flows
from fabriclab.errors import ArgumentError
from fabriclab.formats.plan import Plan, plan_json
from fabriclab.formats.plan.runnable import check_plan
from fabriclab.formats.where_clause import Scalar
from fabriclab.keys.wording import did_you_mean
from fabriclab.lab import Lab as WrittenLab
from fabriclab.lab import LabError
from fabriclab.lab.network.kinds import BRIDGES
from fabriclab.lab.network.not_applied import unapplied_sentences
from fabriclab.lab.network.read import read_one_topology
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.study_keys import SEED
from fabriclab.resolve import Resolver, resolve_plan
from fabriclab.resolve.points import plans_of_points, settings_of_points
from fabriclab.resolve.warnings import contradictions
from fabriclab.resolve.where_clauses import refuse_idle_clauses
from fabriclab.runs.engines import EngineName, has_stock_qdiscs_only, plan_for
from fabriclab.stories import read_stories
from fabriclab.workload import trace_summary, trace_text

if TYPE_CHECKING:
    import polars as pl

Tell = Callable[[str], None]


def plan(
    lab: Lab | PathLike, *, set: Settings | None = None, seed: int | None = None, engine: EngineName = "vm"
) -> Plan:
    """Return the plan of one point of a lab as an engine will run it, with every default. Nothing is run.

    It is plain data with units in its names; `model_dump_json()` is its JSON. Raises LabError for mistakes in the lab
    or in `set`, ArgumentError for other arguments.
    """
    check_seed(seed)
    chosen = loaded(lab)
    return plan_for(resolve_plan(chosen.written, written_settings(chosen, set), seed), engine)


def node_files(plan: Plan, node: str, *, engine: EngineName = "vm") -> Mapping[str, str]:
    """Return the text of each file that configures a node of a plan.

    Raises ArgumentError for an unknown node.
    """
    names = [each.name for each in plan.nodes]
    if node not in names:
        raise ArgumentError("{node} {0!r}: the lab has no such node; {1}", node, did_you_mean(node, names))
    stock = has_stock_qdiscs_only(engine)
    return compile_node(plan.node(node), plan, stock=stock).by_name()


@dataclass(frozen=True)
class FlowTrace:
    """The flows of one run of a lab: sender, receiver, size and start."""

    plan: Plan
    frame: pl.DataFrame
    """One row a flow: the columns of the trace (`traffic/README.md`), and `traffic`, the name of the traffic that it
    belongs to."""

    @property
    def flows(self) -> pl.LazyFrame:
        """The same rows, lazily."""
        return self.frame.lazy()

    @cached_property
    def summary(self) -> str:
        """A summary of each traffic in words: flows, bytes, sizes, and the requested and the resulting load."""
        return trace_summary(self.plan, self.frame)

    def lines(self) -> Iterator[str]:
        """Yield the text of the trace file, whole lines at a time."""
        return trace_text(self.frame)


def trace(
    lab: Lab | PathLike, *, set: Settings | None = None, seed: int | None = None, tell: Tell = lambda _: None
) -> FlowTrace:
    """Return the flow trace of one point of a lab.

    Raises LabError, ArgumentError, and TraceError for an unusable flow trace of the user.
    """
    check_seed(seed)
    chosen = loaded(lab)
    resolved = resolve_plan(chosen.written, written_settings(chosen, set), seed)
    tell("drawing the flows")
    return FlowTrace(resolved, compiled_flows(resolved, chosen.directory))


@dataclass(frozen=True)
class CheckedTopology:
    """The contents of a correct topology."""

    name: str
    hosts: int
    switches: int
    links: int
    warnings: tuple[str, ...]
    """What is probably not meant, a sentence each."""
    foreign: int = field(default=0, kw_only=True)
    """How many of its nodes are of kinds whose software does not run here."""
    refusal: LabError | None = field(default=None, kw_only=True)
    """What `run` and `validate` refuse it with; None: they take it."""


@dataclass(frozen=True)
class CheckedLab(CheckedTopology):
    """The contents of a lab that is correct at every point of every matrix."""

    traffic: Mapping[str, str]
    """The kind of each traffic, by its name."""
    parameters: tuple[str, ...]
    variants: tuple[str, ...]
    matrices: Mapping[str, int]
    """The number of points of each matrix."""
    checks: int
    stories: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    """The number of steps of each story, by its name."""
    faults: tuple[str, ...] = field(default=(), kw_only=True)
    """Those warnings that say what breaks traffic: the files of two switches contradict each other."""


def check(
    lab: Lab | PathLike, *, variables: Sequence[PathLike] = (), compile_own: bool = False, tell: Tell = lambda _: None
) -> CheckedLab | CheckedTopology:
    """Check a lab at every point of every matrix, or only a Containerlab file; return its contents. Nothing is run.

    Mistakes that `run` and `validate` refuse are refused here in the same words. If a file has nodes of kinds that do
    not run here, this refusal is returned beside the file's other contents, as `refusal`.

    Raises LabError with every mistake, each with its file, line, key and what would be right; ArgumentError if
    there is no lab; TraceError for an unusable flow trace of the user; PlanError for a plan that `run` would not
    take. `tell` is called with the current step. `variables` are files of variables for a file that is a Go
    template. Algorithms in C are compiled if the lab is trusted or `compile_own` is true; otherwise a warning says
    that they were not.
    """
    if isinstance(lab, Lab):
        return _checked(lab.written, compile_own, tell)
    path = find_lab_or_own_file(Path(lab))
    try:
        chosen = load_found(path, Path(lab), variables)
    except LabError as refusal:
        foreign = None if path.is_dir() else _foreign_topology(path, Path(lab), variables, refusal)
        if foreign is None:
            raise
        return foreign
    return _checked(chosen.written, compile_own, tell)


def _foreign_topology(
    file: Path, written: Path, variables: Sequence[PathLike], refusal: LabError
) -> CheckedTopology | None:
    """Return what a file has that is refused for its nodes' kinds; None where it is refused for something else.

    Raises LabError for mistakes that are mistakes whatever runs the file.
    """
    if not any(mistake.key.endswith(".kind") for mistake in refusal.mistakes):
        return None
    topology = read_one_topology(file, rendered(file, variables), directory_of(file, written))
    foreign = sum(node.foreign not in (None, *BRIDGES) for node in topology.nodes)
    if not foreign:
        return None
    sentences = (*topology.foreign_sentences(), *topology.notes, *unapplied_sentences(topology.not_applied))
    return CheckedTopology(*_size(topology), tuple(counted_sentences([sentences])), foreign=foreign, refusal=refusal)


def _checked(lab: WrittenLab, compile_own: bool, tell: Tell) -> CheckedLab:
    resolver = Resolver(lab)
    points = list(_plans_of_points(lab, resolver, tell))
    base = resolver.resolve({})
    check_plan(plan_json(base))
    plans = [base, *(point for point, _ in points)]
    refuse_idle_clauses(lab, resolver, [plan.parameters for plan in plans])
    refuse_idle_wishes(lab, chain(plans, plans_of_points(resolver, settings_of_points(lab))))
    stories = read_stories(lab)
    tell("compiling algorithms")
    uncompiled = compiled_or_why_not(lab, plans, compile_own)
    tell("drawing the flows")
    flows = compiled_flows(base, lab.directory)
    for _ in trace_text(flows):
        pass
    for plan in (base, *_with_other_traffic(plans)):
        compile_job(plan, flows if plan is base else compiled_flows(plan, lab.directory))
    unseen = unseen_lines(lab, flows, base, [point for point, alike in points if alike])
    warnings = [base.warnings, *chain(*(repeat(point.warnings, alike) for point, alike in points))]
    return CheckedLab(
        *_size(lab.topology),
        warnings=(*counted_sentences(warnings), *unseen, *uncompiled),
        traffic={traffic.name: traffic.kind for traffic in base.traffic},
        parameters=tuple(lab.parameters),
        variants=lab.variants,
        matrices={matrix: len(lab.points(matrix)) for matrix in lab.matrices},
        checks=len(base.checks),
        stories={story.name: len(story.steps) for story in stories},
        faults=contradictions(lab.topology, ("error",)),
    )


def _plans_of_points(lab: WrittenLab, resolver: Resolver, tell: Tell) -> Iterator[tuple[Plan, int]]:
    """Yield the plan of each variant with 0, that of each point of every matrix with how many points differ from it in
    their seed alone.

    What is wrong in the file is raised before what cannot be planned of it.
    """
    unplannable: LabError | None = None
    total, done = sum(len(lab.points(matrix)) for matrix in lab.matrices), 0
    for applied, alike in lab.checked_points(lab.matrices):
        done += alike
        tell(f"checking point {done} of {total}")
        try:
            yield resolver.resolve_applied(applied), alike
        except LabError as error:
            unplannable = unplannable or error
    if unplannable is not None:
        raise unplannable


def _with_other_traffic(plans: Sequence[Plan]) -> list[Plan]:
    """Return plans whose traffic differs from the first one's and from one another's; of those that differ in their
    seed alone one, for a matrix may have thousands."""
    known = {repr(plans[0].traffic)}
    found: dict[tuple[tuple[str, Scalar], ...], Plan] = {}
    for plan in plans:
        if (traffic := repr(plan.traffic)) not in known:
            known.add(traffic)
            found.setdefault(tuple((name, value) for name, value in plan.settings.items() if name != SEED), plan)
    return list(found.values())


def _size(topology: Topology) -> tuple[str, int, int, int]:
    return topology.name, len(topology.hosts), len(topology.switches), len(topology.links)
