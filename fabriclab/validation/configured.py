"""A lab whose nodes' own files give it addresses and routes: whether its sessions are up, and who reaches whom.

What such a lab should be nobody but its files says: so every session that a daemon has must be up, and every host must
answer every other by ping, unless the experiment's `validation` says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.results import Results
from fabriclab.validation.answers import answer_collectors, judge_answers
from fabriclab.validation.bench import Bench, Collector, Setting, Stage, set_up
from fabriclab.validation.finding import ValidationFinding
from fabriclab.validation.pings import judge_pings, ping_collectors
from fabriclab.validation.steps import after, changes, judge_changes, told_after
from fabriclab.validation.wanted_state import judge_routes, judge_sessions, route_collectors, session_collectors

_MS = 10**6


def configured_stage(bench: Bench) -> Stage:
    """Return the stage: a run without traffic, at whose end daemons and pings are asked."""
    setting = Setting(traffic=(), last_start_ns=_MS)
    benches = [bench, *(after(bench, number) for number in range(len(bench.wanted.steps)))]
    return Stage(
        "reach",
        set_up(bench, "reach", setting),
        lambda results: [finding for one in benches for finding in _judge(one, results)],
        tuple(collector for one in benches for collector in _collectors(one)),
    )


def _collectors(bench: Bench) -> Iterator[Collector]:
    """Yield what a step changes, and what is asked after it."""
    yield from changes(bench)
    yield from session_collectors(bench)
    yield from route_collectors(bench)
    yield from answer_collectors(bench)
    yield from ping_collectors(bench)


def _judge(bench: Bench, results: Results) -> Iterator[ValidationFinding]:
    findings = [
        *judge_changes(bench, results),
        *judge_sessions(bench, results),
        *judge_routes(bench, results),
        *judge_answers(bench, results),
        *judge_pings(bench, results),
    ]
    yield from (told_after(bench, one) for one in findings)
