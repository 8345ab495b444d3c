"""Traffic of a live lab that starts again when it has ended."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from patience import wait_until

import fabriclab
from fabriclab.live.client import ask
from fabriclab.live.clients import Refused
from fabriclab.live.lab import Live
from fabriclab.live.launch import UpFailed
from fabriclab.live.looping import TrafficLoop
from fabriclab.live.server import Server

SMALL = {"senders": 2, "rounds": 2}


def again(live: Live) -> dict[str, int]:
    return dict(ask(live.name, {"do": "state"})["loop"]["again"])


@pytest.mark.vm
@pytest.mark.usefixtures("in_threads")
@pytest.mark.slow("a live lab sends its traffic several times")
def test_traffic_starts_again_until_it_is_stopped(desk: Path) -> None:
    with fabriclab.up("incast", set=SMALL, loop=True, speed="max", out="run") as live:
        wait_until(lambda: again(live)["sru"] >= 2, what="it has started again")
        live.stop("sru")
        assert again(live) == {}
        live.step("2 s")
        run = live.down()
    flows = run.flows.collect()
    # Two senders and two rounds a time; the last time may have been cut.
    assert flows.height >= 3 * 4 and flows.height % 4 == 0
    complete = flows.filter(flows["status"] == "complete")
    assert complete.height >= 3 * 4 - 4
    starts = sorted(set(complete["start_ns"].to_list()))
    assert starts[-1] > starts[0] + 10_000_000
    assert run.status == "complete"


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"idle": True}, "loop and idle contradict each other"),
        ({"engine": "containerlab"}, "in containers no traffic is started"),
    ],
)
def test_what_can_not_loop_is_refused(served_here: Path, wanted: dict[str, Any], said: str) -> None:
    with pytest.raises(UpFailed, match=said.replace("loop and idle", "--loop and --idle")):
        fabriclab.up("pair", loop=True, **wanted)


class Stub:
    is_going_down = False


def test_a_start_that_fails_ends_the_loop_and_says_why() -> None:
    async def refuse(traffic: str) -> None:
        raise Refused("no port is left")

    async def go() -> TrafficLoop:
        loop = TrafficLoop(cast(Server, Stub()), refuse)
        loop.add("sru")
        loop.ended("other")
        loop.ended("sru")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return loop

    assert asyncio.run(go()).told() == {"again": {}, "failed": "sru does not start again: no port is left"}


def test_a_lab_that_goes_down_starts_nothing() -> None:
    started: list[str] = []

    async def start(traffic: str) -> None:
        started.append(traffic)

    async def go(is_going_down: bool) -> None:
        server = Stub()
        server.is_going_down = is_going_down
        loop = TrafficLoop(cast(Server, server), start)
        loop.add("sru")
        loop.ended("sru")
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(go(True))
    assert started == []
    asyncio.run(go(False))
    assert started == ["sru"]
