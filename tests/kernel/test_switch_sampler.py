"""The sampler's rows of switch ports, against what the kernel tells `port-tool` at the same moment."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from machine import FULL_FRAME, FULL_WIRE, START_NS, Boot, Datagram, Star, datagrams, receive, send, show_at, shown
from switch_port import DROPS, MARKS, Account, Group, Pfc, Port, Queue, Shown, Wred, read_shown

from fabriclab.compile.sampler import mark_counters

pytestmark = pytest.mark.vm
US, MS = 1_000, 1_000_000
POOL = 50_000
TABLES = ("ports", "queues", "groups", "pools", "events")
SAMPLED_S = 0.25
"""How long the sampler runs."""

Row = dict[str, str]


def configuration(interfaces: Sequence[str], interval_ns: int) -> str:
    """Return what samples a node's switch ports and, as everyone does, the queues of their root qdiscs."""
    ports: list[dict[str, Any]] = [{"name": f"s1:{interface}", "interface": interface} for interface in interfaces]
    outputs = {table: f"/job/{table}.csv" for table in TABLES}
    queues = {
        "interval_ns": interval_ns,
        "output": "/job/backlog.csv",
        "ports": [{**port, "handle": "1:"} for port in ports],
        "marks": mark_counters(),
    }
    switches = {"interval_ns": interval_ns, "outputs": outputs, "ports": ports}
    return json.dumps({"format": "fabriclab-sampler-1", "queues": queues, "switches": switches})


SAMPLE = f"sleep 0.005; /tools/sampler --config /job/sampler.json & sleep {SAMPLED_S}; kill -TERM $!; wait $!"
"""Samples for a time, once the ports are there."""


def rows(run: Path, table: str) -> list[Row]:
    return list(csv.DictReader((run / f"{table}.csv").read_text().splitlines()[1:]))


def in_force(run: Path, table: str, time_ns: int, **of: str) -> Row:
    """The last row of one port, queue, group or pool at a time, without its time."""
    found = [row for row in rows(run, table) if int(row["time_ns"]) <= time_ns and of.items() <= row.items()]
    return {key: value for key, value in found[-1].items() if key != "time_ns"}


def queue_row(port: str, number: int, queue: dict[str, Any]) -> Row:
    """The row that says what the kernel told of a queue."""
    # What a congestion point did is the kernel's to tell alone; what was trimmed has a table of its own.
    others = (
        "cells",
        "drops",
        "marks",
        "samples",
        "notifications",
        "trimmed_packets",
        "trimmed_bytes",
        "trimmed_drops",
    )
    values = {key: value for key, value in queue.items() if key not in others}
    values |= {f"dropped_{cause}": queue["drops"][cause] for cause in DROPS} | {
        f"marked_{cause}": queue["marks"][cause] for cause in MARKS
    }
    return {"port": port, "queue": str(number), **{key: str(value) for key, value in values.items()}}


def pool_row(index: int, pool: dict[str, int]) -> Row:
    return {
        "switch": "s1",
        "pool": str(index),
        **{f"{key.removesuffix('_bytes')}_bytes": str(value) for key, value in pool.items()},
    }


def assert_rows_tell(run: Path, interface: str, time_ns: int, told: Shown) -> None:
    """Whether the rows in force at a time are what the kernel told then."""
    port = f"s1:{interface}"
    counters = ("marks", "drops", "lost", "pauses_sent", "pauses_received")
    assert in_force(run, "ports", time_ns, port=port) == {
        "port": port,
        **{key: str(told.port[key]) for key in counters},
    }
    for number, queue in told.queues.items():
        assert in_force(run, "queues", time_ns, port=port, queue=str(number)) == queue_row(port, number, queue)
    for number, group in told.groups.items():
        expected = {"port": port, "group": str(number), **{key: str(value) for key, value in group.items()}}
        assert in_force(run, "groups", time_ns, port=port, group=str(number)) == expected
    for index, pool in enumerate(told.port["pools"]):
        if pool["size"]:
            assert in_force(run, "pools", time_ns, switch="s1", pool=str(index)) == pool_row(index, pool)
    backlog = in_force(run, "backlog", time_ns, port=port)
    assert [backlog[key] for key in ("bytes", "drops", "marks")] == [
        str(value) for value in (told.backlog["backlog"], told.port["drops"], told.port["marks"])
    ]


def busy_star() -> Star:
    """h1 and h2 send to h3, which is slow: h1 is paused, h2 loses, and what waits is marked."""
    pools = {0: (100_000, 20_000), 2: (7_000, 0)}
    lossless = Group(0, Account(pool=0, limit=30_000), lossless=(20_000, 10_000, 0))
    egress = Queue(
        0, Account(pool=0, limit=60_000), event=30_000, wred=Wred(40_000, 40_000), phantom=(400_000_000, 50_000)
    )
    nic = Port(pfc=Pfc(1), queues=[Queue(0)])
    ports = [
        Port(pools=pools, groups=[lossless], pfc=Pfc(1)),
        Port(groups=[Group(0, Account(pool=0, limit=25_000))]),
        Port(rate_bps=500_000_000, queues=[egress, Queue(3, Account(pool=2))]),
    ]
    return Star([nic, nic, Port()], ports)


