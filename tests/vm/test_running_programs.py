"""Programs of a lab's own in the machine: they wait for each other, fail as they should, and bring a layer along."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from sample_plans import star
from vm import Vm

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import Awaited, ProgramTraffic

pytestmark = pytest.mark.vm

MS = 1_000_000


def program(name: str, node: str, *argv: str, **more: Any) -> ProgramTraffic:
    """Return a program with what is the same for most of them."""
    return ProgramTraffic(name=name, node=node, argv=argv, **{"start_ns": 0, "memory_bytes": 64 << 20, **more})


SERVING = """
import socket
server = socket.create_server(("", 8000))
while True:
    connection = server.accept()[0]
    connection.sendall(b"hello")
    connection.close()
"""
SERVER = program("server", "h1", "python3", "-c", SERVING, serves=True)
CLIENT = program(
    "client",
    "h2",
    *("bash", "-c", "cat </dev/tcp/h1/8000"),
    start_ns=3 * MS,
    after=(Awaited(program="server", port=8000),),
    output="result.txt",
)


def two_hosts(*traffic: ProgramTraffic) -> Plan:
    """Return two hosts and a switch; no flow is sampled, for programs have none."""
    plan = star(2, traffic=traffic)
    probes = plan.probes.model_copy(update={"tcp_interval_ns": None, "tcp_classes": ()})
    return plan.model_copy(update={"probes": probes})


def table(vm: Vm, name: str = "run") -> dict[str, dict[str, Any]]:
    rows = pl.read_parquet(vm.directory / name / "programs.parquet").to_dicts()
    return {row["program"]: row for row in rows}


def test_a_client_waits_for_its_server_and_the_run_for_the_client(vm: Vm) -> None:
    last = program("last", "h2", "sh", "-c", "echo $WHO; exit 3", status=3, environment=(("WHO", "me"),))
    last = ProgramTraffic(**{**last.__dict__, "after": (Awaited(program="client"),)})
    plan = two_hosts(SERVER, CLIENT, last)
    assert vm.run(plan).status == "complete"
    rows = table(vm)
    assert rows["client"]["start_ns"] >= 3 * MS and rows["client"]["status"] == "exit 0"
    assert rows["last"]["start_ns"] >= rows["client"]["end_ns"] and rows["last"]["status"] == "exit 3"
    assert (rows["server"]["ended_by"], vm.summary()["program_ns"]) == (
        "signal",
        rows["client"]["end_ns"] - rows["client"]["start_ns"],
    )
    assert (vm.directory / "run" / "output" / "result.txt").read_text() == "hello"
    assert (vm.directory / "run" / "logs" / "last@h2.log").read_text() == "me\n"
    vm.run(plan, "again")
    assert table(vm, "again") == rows, "the same lab and seed are the same run"


HEARING = """
import socket
hearing = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
hearing.bind(("", 9000))
while True:
    hearing.recv(2000)
    print("heard", flush=True)
"""
SENDING = """
import socket
sending = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(60):
    sending.sendto(bytes(1000), ("h1", 9000))
"""


def test_datagrams_that_stand_in_a_queue_when_their_sender_has_ended_arrive(vm: Vm) -> None:
    """60 of them take 5 ms of the slow line, and their sender hands them down at one instant."""
    hears = program("hears", "h1", "python3", "-c", HEARING, serves=True, output="heard.txt")
    sends = program("sends", "h2", "python3", "-c", SENDING, start_ns=50 * MS)
    plan = two_hosts(hears, sends)
    slow = [
        node.model_copy(
            update={"ports": tuple(port.model_copy(update={"rate_bps": 10**8}) for port in node.ports)}
            if node.name in ("h1", "s1")
            else {}
        )
        for node in plan.nodes
    ]
    slow_plan = plan.model_copy(update={"nodes": tuple(slow)})
    assert vm.run(slow_plan).status == "complete"
    heard = (vm.directory / "run" / "output" / "heard.txt").read_text()
    assert heard.count("heard") == 60
    ended_ns = table(vm)["hears"]["end_ns"] - table(vm)["sends"]["end_ns"]
    assert 4 * MS < ended_ns < 20 * MS
    # A bound: the run's own limit.
    early = slow_plan.model_copy(update={"limit_ns": table(vm)["sends"]["end_ns"] + 3 * MS})
    assert vm.run(early, "early").status == "limit"


def test_one_that_fails_ends_the_run_and_says_why(vm: Vm) -> None:
    bad = program("bad", "h1", "sh", "-c", "echo it went wrong; exit 7", start_ns=5 * MS)
    result = vm.run(two_hosts(bad, program("long", "h2", "sleep", "100")))
    assert result.status == "failed"
    assert "bad@h1 ended with exit 1: it went wrong | replay: bad ended with exit 7; exit 0 was expected" in (
        result.message
    )
    assert table(vm)["long"]["ended_by"] == "signal"
    assert "it went wrong" in (vm.directory / "run" / "logs" / "bad@h1.log").read_text()


def test_what_a_program_waited_for_is_told_when_the_time_is_up(vm: Vm) -> None:
    deaf = program("deaf", "h1", "sleep", "100", serves=True)
    client = program("client", "h2", "true", after=(Awaited(program="deaf", port=80),))
    plan = two_hosts(deaf, client).model_copy(update={"limit_ns": 50 * MS})
    assert vm.run(plan).status == "limit"
    assert table(vm)["client"]["start_ns"] is None


def test_a_layer_of_packages_is_over_the_nodes_that_have_programs(vm: Vm) -> None:
    """netcat is in no root file system of ours; its package is small, and so is what it needs."""
    server = program(
        "server", "h1", *("sh", "-c", "echo hello | nc.openbsd -N -l 80"), packages=("netcat-openbsd",), serves=True
    )
    client = program(
        "client",
        "h2",
        "sh",
        "-c",
        "nc.openbsd -N h1 80 </dev/null; ldd $(command -v nc.openbsd)",
        after=(Awaited(program="server", port=80),),
    )
    plan = two_hosts(server, client)
    assert vm.with_packages(plan).run(plan).status == "complete"
    said = (vm.directory / "run" / "logs" / "client@h2.log").read_text()
    assert said.startswith("hello\n") and "not found" not in said
