"""Steps of `validation`: a change of some nodes, a wait, and what is asked then; one after another in one run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fabriclab.results import Results
from fabriclab.validation.bench import Bench, Collector, S, by_shell
from fabriclab.validation.finding import ValidationFinding, judged, unmeasured

_CHANGE, _WAIT, _EXIT = "change", "wait", "exit "


def after(bench: Bench, number: int) -> Bench:
    """Return the bench on which a step's own wishes are asked, the first one's number being 0."""
    step = bench.wanted.steps[number]
    own = {key: getattr(step, key) for key in ("pings", "sessions", "routes", "answers")}
    return replace(bench, step=f"step-{number + 1}-", wanted=replace(bench.wanted, **own, steps=(step,)))


def changes(bench: Bench) -> Iterator[Collector]:
    """Yield what makes the change on each node, and what waits after it."""
    for step in bench.wanted.steps if bench.step else ():
        for node in step.nodes:
            yield bench.collector(_CHANGE, node, by_shell(step.command, f"echo {_EXIT}$?"))
        if step.wait_ns:
            yield bench.collector(_WAIT, step.nodes[0], ("sleep", str(step.wait_ns / S)))


def judge_changes(bench: Bench, results: Results) -> Iterator[ValidationFinding]:
    """Yield whether the change was made, on each node: what follows says nothing where it was not."""
    for step in bench.wanted.steps if bench.step else ():
        for node in step.nodes:
            lines = (bench.collected(results, _CHANGE, node) or "").strip().splitlines()
            where, wanted = f"{node}, {step.name}", f"{_EXIT}0"
            if not lines or not lines[-1].startswith(_EXIT):
                yield unmeasured("steps", where, wanted, "the command was not run")
                continue
            holds = lines[-1] == wanted
            said = f": {lines[-2][:100]}" if len(lines) > 1 and not holds else ""
            yield judged("steps", where, wanted, f"{lines[-1]}{said}", holds)


def told_after(bench: Bench, finding: ValidationFinding) -> ValidationFinding:
    """Return a finding with the step after which it was made."""
    if not bench.step or finding.check == "steps":
        return finding
    return replace(finding, where=f"{finding.where}, after {bench.wanted.steps[0].name}")
