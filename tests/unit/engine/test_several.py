"""The events of several machines are told as those of one; and what a kernel must have for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fabriclab.engine.events import Event
from fabriclab.engine.several import MergedEvents, worst
from fabriclab.engine.shared_memory import LINE_BYTES, shared_memory
from fabriclab.scratch import Scratch


@pytest.fixture
def told() -> list[Event]:
    return []


@pytest.fixture
def events(tmp_path: Path, told: list[Event]) -> Iterator[MergedEvents]:
    """The events of two machines."""
    with (tmp_path / "events.jsonl").open("w", buffering=1) as file:
        scratch = Scratch(tmp_path)
        scratch.make()
        yield MergedEvents(2, scratch, file, told.append)


def event(name: str, t_ns: int = 0, **fields: str) -> Event:
    return Event(name, t_ns, {"event": name, "t_ns": t_ns, **fields})


def test_what_all_machines_do_is_told_when_the_last_one_does(events: MergedEvents, told: list[Event]) -> None:
    events.take(0, event("phase", phase="links"))
    events.take(0, event("phase", phase="traffic"))
    assert told == []
    events.take(1, event("phase", phase="links"))
    events.take(1, event("phase", phase="traffic"))
    assert [one.text("phase") for one in told] == ["links", "traffic"]


@pytest.mark.parametrize("name", ["progress", "waiting"])
def test_progress_is_told_once_and_only_forward(events: MergedEvents, told: list[Event], name: str) -> None:
    for part, t_ns in ((0, 100), (1, 100), (1, 200), (0, 200)):
        events.take(part, event(name, t_ns))
    assert [one.t_ns for one in told] == [100, 200]


def test_the_end_is_the_worst_of_all_and_an_error_names_its_machine(
    events: MergedEvents, told: list[Event], tmp_path: Path
) -> None:
    events.take(1, event("error", message="it broke"))
    assert told[0].fields["part"] == 1
    # The others are to end their traffic.
    assert (tmp_path / "scratch" / "stop").exists()
    events.take(0, event("end", 5, status="stopped"))
    events.take(1, event("end", 7, status="failed"))
    assert (told[-1].name, told[-1].text("status"), told[-1].t_ns) == ("end", "failed", 7)
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines] == ["error", "end"]


def test_what_is_wrong_with_the_whole_lab_is_told_once(events: MergedEvents, told: list[Event]) -> None:
    for part, node in ((0, "s1"), (1, "s2"), (0, ""), (1, "")):
        named = {"node": node} if node else {}
        events.take(part, Event("error", 0, {"event": "error", "message": "it is late", **named}))
    assert [one.fields.get("node") for one in told] == ["s1", "s2", None]


def test_routes_are_there_when_all_machines_say_so(events: MergedEvents, told: list[Event]) -> None:
    for kind in ("converged", "reconverged"):
        happened = Event(kind, 0, {"event": kind, "name": "cut"})
        events.take(0, happened)
        assert happened not in told
        events.take(1, happened)
    assert [one.name for one in told] == ["converged", "reconverged"]


def test_a_crash_is_worse_than_a_failure_and_that_than_a_limit() -> None:
    assert worst(["complete", "crashed", "failed"]) == "crashed"
    assert worst(["complete", "limit"]) == "limit"


def test_machines_have_promised_the_begin_before_they_start() -> None:
    with shared_memory(2, 1000, 1 << 20, 50) as shared:
        lines = Path(f"/proc/self/fd/{shared.descriptor}").read_bytes()
        assert [int.from_bytes(lines[at : at + 8], "little") for at in (0, LINE_BYTES, 2 * LINE_BYTES)] == [
            1050,
            1050,
            0,
        ]
        assert shared.figures() == [{"waited_s": 0.0, "waits": 0, "frames_sent": 0}] * 2
    with shared_memory(1, 1000, 0, 50) as alone:
        # A machine that is alone waits for nobody, and says so in the same memory.
        assert alone.figures() == [{"waited_s": 0.0, "waits": 0, "frames_sent": 0}]
