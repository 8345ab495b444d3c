"""The kernel takes a sampler's samples itself: they are those that netlink tells, no process wakes for them, and
none is lost unseen."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from machine import START_NS, Boot, Star, receive, send
from switch_port import Account, Port, Queue

from fabriclab.compile.sampler import mark_counters

pytestmark = pytest.mark.vm
US, MS = 1_000, 1_000_000
PORTS = ("eth1", "eth2", "eth3")

Row = dict[str, str]


def configuration(output: str, interval_ns: int, netns: str | None) -> str:
    """Return what samples the root qdiscs of the switch; `netns`: of another network namespace than the sampler's."""
    place = {} if netns is None else {"netns": netns}
    ports = [{"name": f"s1:{port}", "interface": port, "handle": "1:", **place} for port in PORTS]
    queues = {"interval_ns": interval_ns, "output": f"/job/{output}", "ports": ports, "marks": mark_counters()}
    return json.dumps({"format": "fabriclab-sampler-1", "queues": queues})


TABLES = ("ports", "queues", "groups", "pools", "events")


def counters(output: str, interval_ns: int, netns: str | None) -> str:
    """Return what samples the interfaces of the switch, and what the switch counts, into files that begin so."""
    place = {} if netns is None else {"netns": netns}
    ports = [{"name": f"s1:{port}", "interface": port, **place} for port in ("eth1", "eth3")]
    every = {"interval_ns": interval_ns, "ports": ports}
    outputs = {table: f"/job/{output}-{table}.csv" for table in TABLES}
    interfaces = {**every, "output": f"/job/{output}-interfaces.csv"}
    switches = {**every, "outputs": outputs}
    return json.dumps({"format": "fabriclab-sampler-1", "interfaces": interfaces, "switches": switches})


def sampled(name: str, *while_it_runs: str) -> str:
    """Return the script that samples for 0.25 s, once the ports are there, and says how the sampler ended."""
    lines = ["sleep 0.005", f"/tools/sampler --config /job/{name}.json &", *while_it_runs]
    return "\n".join([*lines, "kill -TERM $!", "wait $!", 'echo "status $?"'])


def beside(script: str) -> tuple[str, list[str]]:
    """Return the probe that runs a script beside the nodes, and then stays until it is told to end."""
    stay = "trap 'exit 0' TERM\nsleep 100 &\nwait"
    return "", ["/bin/sh", "-c", f"{script}\n{stay}"]


def rows(run: Path, name: str) -> list[Row]:
    return list(csv.DictReader((run / name).read_text().splitlines()[1:]))


def slow_star(event: int | None = None) -> Star:
    """h1 and h2 send to h3, whose port has half of their rate; the port before h2 has another kind of qdisc."""
    nic = Port(queues=[Queue(0)])
    red = "qdisc add dev DEV root handle 1: red limit 200000 min 30000 max 30001 avpkt 1000 burst 31 ecn"
    slow = Port(rate_bps=500_000_000, queues=[Queue(0, Account(limit=90_000), event=event)])
    return Star([nic, nic, nic], [Port(), [red], slow])


BUSY = [
    ("h1", [send("10.3.0.2", count=4000, interval_ns=13_331, start_ns=START_NS + 3_217)]),
    ("h1", [send("10.2.0.2", count=40, interval_ns=1_313_373, start_ns=START_NS + 203_217)]),
    ("h2", [send("10.3.0.2", count=2000, interval_ns=31_337, start_ns=START_NS + 103_217), receive(200 * MS)]),
    ("h3", [receive(200 * MS)]),
]
"""Frames whose times are not multiples of an interval: nothing happens at the instant of a sample."""


def test_the_kernel_records_what_netlink_tells(boot: Boot) -> None:
    """A sampler in a node, whose processes have PIDs of their own, asks for each sample."""
    run = boot.run(
        slow_star(),
        [*BUSY, ("s1", [sampled("asks", "sleep 0.25")])],
        probes=[beside(sampled("reads", "sleep 0.25", "grep ^voluntary /proc/$!/status"))],
        files={
            "asks.json": configuration("asks.csv", 100 * US, None),
            "reads.json": configuration("reads.csv", 100 * US, "/run/netns/s1"),
        },
    )
    asked, read = (
        [row for row in rows(run, name) if START_NS < int(row["time_ns"]) < 200 * MS]
        for name in ("asks.csv", "reads.csv")
    )
    assert asked == read
    assert len(asked) > 500
    assert {row["port"] for row in asked} == {"s1:eth2", "s1:eth3"}, "nothing goes to h1"
    assert max(int(row["bytes"]) for row in asked) > 80_000
    assert any(int(row["drops"]) for row in asked)
    log = (run / "logs/probe-0.log").read_text()
    assert "late 0 max_late_ns 0" in log
    assert "status 0" in log
    switches = int(log.split("voluntary_ctxt_switches:")[1].split()[0])
    assert switches < 50, "a sample wakes the sampler"


def test_the_kernel_records_interfaces_and_switches(boot: Boot) -> None:
    """Congestion events are told when they happen; the sampler wakes for them, but not at each sample."""
    run = boot.run(
        slow_star(event=60_000),
        [*BUSY, ("s1", [sampled("asks", "sleep 0.25")])],
        probes=[beside(sampled("reads", "sleep 0.25", "grep ^voluntary /proc/$!/status"))],
        files={
            "asks.json": counters("asks", 100 * US, None),
            "reads.json": counters("reads", 100 * US, "/run/netns/s1"),
        },
    )
    for table in ("interfaces", "ports", "queues", "groups"):
        asked, read = (
            [row for row in rows(run, f"{name}-{table}.csv") if START_NS < int(row["time_ns"]) < 200 * MS]
            for name in ("asks", "reads")
        )
        assert asked == read, table
        assert asked, table
    events = [rows(run, f"{name}-events.csv") for name in ("asks", "reads")]
    assert events[0] == events[1]
    assert events[0]
    log = (run / "logs/probe-0.log").read_text()
    assert "status 0" in log
    switches = int(log.split("voluntary_ctxt_switches:")[1].split()[0])
    assert switches < 600, "a sample wakes the sampler"


def test_a_recorder_that_is_full_wakes_its_reader(boot: Boot) -> None:
    """What is recorded, 450 bytes each time, is twice what the kernel has room for."""
    run = boot.run(
        slow_star(),
        BUSY,
        probes=[beside(sampled("reads", "sleep 0.25"))],
        files={"reads.json": configuration("reads.csv", 10 * US, "/run/netns/s1")},
    )
    assert "status 0" in (run / "logs/probe-0.log").read_text()
    written = rows(run, "reads.csv")
    assert len(written) > 5_000
    times = [int(row["time_ns"]) for row in written]
    assert times == sorted(times)


def test_samples_that_nobody_read_are_an_error(boot: Boot) -> None:
    held = ("sleep 0.01", "kill -STOP $!", "sleep 0.24", "kill -CONT $!")
    run = boot.run(
        slow_star(),
        BUSY,
        probes=[beside(sampled("reads", *held))],
        files={"reads.json": configuration("reads.csv", 10 * US, "/run/netns/s1")},
    )
    log = (run / "logs/probe-0.log").read_text()
    assert "sampler: /proc/fabriclab_samples: samples were lost" in log
    assert "status 1" in log
    assert rows(run, "reads.csv"), "what was recorded before is written"
