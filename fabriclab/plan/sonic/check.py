"""Judging a config_db.json: all rules, in three steps, each of which needs what the one before found sound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fabriclab.lab.problems import Problems
from fabriclab.lab.sonic import ConfigDb, examine_config_db
from fabriclab.plan.sonic import buffer_rules, pfc_rules, scheduler_rules, text_rules, wred_rules
from fabriclab.plan.sonic.bindings import Bindings
from fabriclab.plan.sonic.findings import SonicFinding, merged
from fabriclab.plan.sonic.switch import SwitchBuilder
from fabriclab.plan.sonic.switch_rules import switch_findings

MOST_FINDINGS = 1000
"""More of them help nobody, and finding the line of each takes time."""
_BY_THEMSELVES = (
    text_rules.old_references,
    text_rules.port_lists,
    text_rules.overlaps,
    text_rules.unknown_fields,
    buffer_rules.mandatory,
    buffer_rules.thresholds,
    buffer_rules.directions,
    buffer_rules.percentages,
    wred_rules.wred_profiles,
    scheduler_rules.rates,
    scheduler_rules.units,
    pfc_rules.watchdog_times,
)
"""Rules of tables as they stand."""
_TOGETHER = (pfc_rules.maps_missing, pfc_rules.unused_groups, pfc_rules.unwatched, pfc_rules.cables, wred_rules.lossless_drops)
"""Rules of ports with everything that is bound to them."""
_UNSOUND = frozenset({"malformed", "pool-direction", "pool-percentage"})
"""What keeps a file from being a switch."""
_ALL_WAITS = "nearly all of the file is malformed: no other rule was asked"
_SWITCH_WAITS = "rules of the whole switch (memory, thresholds, PFC, headroom) were not asked: mend what is malformed first"
_MEMORY_WAITS = "rules of thresholds, headroom and schedulers were not asked: mend what is reserved first"


@dataclass(frozen=True)
class Judgement:
    """What was found in a file, in the order of the file."""

    file: str
    findings: tuple[SonicFinding, ...]
    ports: int
    """How many of them were judged together: N busy queues."""
    skipped: str = ""
    """Why rules were not asked; empty: all were."""


def judge_config_db(data: bytes, file: str, cell_bytes: int = 1) -> Judgement:
    """Return what is wrong with a file's bytes. Raises LabErrors if it is no JSON object.

    `cell_bytes`: of the switch's memory, of which CONFIG_DB says nothing.
    """
    config, problems = examine_config_db(data, file)
    if config is None:
        return Judgement(file, tuple(_malformed(problems)), 0, _ALL_WAITS)
    bindings = Bindings(config)
    found = [*_malformed(problems), *_of_tables(bindings, problems)]
    skipped = _MEMORY_WAITS
    if any(one.rule in _UNSOUND for one in found):
        skipped = _SWITCH_WAITS
    else:
        configured = SwitchBuilder(bindings, cell_bytes).build()
        found += [one for rule in _TOGETHER for one in rule(bindings, configured.ports)]
        over = list(buffer_rules.reserved(bindings, cell_bytes))
        found += over
        if not over:
            found += switch_findings(bindings, configured)
            skipped = ""
    return Judgement(file, _sorted(config, merged(found)), len(config.ports), skipped)


def _malformed(problems: Problems) -> Iterator[SonicFinding]:
    """Yield the reader's findings, each with its line already: what is not there has none to look up."""
    found = problems.found()
    for problem, one in zip(found, text_rules.malformed(found), strict=True):
        yield replace(one, line=problem.line)


def _of_tables(bindings: Bindings, problems: Problems) -> Iterator[SonicFinding]:
    """Yield what is found of tables as they stand, but in entries that are malformed."""
    bad = {tuple(problem.key.split("|", 2)[:2]) for problem in problems.found()}
    for rule in _BY_THEMSELVES:
        yield from (one for one in rule(bindings) if one.path[:2] not in bad)


def _sorted(config: ConfigDb, findings: list[SonicFinding]) -> tuple[SonicFinding, ...]:
    """Return the findings with their lines in the order of the file; those of one line as they were found."""
    placed = [one if one.line is not None else replace(one, line=config.place(*one.path).line) for one in findings[:MOST_FINDINGS]]
    return tuple(sorted(placed, key=lambda one: one.line or 0))
