"""The replay in the machine: exact starts, groups across hosts, carriers of every kind.

What a trace says is what happens.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sample_plans import star
from vm import Vm

from fabriclab.compile import compile_job
from fabriclab.formats.job import Program
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Mptcp, Node, Queue, Route
from fabriclab.formats.plan.traffic import TraceTraffic

pytestmark = pytest.mark.vm

COLUMNS = (
    *("flow", "start_ns", "src", "dst", "size_bytes", "stop_ns", "mode", "request_bytes", "connection"),
    *("group", "after", "transport", "congestion_control", "dscp"),
)
ONE_WAY_NS = 50_000
NS_PER_BYTE = 8
"""Propagation from host to host of a star with 25 us a link."""
SUBFLOWS = 4

Row = dict[str, Any]
Log = dict[tuple[int, str], dict[str, str]]
"""Rows of the flow logs by flow and side."""


def flow(number: int, src: str, dst: str, **fields: Any) -> Row:
    """Return a flow of the trace; 4 bytes at the epoch if nothing else is said."""
    size = {} if "stop_ns" in fields else {"size_bytes": 4}
    return {"flow": number, "start_ns": 0, "src": src, "dst": dst, **size, **fields}


def with_trace(plan: Plan, flows: Iterable[Row], directory: Path) -> Plan:
    """Return the plan with a user's trace as its only traffic."""
    rows = [",".join(str(row.get(column, "")) for column in COLUMNS) for row in flows]
    text = "\n".join(["# fabriclab-trace-1", ",".join(COLUMNS), *rows]) + "\n"
    (directory / "mine.csv").write_text(text)
    trace = TraceTraffic(name="mine", file="mine.csv", sha256=hashlib.sha256(text.encode()).hexdigest())
    probes = plan.probes.model_copy(update={"tcp_classes": ()})
    return plan.model_copy(update={"traffic": (trace,), "probes": probes})


def play(vm: Vm, plan: Plan, flows: Iterable[Row], others: Sequence[Program] = ()) -> Log:
    """Play a trace, perhaps with other programs beside it, and return what the hosts logged."""
    plan = with_trace(plan, flows, vm.directory)
    assert vm.boot(plan, [*compile_job(plan)["traffic"], *others]).status == "complete"
    log: Log = {}
    for path in sorted((vm.directory / "run/raw/flows").glob("*.csv")):
        with path.open() as file:
            assert next(file) == "# fabriclab-flows-2\n"
            log.update({(int(row["flow"]), row["side"]): row for row in csv.DictReader(file)})
    return log


def program(node: str, command: str) -> Program:
    return {"name": f"program@{node}", "node": node, "argv": ["sh", "-c", command]}


def with_mptcp(plan: Plan) -> Plan:
    """Return the plan with a second to fourth address on each host, and a subflow from each of them."""
    mptcp = Mptcp(subflows=SUBFLOWS, add_addr_accepted=0, scheduler="default", path_manager="subflow")
    nodes: list[Node] = []
    routes: list[Route] = []
    for number, node in enumerate(plan.nodes, 1):
        if node.transport is None:
            nodes.append(node.model_copy(update={"routes": tuple(routes)}))
            continue
        extra = tuple(f"10.0.{128 + number}.{place}" for place in range(SUBFLOWS - 1))
        port = node.ports[0].model_copy(update={"extra_addresses": extra})
        nodes.append(
            node.model_copy(update={"ports": (port,), "transport": node.transport.model_copy(update={"mptcp": mptcp})})
        )
        routes.append(Route(destination=f"10.0.{128 + number}.0/30", next_hops=((f"10.0.{number}.1", f"eth{number}"),)))
    return plan.model_copy(update={"nodes": tuple(nodes)})


def test_what_is_due_at_one_instant_starts_at_that_instant(vm: Vm) -> None:
    burst = [flow(number, "h1", "h2", start_ns=1_000_000, size_bytes=2_000) for number in range(1000)]
    others = [
        flow(1000, "h3", "h2", start_ns=1_000_000),
        flow(1001, "h3", "h2", start_ns=1_000_001),
        flow(1002, "h1", "h4", start_ns=1_005_000, mode="pull"),
        flow(1003, "h4", "h2", start_ns=1_100_000, transport="mptcp"),
    ]
    log = play(vm, star(4), [*burst, *others])
    late = {
        row["flow"]: int(side["start_ns"]) - row["start_ns"]
        for row in [*burst, *others]
        for side in (log[row["flow"], "dst" if row.get("mode") == "pull" else "src"],)
    }
    assert max(late.values()) == min(late.values()) == 0
    assert {side["status"] for side in log.values()} == {"complete"}