BUSY = [
    ("h1", [send("10.3.0.2", count=400, start_ns=START_NS + 3_217)]),
    ("h2", [send("10.3.0.2", count=60, start_ns=START_NS + 103_217)]),
]
"""No sample is due when they start: the timer of one that is wakes a sleeper that may be woken a nanosecond later."""


def test_rows_are_what_the_kernel_tells_at_the_same_moment(boot: Boot) -> None:
    interfaces = ["eth1", "eth2", "eth3"]
    times = [START_NS + 500 * US, START_NS + 2_300 * US, START_NS + 7_100 * US]
    looks = [show_at(interface, time, f"{interface}-{time}") for interface in interfaces for time in times]
    run = boot.run(
        busy_star(),
        [*BUSY, ("h3", [receive(100 * MS)]), ("s1", [SAMPLE]), ("s1", looks)],
        files={"sampler.json": configuration(interfaces, 100 * US)},
    )
    told = {
        (interface, time): read_shown((run / f"{interface}-{time}").read_text())
        for interface in interfaces
        for time in times
    }
    for (interface, time), what in told.items():
        assert_rows_tell(run, interface, time, what)
    for interface in interfaces:
        assert_rows_tell(run, interface, 10**18, shown(run, "s1", interface))
    # Each kind of figure was at work.
    late = told["eth3", times[1]]
    assert late.queues[0]["marks"]["wred"] > 0
    assert late.queues[0]["drops"]["ingress"] > 0
    assert told["eth1", times[1]].groups[0]["xoff_ns"] > 0
    assert late.port["pools"][0]["headroom_watermark"] > 0


def test_a_row_is_written_on_change_and_at_the_end(boot: Boot) -> None:
    listening = [*BUSY, ("h3", [receive(100 * MS)])]
    run = boot.run(
        busy_star(), [*listening, ("s1", [SAMPLE])], files={"sampler.json": configuration(["eth1", "eth3"], 100 * US)}
    )
    assert (run / "logs/s1-1.log").read_text().splitlines()[-1].endswith("late 0 max_late_ns 0")
    for table, keys in (
        ("ports", ["port"]),
        ("queues", ["port", "queue"]),
        ("groups", ["port", "group"]),
        ("pools", ["switch", "pool"]),
    ):
        by_subject: dict[tuple[str, ...], list[Row]] = {}
        times = []
        for row in rows(run, table):
            times.append(int(row.pop("time_ns")))
            by_subject.setdefault(tuple(row[key] for key in keys), []).append(row)
        assert times == sorted(times)
        assert all(time % (100 * US) == 0 for time in times[: -len(by_subject)])
        assert len(set(times[-len(by_subject) :])) == 1, "all have a row at the end"
        for mine in by_subject.values():
            assert all(before != after for before, after in pairwise(mine[:-1]))
        assert sorted(by_subject) == SUBJECTS[table]


SUBJECTS = {
    "ports": [("s1:eth1",), ("s1:eth3",)],
    "queues": [("s1:eth3", "0"), ("s1:eth3", "3")],
    "groups": [("s1:eth1", "0")],
    "pools": [("s1", "0"), ("s1", "2")],
}
"""What is configured, or had a frame."""


def test_events_have_begin_end_peak_and_ingress(boot: Boot) -> None:
    """The figures of `test_a_congestion_event_tells_when_how_much_and_from_where`;
    a second queue's event is still on at the end."""
    egress = Port(rate_bps=500_000_000, queues=[Queue(0, event=30_000)])
    slow = Port(rate_bps=1_000_000, queues=[Queue(0, event=2 * FULL_FRAME)])
    star = Star([Port()] * 4, [Port(), Port(), egress, slow])
    run = boot.run(
        star,
        [
            ("h1", [send("10.3.0.2", count=100)]),
            (
                "h2",
                [
                    send("10.3.0.2", count=1, start_ns=START_NS + 600_000),
                    send("10.4.0.2", count=40, start_ns=START_NS + 50 * MS),
                ],
            ),
            ("s1", [SAMPLE]),
        ],
        files={"sampler.json": configuration(["eth3", "eth4"], 10 * MS)},
    )
    first, second = rows(run, "events")
    begin_ns = START_NS + 40 * FULL_WIRE * 8
    end_ns = START_NS + (8 + 91 * 16) * FULL_WIRE
    peak = shown(run, "s1", "eth3").queues[0]["watermark_bytes"]
    ingress = f"eth1={80 * FULL_FRAME};eth2={FULL_FRAME}"
    assert list(first.values()) == [str(begin_ns), str(end_ns), "s1:eth3", "0", str(peak), ingress]
    # The first frame leaves at once; with the third there are two that wait.
    begin_ns = START_NS + 50 * MS + 3 * FULL_WIRE * 8
    assert list(second.values()) == [str(begin_ns), "", "s1:eth4", "0", str(2 * FULL_FRAME), f"eth2={2 * FULL_FRAME}"]


