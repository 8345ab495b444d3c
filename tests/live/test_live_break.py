"""Break points on the real machine: the clock stands at the very instant, and a stop changes only the pace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from slow_labs import SLOWLY, flows_of

import fabriclab
from fabriclab.api.lab import Settings
from fabriclab.live.lab import Live
from fabriclab.live.seen import PortState

# A server as a process of its own, as test_live_machine.py has them, first imports for most of a CPU second.
pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("in_threads")]

INCAST = {"senders": 8, "rounds": 2}
LOSSLESS = {"stop": "60 ms"}


def port(live: Live, name: str) -> PortState:
    return live.inspect(name).ports[0]


def stopped_at(live: Live) -> int:
    """Let time go on until a break point stops it."""
    live.resume()
    return first_stop(live)


def first_stop(live: Live) -> int:
    """Wait until a break point stops the time that goes on since the lab is up; it may have, and then stays so."""
    while live.stopped is None:
        assert live.now < 10**10
    return live.now


def stands(packets: int) -> Callable[[PortState], bool]:
    return lambda seen: seen.packets > packets


def has_dropped(seen: PortState) -> bool:
    return bool(seen.drops)


def has_paused(seen: PortState) -> bool:
    return bool(seen.pauses_sent or seen.pauses_received)


@pytest.mark.parametrize(
    ("lab", "settings", "place", "condition", "is_so"),
    [
        ("incast", INCAST, "s1:eth49", "s1:eth49 queue > 30 packets", stands(30)),
        ("incast", INCAST, "s1:eth49", "s1 drop", has_dropped),
        ("pfc-storm", LOSSLESS, "leaf2:eth1", "leaf2:eth1 queue 3 > 60 packets", stands(60)),
        ("pfc-storm", LOSSLESS, "leaf2:eth5", "leaf2:eth5 pause", has_paused),
    ],
)
@pytest.mark.slow("a live lab goes step by step, and a second one to the break point")
def test_time_stops_at_the_instant_at_which_steps_first_show_it(
    desk: Path, lab: str, settings: Settings, place: str, condition: str, is_so: Callable[[PortState], bool]
) -> None:
    with fabriclab.up(lab, set=settings, speed="max", breaks=[condition], out="broken") as live:
        instant = first_stop(live)
        assert live.stopped is not None and live.stopped.startswith(place.split(":")[0])
        assert is_so(port(live, place))
    with fabriclab.up(lab, set=settings, speed=SLOWLY, out="stepped") as live:
        live.pause()
        live.speed = "max"
        # A step ends before what happens at its end.
        live.step(instant - live.now - 20)
        for _ in range(20):
            assert not is_so(port(live, place))
            live.step(1)
        assert live.now == instant and not is_so(port(live, place))
        live.step(1)
        assert is_so(port(live, place))


def test_a_break_changes_only_the_pace_and_is_armed_again_when_it_has_been_false(desk: Path) -> None:
    plain = fabriclab.run("incast", set=INCAST, out="plain")
    with fabriclab.up("incast", set=INCAST, speed="max", breaks=["s1:eth49 queue > 40 KB"], out="broken") as live:
        instants = [stopped_at(live) for _ in range(2)]
        assert instants[0] < instants[1]
        live.clear_break()
        assert live.stopped is not None and live.stopped.startswith("s1:eth49 queue is ")
        number = live.break_at("client timeout")
        assert live.break_at("flow 3 ends") == number + 1
        live.clear_break(number)
        assert stopped_at(live) > instants[1] and live.stopped == "flow 3 ends"
        live.clear_break()
        live.step("2 s")
        live.down()
    assert flows_of(Path("broken")) == flows_of(plain.directory)


def test_what_is_so_already_stops_time_where_it_was_told_to_be(desk: Path) -> None:
    with fabriclab.up("incast", set=INCAST, speed="max", breaks=["s1:eth49 queue > 40 packets"], out="run") as live:
        first_stop(live)
        live.clear_break()
        # Slow enough for the machine to tell the time between two events, and so later than the last of them.
        live.speed = "1/100000"
        for _ in range(3):
            live.resume()
            began, told = live.now, live.now
            while told < began + 500:
                told = live.now
            live.break_at("s1:eth49 queue > 5 packets")
            first_stop(live)
            assert live.now == live.inspect("s1:eth49").now_ns
            live.clear_break()


def test_a_step_ends_where_a_break_point_stops_it(desk: Path) -> None:
    with fabriclab.up("incast", set=INCAST, speed=SLOWLY, out="run") as live:
        live.pause()
        live.speed = "max"
        live.break_at("s1:eth49 queue > 20 packets")
        assert live.step("1 s") < 10**9 and live.paused
        with pytest.raises(fabriclab.LiveError, match="there is no such break point; break points that are set: 1"):
            live.clear_break(2)
        with pytest.raises(fabriclab.LiveError, match="is not a condition; write one of: NODE:PORT queue"):
            live.break_at("s1 is full")
    with pytest.raises(fabriclab.UpFailed, match="no node 's2'"):
        fabriclab.up("incast", breaks=["s2 drop"], out="none")


def test_a_flow_ends_when_its_receiver_has_it_all(desk: Path) -> None:
    with fabriclab.up("dctcp-queue", idle=True, speed=SLOWLY, out="run") as live:
        live.pause()
        live.speed = "max"
        number = 2  # behind the two of the lab's own
        live.break_at(f"flow {number} ends")
        live.flow("h1", "h3", "100 KB")
        instant = live.step("1 s")
        assert live.stopped == f"flow {number} ends"
        live.step("1 s")
        run = live.down()
    assert run.flows.collect().select("flow", "end_ns").row(0) == (number, instant)


def test_every_mark_is_told_once(desk: Path) -> None:
    with fabriclab.up(
        "dctcp-queue", set={"variant": "dctcp"}, speed=SLOWLY, breaks=["s1:eth3 mark"], out="run"
    ) as live:
        live.pause()
        live.speed = "max"
        told = 0
        for _ in range(10):
            live.step("1 s")
            assert live.stopped is not None
            told += int(live.stopped.removeprefix("s1:eth3: ").split()[0])
        assert told == port(live, "s1:eth3").marks == port(live, "s1:eth3").queues[0].marks


def test_a_lab_goes_down_whatever_would_stop_its_time(desk: Path) -> None:
    with fabriclab.up("incast", set=INCAST, speed="max", breaks=["drop", "flow 3 ends", "timeout"], out="run") as live:
        while live.stopped is None:
            assert live.now < 10**10
        assert live.down().status == "complete"
