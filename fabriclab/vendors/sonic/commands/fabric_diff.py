"""What `fabriclab sonic diff` does: compares two versions of a fabric, and tells it as text, JSON, SARIF, JUnit XML or
a page."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from fabriclab.cli.host.failure import FAILED, OK
from fabriclab.cli.text.junit import JunitCase, write_junit
from fabriclab.files import write_all
from fabriclab.keys.wording import listed
from fabriclab.units import format_count
from fabriclab.vendors.sonic.commands.approval_html import html_page
from fabriclab.vendors.sonic.commands.approval_page import page
from fabriclab.vendors.sonic.commands.diff import Difference, diff_document, diff_text
from fabriclab.vendors.sonic.commands.emulated import Emulation, emulated
from fabriclab.vendors.sonic.commands.fabric_difference import FabricDifference, fabric_difference
from fabriclab.vendors.sonic.commands.findings_text import junit_cases
from fabriclab.vendors.sonic.commands.import_fabric import given
from fabriclab.vendors.sonic.commands.rollout import Rollout, Step, rollout_lines
from fabriclab.vendors.sonic.commands.sarif import as_sarif
from fabriclab.vendors.sonic.fabric import FabricJudgement
from fabriclab.vendors.sonic.judge import RULES, Judgement
from fabriclab.vendors.sonic.lab.cabling import read_cabling

FORMAT = "fabriclab-sonic-fabric-diff-1"
FailOn = Literal["error", "warning", "lost-route", "change", "never"]
_SUITE = "fabriclab sonic diff"
_MOST_SHOWN = 20


@dataclass(frozen=True)
class Outputs:
    """How the difference is told, and what is a failure."""

    fail_on: FailOn
    output: Literal["text", "json", "sarif"]
    junit: Path | None
    sarif: Path | None
    page: Path | None


@dataclass(frozen=True)
class Asked:
    """What is asked beside the difference."""

    cables: tuple[Path, ...]
    rollout: bool
    order: tuple[str, ...]
    run: bool
    experiment: Path | None
    seeds: int = 1


def diff(old: Path, new: Path, asked: Asked, outputs: Outputs) -> int:
    """Compare two fabrics, tell the difference, and return the exit status by what is to fail."""
    files, cables = (given([old]), given([new])), read_cabling(asked.cables)
    one = fabric_difference(*files, cables)
    steps = None
    if asked.rollout or asked.order:
        rollout = Rollout(*one.files, one.touched, cables)
        steps = rollout.in_order(asked.order) if asked.order else rollout.found()
    emulations = (
        emulated(*files, cables, asked.experiment, asked.seeds) if asked.run or asked.experiment is not None else ()
    )
    failed = _failed(one, steps or (), emulations, outputs.fail_on)
    texts = {
        "text": lambda: "".join(f"{line}\n" for line in _lines(one, steps, emulations)),
        "json": lambda: json.dumps(_document(one, steps, emulations), indent=2) + "\n",
        "sarif": lambda: as_sarif(one.judgements),
    }
    sys.stdout.write(texts[outputs.output]())
    if outputs.junit is not None:
        write_junit(outputs.junit, _SUITE, _cases(one, steps or (), outputs.fail_on))
    if outputs.sarif is not None:
        write_all({outputs.sarif: as_sarif(one.judgements)})
    if outputs.page is not None:
        is_html = outputs.page.suffix.lower() in (".html", ".htm")
        text = html_page(one, steps, emulations, failed, cables) if is_html else page(one, steps, emulations, failed)
        write_all({outputs.page: text})
    return FAILED if failed else OK


def _failed(one: FabricDifference, steps: Sequence[Step], emulations: Sequence[Emulation], policy: FailOn) -> str:
    """Return why a change fails by a policy; empty: it passes."""
    failing = _failing(policy)
    found = [each for judgement in one.judgements for each in judgement.findings if each.severity in failing]
    unsafe = [step.switch for step in steps if step.lost or (step.errors and policy != "lost-route")]
    meanwhile = policy == "lost-route" and any(step.meanwhile for step in steps)
    reasons = {
        f"{format_count(len(found), 'new finding')}": bool(found),
        "routes are lost or were not compared": policy == "lost-route" and one.has_lost_routes,
        "something differs": policy == "change" and one.is_any,
        f"the state after {listed(unsafe)} is not sound": bool(unsafe),
        "switches lose routes while another one reloads": meanwhile,
        "the versions were not emulated": any(each.why_not for each in emulations),
    }
    return "" if policy == "never" else "; ".join(reason for reason, holds in reasons.items() if holds)


def _failing(policy: FailOn) -> tuple[str, ...]:
    return ("error", "warning") if policy == "warning" else ("error",)


def _cases(one: FabricDifference, steps: Sequence[Step], policy: FailOn) -> list[JunitCase]:
    together = FabricJudgement("", was_judged=True) if len(one.judgements) > 1 else None
    cases = list(junit_cases(one.judgements, tuple(RULES.values()), _failing(policy), together))
    for number, step in enumerate(steps, start=1):
        wrong = "" if step.is_safe else "; ".join(line.strip() for line in rollout_lines([step]))
        cases.append(JunitCase("rollout", f"{number}. {step.switch}", failure=wrong or None))
    return cases


def _lines(one: FabricDifference, steps: Sequence[Step] | None, emulations: Sequence[Emulation]) -> Iterator[str]:
    yield from _differences(one)
    if steps is not None:
        yield ""
        yield from rollout_lines(steps)
    for each in emulations:
        yield ""
        of_seeds = f"; means of {each.seeds_text}" if len(each.seeds) > 1 else ""
        if each.why_not:
            yield f"emulation: {each.name}"
            yield from (f"  {line}" for line in each.why_not.splitlines())
            continue
        yield f"emulation: {each.name}{' (' + each.traffic + of_seeds + ')' if each.traffic else of_seeds}"
        for number in each.measured:
            values = f"{number.text(number.old):>14} -> {number.text(number.new):14}"
            interval = f" ({number.interval})" if len(each.seeds) > 1 and number.interval else ""
            yield f"  {number.title:40} {values} {number.verdict}{interval}".rstrip()


def _differences(one: FabricDifference) -> Iterator[str]:
    changed = one.changed
    yield f"{format_count(len(one.switches), 'switch')} in both versions, {len(changed)} of them differ"
    yield from (f"added: {name} ({format_count(len(each.findings), 'finding')})" for name, each in one.added.items())
    yield from (f"removed: {name}" for name in one.removed)
    for each in changed.values():
        yield ""
        yield from diff_text(each).rstrip("\n").splitlines()
    yield ""
    if one.not_routed:
        yield one.not_routed
        return
    yield f"routes: {format_count(len(one.routes), 'change')}"
    for change in one.routes[:_MOST_SHOWN]:
        yield f"  {change.switch} to {change.prefix}: {_hops(change.old)} -> {_hops(change.new)}"
    if len(one.routes) > _MOST_SHOWN:
        yield f"  and {len(one.routes) - _MOST_SHOWN} more (--format json has all)"


def _hops(interfaces: Sequence[str]) -> str:
    return listed(interfaces) if interfaces else "no route"


def _document(one: FabricDifference, steps: Sequence[Step] | None, emulations: Sequence[Emulation]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "switches": {name: diff_document(each) for name, each in one.switches.items()},
        "added": {name: diff_document(_appeared(each))["new_findings"] for name, each in one.added.items()},
        "removed": list(one.removed),
        "routes": [
            {"switch": each.switch, "prefix": each.prefix, "old": list(each.old), "new": list(each.new)}
            for each in one.routes
        ],
        "routes_not_compared": one.not_routed,
        "rollout": None if steps is None else [_step(each) for each in steps],
        "emulations": [
            {
                "name": each.name,
                "traffic": each.traffic,
                "not_emulated": each.why_not,
                "seeds": list(each.seeds),
                "metrics": {number.metric: [number.old, number.new] for number in each.measured},
                "verdicts": {number.metric: number.verdict for number in each.measured},
            }
            for each in emulations
        ],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        **{"switch": step.switch, "what": step.what, "sound": step.is_safe, "errors": list(step.errors)},
        "lost": [each._asdict() for each in step.lost],
        "lost_meanwhile": [each._asdict() for each in step.meanwhile],
    }


def _appeared(judgement: Judgement) -> Difference:
    return Difference("", (), "", replace(judgement), ())
