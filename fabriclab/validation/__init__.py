"""A validation run: the checks of an operator as runs of the lab with traffic of their own,
judged by what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fabriclab.validation.bench import Bench, Collector, Stage
from fabriclab.validation.classes import classes_stage
from fabriclab.validation.configured import configured_stage
from fabriclab.validation.failures import failures_stage
from fabriclab.validation.finding import ValidationFinding, all_pass, unmeasured, why_undecided
from fabriclab.validation.idle_wishes import idle_wishes
from fabriclab.validation.lossless import lossless_stage
from fabriclab.validation.lossless_in_cast import lossless_in_cast_stage
from fabriclab.validation.marks import marks_stage
from fabriclab.validation.not_judged import of_configuration, with_reasons
from fabriclab.validation.policy_causes import with_causes
from fabriclab.validation.reachability import reach_stage
from fabriclab.validation.routing import judge_routing, observed

__all__ = [
    "Bench",
    "Collector",
    "Stage",
    "ValidationFinding",
    "all_pass",
    "first_stage",
    "idle_wishes",
    "judge_routing",
    "later_stages",
    "not_here",
    "observed",
    "of_configuration",
    "reach_stage",
    "unmeasured",
    "why_undecided",
    "with_causes",
    "with_reasons",
]


def first_stage(bench: Bench) -> Stage:
    """Return the stage that all others follow: who reaches whom. It also tells what is wanted and not asked here."""
    stage = configured_stage(bench) if bench.plan.configured is not None else reach_stage(bench)
    idle = [unmeasured("reach", f"validation.{key}", "as it says", why) for key, why in idle_wishes(bench).items()]
    return replace(stage, judge=lambda results: [*stage.judge(results), *idle])


def later_stages(bench: Bench) -> Iterator[Stage]:
    """Yield the stages that follow `first_stage`, those that the lab has something for.

    None where addresses and routes are the nodes' own matter: who is to reach whom is not known then.
    """
    if bench.plan.configured is not None:
        return
    for make in (classes_stage, marks_stage, lossless_stage, lossless_in_cast_stage, failures_stage):
        stage = make(bench)
        if stage is not None:
            yield stage


def not_here(stage: Stage) -> ValidationFinding:
    """Return what is said of a stage whose measurements an engine with stock qdiscs only can't make."""
    return unmeasured(
        stage.check,
        "all switches with a shared buffer",
        "as in the virtual machine",
        "this engine has stock qdiscs only",
    )