def test_time_passes_for_a_program_that_never_sleeps(vm: Vm) -> None:
    # Readings of the clock and calls that fail cost nothing at first: but whoever only waits by them must see its wait
    # end.
    waits_for_the_clock = "from=$EPOCHREALTIME; while [[ $EPOCHREALTIME == $from ]]; do :; done"
    waits_for_a_file = "(sleep 0.001; echo > /tmp/there) & until [[ -e /tmp/there ]]; do :; done"
    programs = [
        {"name": f"wait@h{number}", "node": f"h{number}", "argv": ["bash", "-c", wait]}
        for number, wait in enumerate((waits_for_the_clock, waits_for_a_file), 1)
    ]
    assert vm.boot(star(2, traffic=()), programs).status == "complete"


def test_a_group_that_several_hosts_receive_is_waited_for_to_the_nanosecond(vm: Vm) -> None:
    maps = [
        flow(number, "h1", f"h{number + 2}", size_bytes=50_000 * (number + 1), group=f"job/map/{number}")
        for number in range(3)
    ]
    reduces = [
        flow(10 + number, f"h{number}", "h4", start_ns=700, size_bytes=9_000, after="job/map", group="job/reduce")
        for number in (1, 2)
    ]
    output = [
        flow(20, "h3", "h1", start_ns=5, after="job/reduce"),
        flow(21, "h4", "h1", mode="pull", after="job/map/0"),
    ]
    log = play(vm, star(4), [*maps, *reduces, *output])
    ends = {number: int(log[number, "dst"]["end_ns"]) for number in (0, 1, 2, 11, 12)}
    assert [int(log[number, "src"]["start_ns"]) for number in (11, 12)] == [max(ends[0], ends[1], ends[2]) + 700] * 2
    assert int(log[20, "src"]["start_ns"]) == max(ends[11], ends[12]) + 5
    assert int(log[21, "dst"]["start_ns"]) == ends[0]


def test_a_long_flow_of_a_group_is_complete_at_its_stop_time(vm: Vm) -> None:
    flows = [
        flow(0, "h1", "h2", stop_ns=20_000_000, group="phase"),
        flow(1, "h1", "h2", start_ns=1_000_000, stop_ns=30_000_000, mode="iperf3", group="phase"),
        flow(2, "h3", "h1", after="phase"),
    ]
    log = play(vm, star(3), flows)
    assert set(log) == {(0, "src"), (0, "dst"), (2, "src"), (2, "dst")}
    assert int(log[2, "src"]["start_ns"]) == 30_000_000


def test_a_request_is_sent_whole_before_the_answer(vm: Vm) -> None:
    segments = 10
    requests = [{}, {"request_bytes": segments * 1448}]
    flows = [
        flow(number, "h1", "h2", mode="pull", start_ns=number * 10**7, **more) for number, more in enumerate(requests)
    ]
    log = play(vm, star(2), flows)
    waits = [
        int(log[number, "dst"]["first_byte_ns"]) - int(log[number, "dst"]["start_ns"]) for number in range(len(flows))
    ]
    # The last packet leaves nine packets after the first, and takes at most one packet's time more than a small one
    # does on each of the two links (the bucket of a link that was idle lets a packet through at once).
    packet_ns = 1514 * 8
    assert (segments - 1) * packet_ns <= waits[1] - waits[0] <= (segments + 1) * packet_ns
    assert {side["status"] for side in log.values()} == {"complete"}


def test_mptcp_has_its_subflows_and_their_sums(vm: Vm) -> None:
    size_bytes = 5_000_000
    flows = [
        flow(0, "h1", "h2", size_bytes=size_bytes, transport="mptcp"),
        flow(1, "h1", "h2", start_ns=10**8, size_bytes=size_bytes, transport="mptcp", mode="pull"),
        flow(2, "h1", "h2", start_ns=2 * 10**8, stop_ns=3 * 10**8, transport="mptcp", congestion_control="reno"),
        flow(3, "h1", "h2", start_ns=4 * 10**8, size_bytes=size_bytes),
    ]
    log = play(vm, with_mptcp(star(2)), flows)
    ends = [log[number, "src"]["status"] for number in range(4)], [log[number, "dst"]["status"] for number in range(4)]
    assert ends == (["complete", "complete", "stopped", "complete"],) * 2
    for number in range(3):
        for side in ("src", "dst"):
            assert (log[number, side]["transport"], log[number, side]["subflows"]) == ("mptcp", str(SUBFLOWS))
    assert (log[3, "dst"]["transport"], log[3, "dst"]["subflows"]) == ("tcp", "")
    for number in (0, 1):
        # Packets with MPTCP's options carry 1400 bytes at least; the scheduler cuts some short.
        assert size_bytes / 1448 < int(log[number, "src"]["delivered"]) < 1.1 * size_bytes / 1400
    assert log[2, "dst"]["end_ns"] == log[2, "src"]["end_ns"] == str(3 * 10**8)


