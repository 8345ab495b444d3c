"""Whether commands print what `validation.answers` wants of them, as routing daemons' `show ... json`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fabriclab.lab.templates import NoValueError
from fabriclab.lab.wanted_steps import WrittenAnswer
from fabriclab.results import Results
from fabriclab.validation.bench import Bench, Collector, by_shell
from fabriclab.validation.finding import ValidationFinding, judged, unmeasured

_MOST_LETTERS = 100


def answer_collectors(bench: Bench) -> Iterator[Collector]:
    """Yield each command that `validation.answers` names."""
    for number, answer in enumerate(bench.wanted.answers):
        for node in answer.nodes:
            # Its status is no failure of the run: what is wanted is what the condition says.
            yield bench.collector(_named(number), node, by_shell(answer.command, "true"))


def judge_answers(bench: Bench, results: Results) -> Iterator[ValidationFinding]:
    """Yield a finding for each of them, on each node."""
    for number, answer in enumerate(bench.wanted.answers):
        for node in answer.nodes:
            yield _judged(node, answer, bench.collected(results, _named(number), node))


def _judged(node: str, answer: WrittenAnswer, output: str | None) -> ValidationFinding:
    where = f"{node}, {answer.name}"
    if output is None:
        return unmeasured("answers", where, answer.condition.text, "the command was not run")
    try:
        holds = answer.condition.holds(_values(output))
    except NoValueError as error:
        return judged(
            "answers", where, answer.condition.text, f"{error}; it printed {_shortened(output)}", False, answer.severity
        )
    measured = answer.condition.text if holds else f"it printed {_shortened(output)}"
    return judged("answers", where, answer.condition.text, measured, holds, answer.severity)


def _values(output: str) -> dict[str, Any]:
    """Return the names that a condition has: the printed text and, where that is JSON, its value and its keys. What
    stands before the first bracket is passed over, as a warning may."""
    text = output.strip()
    starts = [start for start in map(text.find, "[{") if start >= 0]
    try:
        value = json.loads(text[min(starts) :]) if starts else None
    except (ValueError, RecursionError):
        value = None
    keys = value if isinstance(value, dict) else {}
    return {**keys, "result": value, "stdout": output}


def _shortened(output: str) -> str:
    text = " ".join(output.split())
    if not text:
        return "nothing"
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 3]}..."


def _named(number: int) -> str:
    return f"answer-{number + 1}"
