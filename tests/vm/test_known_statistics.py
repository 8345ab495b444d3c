"""What queueing theory, and the theory of TCP under random loss, demand of the emulation: known answers of averages."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from fidelity import known
from frame_sizes import PAYLOAD_BYTES
from multipath_plans import generated_plan
from sample_plans import CUBIC, GBPS, star
from vm import Vm

from fabriclab.formats.plan.model import Event, Plan
from fabriclab.formats.plan.node import Queue
from fabriclab.formats.plan.traffic import LongTraffic, QueryTraffic
from fabriclab.formats.plan.traffic.drawn import Arrivals, FixedSize
from fabriclab.qdiscs.codel import Codel

pytestmark = pytest.mark.vm

FRAME_NS = 12_304
"""The time of a full frame at 1 Gbps."""
RENO = CUBIC.model_copy(
    update={
        "congestion_control": "reno",
        "delayed_ack": False,
        "receive_buffer_bytes": 64_000_000,
        "send_buffer_bytes": 64_000_000,
    }
)
LARGE = Queue(limit_bytes=50_000_000)
START_NS = 100_000_000


def unsampled(plan: Plan) -> Plan:
    """Return the plan without probes."""
    nothing = {"queue_interval_ns": None, "queue_ports": (), "tcp_interval_ns": None, "tcp_classes": ()}
    return plan.model_copy(update={"probes": plan.probes.model_copy(update=nothing)})


def with_rate(plan: Plan, node: str, interface: str, rate_bps: int) -> Plan:
    """Return the plan with another rate at one port."""
    nodes = tuple(
        each.model_copy(
            update={
                "ports": tuple(
                    port.model_copy(update={"rate_bps": rate_bps})
                    if (each.name, port.interface) == (node, interface)
                    else port
                    for port in each.ports
                )
            }
        )
        for each in plan.nodes
    )
    return plan.model_copy(update={"nodes": nodes})


def lossy(hosts: Sequence[int], ppm: int) -> Event:
    """Return the loss of the links of some hosts, from the start on."""
    links = tuple((f"h{host}:eth1", f"s1:eth{host}") for host in hosts)
    return Event(name=f"lossy{ppm}", at_ns=0, links=links, action="change", loss_ppm=ppm)


@pytest.mark.parametrize("load", [0.4, 0.72])
def test_frames_of_a_poisson_process_wait_as_in_an_m_d_1_queue(vm: Vm, load: float) -> None:
    """Answers of one frame from many workers to one aggregator; every port but the aggregator's is much faster."""
    workers = tuple(f"h{number}" for number in range(2, 34))
    interval_ns = round(FRAME_NS / load)
    queries = QueryTraffic(
        name="queries",
        aggregators=("h1",),
        workers=workers,
        fan_out=1,
        request_bytes=4,
        response=FixedSize(size_bytes=PAYLOAD_BYTES),
        arrivals=Arrivals(process="poisson", interval_ns=interval_ns, jitter_ns=0, burst_flows=1),
        start_ns=START_NS,
        stop_ns=START_NS + 20_000 * interval_ns,
        connection="kept",
    )
    plan = star(len(workers) + 1, rate_bps=100 * GBPS, delay_ns=1_000, traffic=(queries,), queue=LARGE)
    assert vm.run(unsampled(with_rate(plan, "s1", "eth1", GBPS))).status == "complete"
    times_ns = np.array([flow["fct_ns"] for flow in vm.flows()])
    waits_ns = times_ns - times_ns.min()
    # By Little's law and Pollaczek and Khinchine.
    waiting = load * float(waits_ns.mean()) / FRAME_NS
    known(
        f"M/D/1 queue at a load of {load}, frames that wait", load**2 / 2 / (1 - load), waiting, "frames", within=0.06
    )
    none = 100 * float((waits_ns < 10).mean())
    known(f"M/D/1 queue at a load of {load}, frames that do not wait", 100 * (1 - load), none, "%", within=0.06)


