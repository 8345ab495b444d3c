"""How the container engine says when routing has followed a change: by what the programs in the nodes saw, not by when
it looked itself."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from fabriclab.engine.containers.job import Change
from fabriclab.engine.containers.processes import Processes
from fabriclab.engine.containers.route_watch import Reached
from fabriclab.engine.containers.routes import Expectation
from fabriclab.engine.containers.timeline import Timeline

NOTHING = Expectation(None, {})
TOOK_NS, WITHIN_NS = 111_000_000, 4_000_000


class Watch:
    """Routes that are right from the third question on, and have been for long by then."""

    def __init__(self) -> None:
        self.questions: list[int] = []

    def reached(self, expectation: Expectation, since_ns: int) -> Reached | None:
        """Answer as a RouteWatch."""
        self.questions.append(since_ns)
        return None if len(self.questions) < 3 else Reached(since_ns + TOOK_NS, WITHIN_NS)


def test_a_reconvergence_is_when_the_nodes_saw_it(tmp_path: Path) -> None:
    happened: list[tuple[str, dict[str, Any]]] = []
    ended = threading.Event()

    def emit(event: str, **fields: Any) -> int:
        happened.append((event, fields))
        if event == "reconverged":
            ended.set()
        return 0

    watch: Any = Watch()
    line = Timeline([Change("dies", 5_000_000, (), NOTHING)], {}, emit, watch)
    with Processes(tmp_path) as processes:
        line.prepare(processes)
    epoch_ns = time.monotonic_ns()
    line.begin(epoch_ns)
    assert ended.wait(60)
    line.end()
    (change, _), (reconverged, fields) = happened
    assert (change, reconverged) == ("change", "reconverged")
    assert fields == {"name": "dies", "reconvergence_ns": TOOK_NS, "within_ns": WITHIN_NS}
    assert watch.questions == [epoch_ns + 5_000_000] * 3, "it counts from the change"
