"""How exactly the container engine knows when routing has followed a change: between the last look that found it wrong
and the first that found it right."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from fabriclab.engine.containers import timeline
from fabriclab.engine.containers.job import Change
from fabriclab.engine.containers.processes import Processes
from fabriclab.engine.containers.routes import Expectation
from fabriclab.engine.containers.timeline import Timeline

NOTHING = Expectation(None, {})


def looks(monkeypatch: pytest.MonkeyPatch, answers: list[list[str]]) -> list[tuple[int, int]]:
    """Let looks at all routes give these answers; returns when each began and ended."""
    times: list[tuple[int, int]] = []

    def look(expectation: Expectation, containers: Any) -> list[str]:
        began_ns = time.monotonic_ns()
        time.sleep(0.01)
        times.append((began_ns, time.monotonic_ns()))
        return answers[len(times) - 1]

    monkeypatch.setattr(timeline, "missing_routes", look)
    return times


@pytest.mark.parametrize("wrong", [0, 1, 3])
def test_a_reconvergence_says_how_much_sooner_it_may_have_been(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wrong: int
) -> None:
    times = looks(monkeypatch, [["leaf1: 10.0.0.0/24 has 2 next hops"]] * wrong + [[]])
    happened, ended = [], threading.Event()

    def emit(event: str, **fields: Any) -> int:
        happened.append((event, fields))
        if event == "reconverged":
            ended.set()
        return 0

    line = Timeline([Change("dies", 0, (), NOTHING)], {}, emit)
    with Processes(tmp_path) as processes:
        line.prepare(processes)
    epoch_ns = time.monotonic_ns()
    line.begin(epoch_ns)
    assert ended.wait(60)
    line.end()
    (change, _), (reconverged, fields) = happened
    assert (change, reconverged) == ("change", "reconverged")
    was_wrong_ns = epoch_ns if wrong == 0 else times[wrong - 1][0]
    assert fields["within_ns"] <= fields["reconvergence_ns"]
    # It may have come right as soon as the last look that found it wrong had begun.
    assert epoch_ns + fields["reconvergence_ns"] - fields["within_ns"] <= was_wrong_ns
    assert epoch_ns + fields["reconvergence_ns"] >= times[wrong][1]