def test_a_link_loses_the_share_that_it_is_to_lose(vm: Vm) -> None:
    """Two links for each share, for each has its own random numbers; a ping crosses its link twice."""
    shares = (1_000, 10_000, 100_000, 500_000)
    count, pairs = 4_000, [(ppm, 2 * index + end) for index, ppm in enumerate(shares, start=1) for end in (-1, 0)]
    events = tuple(lossy([host for ppm, host in pairs if ppm == share], share) for share in shares)
    plan = star(9, delay_ns=1_000, traffic=(), events=events, limit_ns=10**13)
    pings = [
        # Traffic of a job that is not the plan's may start before the plan's events.
        {"name": f"ping@h{host}", "node": f"h{host}", "argv": ["sh", "-c", f"sleep 1; ping -f -q -c {count} 10.0.9.1"]}
        for _, host in pairs
    ]
    assert vm.boot(plan, pings).status == "complete"
    deviations = []
    for ppm, host in pairs:
        said = (vm.directory / "run" / "logs" / f"ping@h{host}.log").read_text()
        found = re.search(r"(\d+) packets transmitted, (\d+) received", said)
        assert found is not None and int(found[1]) == count
        returned = (1 - ppm / 10**6) ** 2
        deviations.append((int(found[2]) - count * returned) / math.sqrt(count * returned * (1 - returned)))
    # Less than one in a thousand times by chance: chi-square with 8 degrees of freedom, the sum's normal distribution.
    assert sum(deviation**2 for deviation in deviations) < 26.1, deviations
    assert abs(sum(deviations)) / math.sqrt(len(deviations)) < 3.3, deviations


def windows_segments(vm: Vm, plan: Plan, from_ns: int) -> dict[str, float]:
    """Return the mean window of each sender in segments, from a time on: what is acknowledged in a round trip."""
    looking = {"queue_interval_ns": None, "queue_ports": (), "tcp_interval_ns": 100_000_000}
    assert vm.run(plan.model_copy(update={"probes": plan.probes.model_copy(update=looking)})).status == "complete"
    hosts = {node.name: node.ports[0] for node in plan.nodes if node.role == "host"}
    receiver = hosts[f"h{len(hosts)}"]
    found = {}
    samples = vm.tcp().filter(pl.col("bytes_acked").is_not_null() & (pl.col("time_ns") >= from_ns))
    for sender in sorted(set(hosts) - {f"h{len(hosts)}"}):
        rows = samples.filter(pl.col("node") == sender).sort("time_ns")
        acknowledged, elapsed_ns = (int(rows[name][-1] - rows[name][0]) for name in ("bytes_acked", "time_ns"))
        round_trip_ns = 2 * (hosts[sender].delay_ns + receiver.delay_ns)
        found[sender] = acknowledged / PAYLOAD_BYTES * round_trip_ns / elapsed_ns
    return found


def lossy_star(ppm: int, delays_ns: Sequence[int], stop_ns: int) -> Plan:
    """Return one flow of Reno for each delay, each over a lossy link of its own, which meet in no queue."""
    senders = tuple(f"h{number}" for number, _ in enumerate(delays_ns, start=1))
    receiver = f"h{len(senders) + 1}"
    # Not at one instant: they would lose the same packets.
    long = LongTraffic(
        name="long", senders=senders, receiver=receiver, start_ns=0, stop_ns=stop_ns, stagger_ns=1_000_000
    )
    plan = star(
        len(senders) + 1,
        rate_bps=100 * GBPS,
        queue=LARGE,
        transport=RENO,
        traffic=(long,),
        events=(lossy(range(1, len(senders) + 1), ppm),),
        limit_ns=10**11,
    )
    delay_of = dict(zip(senders, delays_ns, strict=True))
    nodes = []
    for node in plan.nodes:
        ports = tuple(
            port.model_copy(update={"delay_ns": delay_of.get(node.name, delay_of.get(port.peer_node, 50_000))})
            for port in node.ports
        )
        nodes.append(node.model_copy(update={"ports": ports}))
    return plan.model_copy(update={"nodes": tuple(nodes)})