def test_events_that_were_lost_are_counted(boot: Boot) -> None:
    """Every frame is an event, and the sampler looks once a second only."""
    star = Star([Port()] * 2, [Port(), Port(queues=[Queue(0, event=100)])])
    run = boot.run(
        star,
        [("h1", [send("10.2.0.2", count=12_000)]), ("s1", [SAMPLE]), ("s1", ["/job/port-tool events 240000000"])],
        files={"sampler.json": configuration(["eth2"], 1_000 * MS)},
    )
    said = [line for line in (run / "logs/s1-1.log").read_text().splitlines() if line.startswith("sampler:")]
    assert len(said) == 1
    lost = int(said[0].split()[2])
    messages = len((run / "logs/s1-2.log").read_text().splitlines())
    assert messages == 2 * 12_000
    taken = rows(run, "events")
    assert 2 * len(taken) - [row["end_ns"] for row in taken].count("") == messages - lost
    assert len(taken) > 4_000


def test_a_port_that_goes_has_empty_rows_and_comes_back(boot: Boot) -> None:
    """eth1 loses its qdisc; the pair `new` and `other` is deleted and made again."""
    make = "ip link add new type veth peer name other; ip link set new up; /job/port-tool add new /job/s1-eth1"
    changes = [
        "/job/port-tool del eth1; sleep 0.02; ip link del new; sleep 0.02; /job/port-tool add eth1 /job/s1-eth1",
        make,
    ]
    port = Port(pools={0: (POOL, 0)}, queues=[Queue(2, Account(pool=0))], groups=[Group(5, Account(pool=0))])
    run = boot.run(
        Star([Port()], [port]),
        [("s1", ["sleep 0.003", make]), ("s1", [SAMPLE]), ("s1", ["sleep 0.05", *changes])],
        files={"sampler.json": configuration(["eth1", "new"], MS)},
    )
    subjects: dict[str, dict[str, str]] = {"ports": {}, "queues": {"queue": "2"}, "groups": {"group": "5"}}
    for table, subject in subjects.items():
        for name in ("s1:eth1", "s1:new"):
            mine = [row for row in rows(run, table) if row["port"] == name and subject.items() <= row.items()]
            told = [{value for key, value in row.items() if key not in ("time_ns", "port", *subject)} for row in mine]
            assert told == [{"0"}, {""}, {"0"}, {"0"}], (table, name)
    sizes = [row["size_bytes"] for row in rows(run, "pools")]
    assert sizes == [str(POOL), "", str(POOL), str(POOL)]


def test_what_is_no_switch_port_is_refused_by_name(boot: Boot) -> None:
    star = Star([Port()] * 2, [Port(), ["qdisc add dev DEV root handle 3: bfifo limit 30000"]])
    bad = {"plain.json": configuration(["eth1", "eth2"], MS), "missing.json": configuration(["eth9"], MS)}
    only_switches = {
        name: json.dumps({k: v for k, v in json.loads(text).items() if k != "queues"}) for name, text in bad.items()
    }
    ask = [f"sleep 0.005; /tools/sampler --config /job/{name}; echo exit $?" for name in bad]
    run = boot.run(star, [("s1", ask)], files=only_switches)
    # Series 6.12 has sit0 in each namespace, 7.3 has not.
    words = (run / "logs/s1-1.log").read_text().replace("sit0, ", "").splitlines()
    assert words == [
        "sampler: /job/plain.json: switches.ports[1].interface: `eth2` of the sampler's own network namespace "
        "does not have the qdisc switch_port; "
        "its qdiscs are: 3: (bfifo)",
        "exit 2",
        "sampler: /job/missing.json: switches.ports[0].interface: `eth9` does not exist in the sampler's own network "
        "namespace; "
        "there are: lo, eth1, eth2",
        "exit 2",
    ]


def arrivals(boot: Boot, name: str, interval_ns: int | None) -> tuple[list[Datagram], Shown]:
    """What arrives at h3, to the nanosecond, and what the switch tells at the end."""
    sampled = [] if interval_ns is None else [("s1", [SAMPLE])]
    files = {} if interval_ns is None else {"sampler.json": configuration(["eth1", "eth2", "eth3"], interval_ns)}
    boot = Boot(boot.artefacts, boot.tool, boot.directory)
    run = boot.run(busy_star(), [*BUSY, ("h3", [receive(100 * MS)]), *sampled], name=name, files=files)
    return datagrams(boot, run, "h3-0"), shown(run, "s1", "eth3")


def test_sampling_changes_nothing(boot: Boot) -> None:
    often, seldom, never = (arrivals(boot, f"run-{interval}", interval) for interval in (10 * US, 10 * MS, None))
    assert len(never[0]) > 300
    assert often == seldom == never
