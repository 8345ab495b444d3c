"""A machine's clock says that it gets on while it says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, count, repeat
from pathlib import Path

import fake_machine
import pytest
from fake_runs import run

from fabriclab.engine.events import CLOCK, Event
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.process import MachineProcess
from fabriclab.engine.virtual_clock import OVERDUE_NS, Silence, VirtualClock

BOOT_NS = 1000
"""The epoch of the machine that is a script, on its clock."""


@pytest.fixture(autouse=True)
def _is_told_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriclab.engine.watch._TELL_S", 0.1)


def reading(monkeypatch: pytest.MonkeyPatch, times: Iterator[int | None]) -> None:
    monkeypatch.setattr(VirtualClock, "now_ns", lambda _: next(times))


def silence(monkeypatch: pytest.MonkeyPatch, *times: int | None) -> Silence:
    reading(monkeypatch, iter(times))
    return Silence(VirtualClock(MachineProcess.__new__(MachineProcess), Path("linux")))


def test_a_clock_that_goes_on_is_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = silence(monkeypatch, 10, 11, 11, 12, OVERDUE_NS + 10, OVERDUE_NS + 11)
    assert [looks.has_progress() for _ in range(6)] == [False, True, False, True, True, False]


def test_a_clock_that_cannot_be_read_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = silence(monkeypatch, None, 10, None)
    assert [looks.has_progress() for _ in range(3)] == [False, False, False]


def test_each_silence_counts_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = silence(monkeypatch, 10, OVERDUE_NS, 3 * OVERDUE_NS, 3 * OVERDUE_NS + 5)
    assert looks.now_ns() == 10 and looks.has_progress()
    looks.ends()
    assert not looks.has_progress() and looks.has_progress()


def test_a_slow_machine_is_waited_for_and_its_time_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading(monkeypatch, (BOOT_NS + 1_000_000 * look for look in count(1)))
    told: list[Event] = []
    outcome = run(tmp_path, fake_machine.EPOCH + "sleep 1.5\n" + fake_machine.END, told.append, stall_s=0.4)
    assert (outcome.status, outcome.virtual_ns) == ("complete", 250_000_000)
    clock = [event.t_ns for event in told if event.name == CLOCK]
    assert clock[0] == 1_000_000 and clock == sorted(clock) and len(clock) > 3
    assert CLOCK not in (tmp_path / "run" / "events.jsonl").read_text()


def test_one_whose_clock_stops_is_killed_and_its_time_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading(monkeypatch, chain([BOOT_NS + 1, BOOT_NS + 150_000_000], repeat(BOOT_NS + 200_000_000)))
    outcome = run(tmp_path, fake_machine.EPOCH + "while sleep 0.1; do :; done\n", stall_s=0.4)
    assert (outcome.status, outcome.virtual_ns) == ("crashed", 200_000_000)
    assert "no progress for 0.4 s of wall time" in outcome.message


def test_who_is_asked_to_stop_may_first_reach_its_next_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriclab.engine.watch.STOP_PATIENCE_S", 0.3)
    reading(monkeypatch, (BOOT_NS + 1_000_000 * look for look in count(1)))
    interrupt = Interrupt()

    def interrupt_on_progress(event: Event) -> None:
        if event.name == "progress":
            interrupt.request()

    body = fake_machine.EPOCH + "sleep 1.5\n" + fake_machine.STOPPABLE
    assert run(tmp_path, body, interrupt_on_progress, interrupt).status == "interrupted"
