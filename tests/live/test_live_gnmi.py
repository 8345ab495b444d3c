"""gNMI of a live lab, as a client of others sees it; its counters agree with `tc -s`."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from fake_lab import FakeLab
from patience import patient, wait_until
from pygnmi.client import gNMIclient, gNMIException

import fabriclab
from fabriclab.api.lab import Settings
from fabriclab.engine.artefacts import Artefacts
from fabriclab.gnmi.server import Gnmi, GnmiError

TOKEN = "s3cret"
QUEUE = "/qos/interfaces/interface[interface-id=eth49]/output/queues/queue[name=0]/state"
INTERFACE = "/interfaces/interface[name=eth49]/state"


@contextmanager
def served(lab: str, nodes: list[str]) -> Iterator[int]:
    """The server in a thread of its own; yields its port."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def run(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(patient(60))

    async def stop(server: Any) -> None:
        await server.stop(0)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    server, port = run(Gnmi(lab, nodes, TOKEN).start(0))
    try:
        yield port
    finally:
        run(stop(server))
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def client(port: int, password: str = TOKEN) -> Any:
    # It connects in `with`, and closes at its end.
    return gNMIclient(target=("127.0.0.1", str(port)), username="anybody", password=password, insecure=True)


def values(answer: Any) -> dict[str, Any]:
    return {one["path"].rpartition("/")[2]: one["val"] for note in answer["notification"] for one in note["update"]}


@pytest.fixture
def port(fake: FakeLab) -> Iterator[int]:
    with served("fake", [node.name for node in fake.plan.nodes]) as found:
        yield found


def test_capabilities_and_leaves_are_told(fake: FakeLab, port: int) -> None:
    fake.paused, fake._stopped_ns = True, 250_000_000
    with client(port) as asking:
        told = asking.capabilities()
        assert {model["name"] for model in told["supported_models"]} >= {"openconfig-interfaces", "openconfig-qos"}
        assert {"json", "json_ietf", "proto"} <= set(told["supported_encodings"])
        for encoding, wanted in (("json", 250), ("json_ietf", "250"), ("proto", 250)):
            found = values(asking.get(path=[QUEUE], target="s1", encoding=encoding))
            assert found["dropped-pkts"] == wanted and "ecn-marked-pkts" not in found
        every = asking.get(path=["/interfaces/interface[name=*]/state/oper-status"], target="s1", encoding="json")
        assert len(every["notification"][0]["update"]) == 49
        assert every["notification"][0]["timestamp"] == 946_684_800 * 10**9 + 250_000_000


@pytest.mark.parametrize(
    ("path", "target", "code", "said"),
    [
        (QUEUE, "s9", grpc.StatusCode.NOT_FOUND, "target 's9': the lab has no such node"),
        (QUEUE, "", grpc.StatusCode.INVALID_ARGUMENT, "no target; name a node"),
        ("/system/state", "s1", grpc.StatusCode.NOT_FOUND, "/system/state: s1 has nothing there"),
        ("cli:/show", "s1", grpc.StatusCode.INVALID_ARGUMENT, "origin 'cli'"),
    ],
)
def test_what_is_not_there_is_told(port: int, path: str, target: str, code: Any, said: str) -> None:
    with client(port) as asking, pytest.raises(gNMIException) as refused:
        asking.get(path=[path], target=target, encoding="json")
    error = refused.value.orig_exc
    assert error.code() == code and said in error.details()


def test_who_has_not_the_token_is_refused_and_a_port_in_use_is_told(port: int) -> None:
    # It asks for the capabilities when it connects.
    with pytest.raises(gNMIException) as refused, client(port, "wrong"):
        pass
    assert refused.value.orig_exc.code() == grpc.StatusCode.UNAUTHENTICATED
    with pytest.raises(GnmiError, match=f"--port {port}: the port is in use"):
        asyncio.run(Gnmi("fake", ["s1"], TOKEN).start(port))


# The client's own thread does not catch that its stream was closed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_change_is_told_when_it_happens_and_a_sample_each_interval(fake: FakeLab, port: int) -> None:
    status = f"{INTERFACE}/oper-status"
    subscription = {
        "subscription": [
            {"path": status, "mode": "on_change"},
            {"path": f"{QUEUE}/dropped-pkts", "mode": "sample", "sample_interval": 100_000_000},
        ],
        "mode": "stream",
        "encoding": "json",
    }
    heard: list[dict[str, Any]] = []
    with client(port) as asking:
        stream = asking.subscribe2(subscribe=subscription, target="s1")
        follower = threading.Thread(target=lambda: heard.extend(iter_until_down(stream)))
        follower.start()
        wait_until(lambda: fake.looks > 10, what="it looks")
        fake.down.add("s1:eth49")
        follower.join(patient(60))
        assert not follower.is_alive()
        stream.close()
    assert any(one.get("sync_response") for one in heard)
    of_status = [one for one in all_updates(heard) if one["path"].endswith("oper-status")]
    assert [one["val"] for one in of_status] == ["UP", "DOWN"]
    assert sum(one["path"].endswith("dropped-pkts") for one in all_updates(heard)) >= 3


def all_updates(heard: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for message in heard for one in message.get("update", {}).get("update", [])]


def iter_until_down(stream: Any) -> Iterator[dict[str, Any]]:
    for message in stream:
        yield message
        if any(one["val"] == "DOWN" for one in message.get("update", {}).get("update", [])):
            return


@pytest.mark.vm
@pytest.mark.slow("a live lab carries an in-cast")
def test_counters_of_a_queue_agree_with_tc(artefacts: Artefacts, runtime: Path, tmp_path: Path) -> None:
    settings: Settings = {"variant": "dctcp", "senders": 8}
    with fabriclab.up("incast", set=settings, idle=True, speed="max", out=tmp_path / "run") as live:
        live.pause()
        live.start("sru")
        live.step("100 ms")
        told = json.loads(live.exec("s1", ["tc", "-s", "-j", "qdisc", "show", "dev", "eth49"]).stdout)
        (red,) = (one for one in told if one["kind"] == "red")
        with served(live.name, list(live.nodes)) as port, client(port) as asking:
            found = values(asking.get(path=[QUEUE], target="s1", encoding="json"))
    assert red["marked"] > 0
    assert (found["ecn-marked-pkts"], found["dropped-pkts"]) == (red["marked"], red["drops"])
    assert (found["transmit-pkts"], found["transmit-octets"]) == (red["packets"], red["bytes"])