@pytest.mark.parametrize("ppm", [2_000, 5_000, 10_000])
def test_renos_window_falls_by_the_square_root_of_the_loss(vm: Vm, ppm: int) -> None:
    """T. Ott, J. Kemperman, M. Mathis, "The stationary behavior of ideal TCP congestion avoidance", 1996: with losses
    that are independent, 1.3098 / sqrt(p). The ideal TCP has no timeouts; ours has some at 1 %."""
    # The first two seconds are slow start's, and the way down from it.
    found = list(windows_segments(vm, lossy_star(ppm, [950_000] * 8, 6 * 10**9), 2 * 10**9).values())
    # Student's t with 7 degrees of freedom.
    interval = 2.365 * statistics.stdev(found) / math.sqrt(len(found))
    theory = 1.3098 / math.sqrt(ppm / 10**6)
    named = f"Mean window of Reno, {ppm / 10_000:g} % random loss"
    known(named, theory, statistics.mean(found), "segments", within=0.12, interval=interval)


def test_flows_of_equal_loss_share_by_their_round_trips(vm: Vm) -> None:
    """As many packets a round trip, so a fourth of the round trip makes four times the goodput."""
    plan = lossy_star(3_000, [450_000] * 4 + [1_950_000] * 4, 6 * 10**9)
    found = list(windows_segments(vm, plan, 2 * 10**9).values())
    short, long = statistics.mean(found[:4]), statistics.mean(found[4:])
    known("Goodput of Reno, 1 ms by 4 ms of round trip, equal loss", 4, 4 * short / long, "times", within=0.15)


def test_codel_drops_when_its_control_law_says(vm: Vm) -> None:
    """RFC 8289, section 5.3: the n-th drop is followed by the next after interval / sqrt(n), while the queue stands."""
    codel = Codel()
    plan = star(2, rate_bps=10_000_000, queue=Queue(limit_bytes=50_000_000, aqm=codel), traffic=())
    plan = with_rate(with_rate(plan, "h1", "eth1", GBPS), "s1", "eth1", GBPS)
    plan = plan.model_copy(update={"probes": plan.probes.model_copy(update={"tcp_interval_ns": None})})
    # iperf3's own messages stand in the queue too, so both ends are ended.
    server, client = "timeout 7 iperf3 -s; true", "sleep 1; timeout 5 iperf3 -u -c 10.0.2.1 -b 20M -l 1400 -t 6; true"
    jobs = [
        {"name": f"iperf3@{node}", "node": node, "argv": ["sh", "-c", script]}
        for node, script in (("h2", server), ("h1", client))
    ]
    assert vm.boot(plan, jobs, sampled=True).status == "complete"
    rows = pl.read_csv(vm.directory / "run" / "raw" / "queues.csv", comment_prefix="#")
    drops = rows.filter(pl.col("drops") > 0)
    first_ns = int(drops["time_ns"][0])
    end_ns = first_ns + 3 * 10**9
    due_ns, theory = first_ns, 0
    while due_ns <= end_ns:
        theory += 1
        due_ns += round(codel.interval_ns / math.sqrt(theory))
    measured = int(drops.filter(pl.col("time_ns") <= end_ns)["drops"][-1])
    # Linux takes one step of Newton's method a drop (codel_Newton_step), which makes the first few intervals shorter.
    known("CoDel's drops in 3 s of a standing queue", theory, measured, "packets", within=0.03)


def test_ecmp_spreads_flows_evenly(vm: Vm) -> None:
    """4,000 flows of one segment over four paths, by the kernel's hash of their five fields."""
    experiment = """
title: ECMP
switches: {default: {buffer: 1 MB}}
hosts: {default: {rto_min: 10 ms}}
traffic: {flows: {kind: flows, senders: [h1], receiver: h2, size: 100 B, count: 4000, interval: 100 us}}
probes: {interfaces: {interval: 100 ms}}
"""
    plan = generated_plan(vm, "leaf-spine --spines 4 --leaves 2 --hosts 1", experiment)
    assert vm.run(plan).status == "complete"
    last = pl.read_parquet(vm.directory / "run" / "interfaces.parquet").group_by("port").agg(pl.col("tx_packets").max())
    sent = dict(last.iter_rows())
    frames = [sent[f"leaf1:eth{number}"] for number in range(2, 6)]
    each = sum(frames) / 4_000
    flows = [count / each for count in frames]
    # Less than one in a thousand times by chance, with 3 degrees of freedom.
    assert sum((count - 1_000) ** 2 / 1_000 for count in flows) < 16.27, flows
    known("ECMP, flows of 4,000 on the fullest of 4 paths", 1_000, max(flows), "flows", within=0.1)