def test_mptcp_delivers_when_tcp_does(vm: Vm) -> None:
    flows = [
        flow(number, "h1", "h2", start_ns=number * 10**7, transport=transport)
        for number, transport in enumerate(("tcp", "mptcp"))
    ]
    log = play(vm, star(2), flows)
    took = [int(log[number, "dst"]["end_ns"]) - number * 10**7 for number in (0, 1)]
    # Three times one way, each begun at a NIC that sends a frame bit by bit: SYN, SYN-ACK, 4 bytes; and what the longer
    # headers take.
    handshake_ns, data_ns, ack_ns = 2 * 98 * NS_PER_BYTE, 94 * NS_PER_BYTE, 90 * NS_PER_BYTE
    assert took == pytest.approx([3 * ONE_WAY_NS + handshake_ns + data_ns] * 2, abs=3_000)
    told = [int(log[number, "src"]["end_ns"]) - number * 10**7 for number in (0, 1)]
    assert told == pytest.approx([4 * ONE_WAY_NS + handshake_ns + data_ns + ack_ns] * 2, abs=3_000)


def test_a_fallback_is_told(vm: Vm) -> None:
    # Linux takes two lost SYNs with MP_CAPABLE for a middlebox that drops such, and goes on without
    # (mptcp_active_detect_blackhole).
    lost = program("s1", "ip link set eth2 down; sleep 2.5; ip link set eth2 up")
    log = play(
        vm, with_mptcp(star(2)), [flow(0, "h1", "h2", start_ns=10**8, size_bytes=100_000, transport="mptcp")], [lost]
    )
    for side in ("src", "dst"):
        row = log[0, side]
        assert (row["status"], row["transport"], row["subflows"], row["bytes"]) == (
            "complete",
            "fallback",
            "",
            "100000",
        )
    assert int(log[0, "src"]["delivered"]) >= 100_000 // 1448


def test_a_class_has_its_own_congestion_control(vm: Vm) -> None:
    shallow = star(3, queue=Queue(limit_bytes=200_000, ecn_threshold_bytes=30_000))
    names = ["dctcp", "", "dctcp", "reno"]
    flows = [
        flow(
            number,
            f"h{1 + number % 2}",
            "h3",
            start_ns=number // 2 * 10**9,
            size_bytes=5_000_000,
            congestion_control=name,
        )
        for number, name in enumerate(names)
    ]
    log = play(vm, shallow, flows)
    marks = [int(log[number, "src"]["marks"]) for number in range(4)]
    assert [mark > 0 for mark in marks] == [name == "dctcp" for name in names]


def test_dscp_is_on_every_packet_and_ecn_stays_as_it_is(vm: Vm) -> None:
    flows = [
        flow(0, "h1", "h2", start_ns=10**8, size_bytes=30_000, dscp=46),
        flow(1, "h1", "h2", start_ns=2 * 10**8, size_bytes=30_000, dscp=8, congestion_control="dctcp", mode="pull"),
        flow(2, "h1", "h2", start_ns=3 * 10**8, size_bytes=30_000, dscp=10, transport="mptcp"),
    ]
    play(vm, star(2), flows, [program("h1", "timeout 0.5 tcpdump -Z root -l -i eth1 -nn -v tcp 2>/dev/null; true")])
    dump = (vm.directory / "run/logs/program@h1.log").read_text().splitlines()
    fields: dict[str, set[str]] = {"7000": set(), "7001": set(), "7002": set()}
    for head, packet in itertools.pairwise(dump):
        if "(tos " in head:
            port = next(port for port in fields if f".{port} >" in packet or f".{port}:" in packet)
            fields[port].add(head.split("(tos ")[1].split(",")[0])
    # The six bits of the DSCP, and ECT(0) with DCTCP.
    assert fields == {"7000": {f"{46 << 2:#x}"}, "7001": {f"{8 << 2 | 2:#x}"}, "7002": {f"{10 << 2:#x}"}}


def test_more_connections_than_ports_between_two_hosts(vm: Vm) -> None:
    """A port is free again a second after its connection's end: few ports last for any number of connections.

    Fewer than the connections that Linux keeps here for late packets (tcp_max_tw_buckets, 2,048): beyond those a port
    is free at once.
    """
    ports, count, apart_ns = 1_500, 2_500, 2_000_000
    few = program("h2", f"echo 10001 {10_000 + ports} > /proc/sys/net/ipv4/ip_local_port_range")
    flows = (flow(number, "h1", "h2", start_ns=(10 + number) * apart_ns, mode="pull") for number in range(count))
    log = play(vm, star(2), flows, [few])
    assert {side["status"] for side in log.values()} == {"complete"}
    assert len(log) == 2 * count
