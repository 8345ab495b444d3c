"""Whether a run in containers had CPU enough: what is measured, what its bounds are, whose waits count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sample_switch_plans import shared_star

from fabriclab.compile.real_time import stall_ns
from fabriclab.engine.containers.job import read_job
from fabriclab.engine.containers.starvation import (
    TIMER_RESOLUTION_NS,
    TOLERANCE,
    Starvation,
    StarvationMeter,
    Waits,
    host_processes,
    read_waits,
    with_samplers,
)
from fabriclab.formats.plan.switch import Account, SwitchPort, SwitchQueue
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.runs.directory import write_inputs

SOUND = Starvation(3.0, 0.2, 0.01, "replay@h1", 0.0, 900_000, None, None, 20_000, "replay@h2", 512_000)


def test_a_run_with_time_enough_is_sound() -> None:
    assert SOUND.reasons() == [] and SOUND.as_record()["starved"] is False
    silent = Starvation(3.0, None, None, "", 0.0, 0, None, None)
    assert silent.reasons() == []


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [
        ("run_queue_delay", 0.08, "8.0% of the time replay@h1"),
        ("timer_late", 0.2, "20.0% of the timers"),
        ("sampler_late", 0.06, "6.0% of the samples"),
        (
            "wait_ns",
            600_000,
            "replay@h2 waited 600 us for a CPU each time that it was ready, but the smallest buffer lasts only 512 us",
        ),
    ],
)
def test_each_witness_alone_makes_a_run_invalid(field: str, value: float, word: str) -> None:
    starved = Starvation(**{**SOUND.__dict__, field: value})
    (reason,) = starved.reasons()
    assert word in reason and starved.as_record()["starved"] is True


def test_pressure_counts_only_where_nothing_tells_whose_it_is() -> None:
    busy = replace(SOUND, pressure=0.9)
    assert busy.reasons() == [] and busy.as_record()["bounds"]["pressure"] is None, (
        "others may have waited: the lab's own did not"
    )
    (reason,) = replace(busy, run_queue_delay=None).reasons()
    assert "90.0% of the time a process had no CPU" in reason
    assert replace(SOUND, pressure=TOLERANCE, run_queue_delay=None).reasons() == [], (
        "nobody can have waited longer than that"
    )


def test_a_timer_is_late_when_the_smallest_buffer_would_have_drained() -> None:
    assert replace(SOUND, stall_ns=128_000_000).late_ns == 128_000_000
    assert replace(SOUND, stall_ns=512_000).late_ns == replace(SOUND, stall_ns=None).late_ns == TIMER_RESOLUTION_NS


@pytest.mark.parametrize("share", ["run_queue_delay", "timer_late", "sampler_late"])
def test_a_share_up_to_the_tolerance_is_sound(share: str) -> None:
    assert Starvation(**{**SOUND.__dict__, share: TOLERANCE}).reasons() == []
    assert len(Starvation(**{**SOUND.__dict__, share: TOLERANCE + 0.001}).reasons()) == 1


def test_the_worst_sampler_counts() -> None:
    measured = with_samplers(
        SOUND, ["samples 90 late 10 max_late_ns 5\n", "noise\nsamples 50 late 50 max_late_ns 3\n", "died"]
    )
    assert (measured.sampler_late, measured.sampler_latest_ns) == (0.5, 5)
    assert with_samplers(SOUND, []) == SOUND


def fake_proc(directory: Path) -> Path:
    (directory / "pressure").mkdir(parents=True)
    (directory / "pressure" / "cpu").write_text(
        "some avg10=1.00 avg60=0.00 avg300=0.00 total=1000\nfull avg10=0.00 total=0\n"
    )
    for number, name, group, inner in (
        ("7", "ksoftirqd/0", "/", "7"),
        ("70", "replay", "/docker/0badcafe", "12"),
        ("71", "sh", "/docker/0badcafe", "13"),
    ):
        entry = directory / number
        entry.mkdir()
        (entry / "comm").write_text(name + "\n")
        (entry / "cgroup").write_text(f"0::{group}\n")
        (entry / "status").write_text(f"Name:\t{name}\nNSpid:\t{number}\t{inner}\nThreads:\t1\n")
        (entry / "schedstat").write_text("500 1000 3\n")
    return directory


def test_processes_of_containers_are_found_on_the_host(tmp_path: Path) -> None:
    proc = fake_proc(tmp_path)
    assert host_processes(proc, {("0badcafe", 12): "replay@h1", ("feed", 13): "x"}) == {70: "replay@h1"}
    assert read_waits(proc, 70) == Waits(1000, 3) and read_waits(proc, 999) is None


def test_the_process_that_waited_longest_is_named(tmp_path: Path) -> None:
    proc = fake_proc(tmp_path)
    meter = StarvationMeter(proc)
    meter.begin({70: "replay@h1"})
    (proc / "70" / "schedstat").write_text("500 60000000000 3\n")
    measured = meter.end()
    assert measured.run_queue_process == "replay@h1"
    assert measured.run_queue_delay is not None and measured.run_queue_delay > 1
    assert measured.pressure == 0.0


def test_the_process_that_is_slowest_to_react_is_named_with_its_mean_wait(tmp_path: Path) -> None:
    proc = fake_proc(tmp_path)
    meter = StarvationMeter(proc, stall_ns=512_000)
    meter.begin({70: "replay@h1", 71: "replay@h2"})
    (proc / "70" / "schedstat").write_text("500 9001000 9003\n")
    (proc / "71" / "schedstat").write_text("500 3001000 13\n")
    measured = meter.end()
    assert (measured.run_queue_process, measured.wait_process) == ("replay@h1", "replay@h2"), (
        "9 ms in all, and 300 us each time"
    )
    assert (measured.wait_ns, measured.stall_ns) == (300_000, 512_000)


def test_the_job_of_containers_says_what_pause_its_buffers_bridge(tmp_path: Path) -> None:
    lab = Path(__file__).parents[2] / "labs" / "incast"
    for buffer, rate, bridged_ns in (
        ("64 KB", "1 Gbps", 512_000),
        ("64 KB", "10 Gbps", 51_200),
        ("256 KB", "1 Gbps", 2_048_000),
    ):
        plan = resolve_plan(parse_lab(lab), {"senders": "2", "buffer": buffer, "links.rate": rate}, 1)
        assert stall_ns(plan) == bridged_ns
    write_inputs(plan, lab, tmp_path, stock=True)
    assert read_job(tmp_path).stall_ns == bridged_ns


def test_a_shared_buffer_bridges_what_its_smallest_queue_holds() -> None:
    account = Account(limit_bytes=12_500)
    small = SwitchPort(
        queues=(SwitchQueue(index=0, account=account), SwitchQueue(index=1, account=Account(limit_bytes=99_000)))
    )
    assert stall_ns(shared_star(2, buffer=small)) == 100_000, "12.5 KB at 1 Gbps"


def test_a_process_that_ended_keeps_its_last_figure(tmp_path: Path) -> None:
    proc = fake_proc(tmp_path)
    meter = StarvationMeter(proc)
    meter.begin({70: "replay@h1"})
    (proc / "70" / "schedstat").write_text("500 60000000000 3\n")
    meter.look()
    (proc / "70" / "schedstat").unlink()
    assert (meter.end().run_queue_delay or 0) > 1
