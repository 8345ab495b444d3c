"""Flows over RoCE as a user has them: known answers, and what a capture shows of them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from lab_runs import LabRun, run_lab
from pcapng_reading import read_packets
from vm import Vm
from wireshark import decoded as tshark_decoded

from fabriclab.lab import parse_lab
from fabriclab.report.drawing.pools import pool_of_run
from fabriclab.report.figures.tcp import cwnd_picture, throughput_picture
from fabriclab.resolve import resolve_plan
from fabriclab.results import read_run

pytestmark = [pytest.mark.vm, pytest.mark.xdist_group("roce-flows")]

WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY, ACKNOWLEDGE, CNP = 6, 7, 8, 10, 17, 0x81
READ_REQUEST, READ_FIRST, READ_MIDDLE, READ_LAST = 12, 13, 14, 15
OPCODES = {WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY, ACKNOWLEDGE, CNP}
LINE_GBPS = 40 * 1024 / 1106
"""What a link of 40 Gbps carries of data, in packets of 1,024 B with 82 B around each."""
TOPOLOGY = """
name: star
topology:
  kinds: {linux: {image: 'fabriclab/host:latest'}}
  nodes:
    s1: {kind: linux, image: 'fabriclab/switch:latest', labels: {fabriclab.role: switch}}
    h1: {kind: linux, labels: {fabriclab.role: host}}
    h2: {kind: linux, labels: {fabriclab.role: host}}
  links:
    - endpoints: ["h1:eth1", "s1:eth1"]
    - {endpoints: ["h2:eth1", "s1:eth2"], vars: {rate: RATE, delay: 3 us}}
"""
IDLE = """
title: RoCE on an idle path
switches: {default: {pools: {all: {size: 1 MB}}, queues: {default: {pool: all, alpha: 1}}}}
hosts: {default: {nic: {clock_error: 0 ppm, roce: {mtu: MTU}}}}
traffic:
"""


def idle_lab(directory: Path, mtu: int, rate: str) -> Path:
    """Write a lab in which each flow is alone."""
    traffic, start_us = "", 0
    for size in (4, 5, 84, mtu - 1, mtu, mtu + 1, 2 * mtu, 100_000):
        for mode in ("push", "pull", "read"):
            traffic += (
                f"  {mode}-{size}: {{kind: flows, senders: [h1], receiver: h2, size: {size} B, mode: {mode}, "
                f"transport: roce, start: {start_us} us, jitter: 0 s}}\n"
            )
            start_us += 2000
    topology = TOPOLOGY.replace("RATE", rate).replace(
        '"s1:eth1"]', '"s1:eth1"]\n      vars: {rate: 10 Gbps, delay: 2 us}'
    )
    (directory / "topology.clab.yml").write_text(topology)
    (directory / "experiment.yml").write_text(IDLE.replace("MTU", str(mtu)) + traffic)
    return directory


@pytest.mark.parametrize(("mtu", "rate", "slowest"), [(1024, "10 Gbps", 1), (256, "1 Gbps", 10), (1024, "40 Gbps", 1)])
def test_lone_flows_take_their_ideal_to_the_nanosecond(
    vm: Vm, tmp_path: Path, mtu: int, rate: str, slowest: int
) -> None:
    plan = resolve_plan(parse_lab(idle_lab(tmp_path, mtu, rate)), {})
    assert vm.run(plan).status == "complete"
    flows = pl.DataFrame(vm.flows())
    assert flows["transport"].unique().to_list() == ["roce"]
    # A line counts whole nanoseconds down, once for each of the hops of a request and of its answer. The data of a pull
    # leave behind the acknowledgement of its request, which no READ would have.
    late = {row["class"]: row["fct_ns"] - row["ideal_ns"] for row in flows.to_dicts()}
    acknowledgement_ns = 86 * 8 / 10
    for name, late_ns in late.items():
        least = acknowledgement_ns - 4 if name.startswith("pull") else -4
        most = acknowledgement_ns * slowest + 4 if name.startswith("pull") else 4
        assert least <= late_ns <= most, late
    assert flows["retransmits"].sum() == flows["marks"].sum() == 0


def gbps(flows: pl.DataFrame) -> dict[str, float]:
    rate = pl.col("bytes") * 8 / (pl.col("end_ns") - pl.col("first_byte_ns"))
    return dict(flows.select("src", rate.alias("gbps")).iter_rows())


@pytest.fixture(scope="module")
def paused(tmp_path_factory: pytest.TempPathFactory) -> LabRun:
    return run_lab(tmp_path_factory.mktemp("roce"), "roce-incast", "variant=pfc; stop=10 ms")


def test_pauses_alone_share_by_port_and_not_by_flow(paused: LabRun) -> None:
    """Data come to t4 by three ports; h11 and h21 share one of them."""
    rates = gbps(paused.flows())
    assert rates["h42"] == pytest.approx(LINE_GBPS / 3, rel=0.02)
    assert rates["h31"] == pytest.approx(LINE_GBPS / 3, rel=0.02)
    assert rates["h11"] == pytest.approx(LINE_GBPS / 6, rel=0.03)
    assert rates["h21"] == pytest.approx(LINE_GBPS / 6, rel=0.03)
    metrics = paused.metrics()
    assert metrics["pauses_sent"] > 1000
    assert metrics["queue_drops"] == metrics["ingress_discards"] == metrics["retransmits"] == 0


def test_dcqcn_makes_queues_short_and_pauses_few(tmp_path: Path, paused: LabRun) -> None:
    marked = run_lab(tmp_path, "roce-incast", "variant=dcqcn; stop=10 ms")
    metrics, before = marked.metrics(), paused.metrics()
    assert metrics["marks"] > 20, "notifications"
    assert metrics["pauses_sent"] < before["pauses_sent"] / 10
    assert metrics["queue_mean_bytes"] < before["queue_mean_bytes"] / 2
    sampled = pl.read_parquet(marked.directory / "tcp.parquet")
    assert sampled["congestion"].drop_nulls().unique().to_list() == ["dcqcn"]
    alphas, rates = (sampled[name].drop_nulls().to_list() for name in ("alpha", "pacing_bps"))
    assert 0.3 < min(alphas) < 0.9 < max(alphas) <= 1
    assert min(rates) < 10e9


def test_a_report_names_the_nics_control_and_draws_no_window(paused: LabRun) -> None:
    results = read_run(paused.directory)
    assert results.congestion_control == "roce"
    curve = pool_of_run(results).curve
    assert curve.label == "RoCE"
    assert cwnd_picture(curve) is None
    throughput = throughput_picture(curve)
    assert throughput is not None and "h42" in throughput.caption


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture at the receiver's port, which has moved nothing."""
    directory = tmp_path_factory.mktemp("capture")
    settings = ("roce-incast", "variant=dcqcn; stop=2 ms")
    without = run_lab(directory, *settings, out="without")
    captured = run_lab(directory, *settings, "probes.pcap.ports=t4:eth1; probes.pcap.snaplen=2000 B", out="with")
    for name in ("flows.parquet", "tcp.parquet", "queues.parquet"):
        assert (without.directory / name).read_bytes() == (captured.directory / name).read_bytes(), name
    return captured.directory / "pcap/t4-eth1.pcapng"


def test_on_the_link_are_packets_of_roce_v2(capture: Path) -> None:
    packets = [packet.data for packet in read_packets(capture.read_bytes())]
    opcodes = [packet[42] for packet in packets]
    assert {int.from_bytes(packet[36:38], "big") for packet in packets} == {4791}, "UDP's destination"
    assert {packet[15] & 3 for packet in packets} <= {2, 3}, "ECT(0), or CE"
    assert all(
        packet[15] >> 2 == (48 if opcode == CNP else 26) for packet, opcode in zip(packets, opcodes, strict=True)
    )
    assert {WRITE_FIRST, WRITE_MIDDLE, CNP} <= set(opcodes) <= OPCODES


def decoded(capture: Path) -> list[list[str]]:
    names = ("_ws.col.Protocol", "infiniband.bth.opcode", "infiniband.reth.dmalen", "infiniband.aeth.msn")
    lines = tshark_decoded(capture, *names)
    assert {protocol for protocol, *_ in lines} == {"RRoCE"}
    packets = read_packets(capture.read_bytes())
    assert [int(opcode, 0) for _, opcode, *_ in lines] == [packet.data[42] for packet in packets]
    return lines


def test_wireshark_reads_them(capture: Path) -> None:
    assert decoded(capture)


def test_wireshark_reads_a_read(read: Path) -> None:
    lines = decoded(read / "pcap/s1-eth1.pcapng")
    lengths = {(int(opcode, 0), length) for _, opcode, length, _ in lines if length}
    assert lengths == {(READ_REQUEST, "2000000")}
    counted = {(int(opcode, 0), count) for _, opcode, _, count in lines if count}
    assert counted == {(opcode, "1") for opcode in (READ_FIRST, READ_LAST)}, "a queue pair has one READ"


READS = """
title: READs of two hosts
links: {delay: 1 us, rate: 10 Gbps}
switches:
  default:
    pools: {lossy: {size: 1 MB}, lossless: {size: 8 MB}}
    queues:
      default: {pool: lossy, alpha: 1}
      3: {pool: none, limit: none, wred: {min: 5 KB, max: 200 KB, probability: 10 %, ecn: on}}
    priority_groups: {3: {pool: lossless, alpha: 1, lossless: true}}
    pfc: {priorities: [3]}
hosts: {default: {nic: {roce: {}}}}
traffic:
  read: {kind: rounds, senders: [h2, h3], receiver: h1, size: 2 MB, rounds: 2, mode: read, transport: roce}
probes:
  pcap: {ports: [s1:eth1], snaplen: 2000 B}
"""


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with READs, and a capture at the port of the host that reads."""
    directory = star(tmp_path_factory.mktemp("read"), 2, "read")
    (directory / "experiment.yml").write_text(READS)
    return run_lab(directory, str(directory)).directory


def test_a_read_is_a_request_and_responses_on_the_link(read: Path) -> None:
    packets = [packet.data for packet in read_packets((read / "pcap/s1-eth1.pcapng").read_bytes())]
    by_opcode: dict[int, list[bytes]] = {}
    for packet in packets:
        by_opcode.setdefault(packet[42], []).append(packet)
    requests = by_opcode[READ_REQUEST]
    # Two hosts, two rounds: the extended header has an address of 64 bits, a key and the length.
    assert [(len(packet), packet[54:70].hex()) for packet in requests] == [(74, f"{0:024x}{2_000_000:08x}")] * 4
    whole, rest = divmod(2_000_000, 1024)
    assert len(by_opcode[READ_MIDDLE]) == 4 * (whole - 1)
    lengths = {opcode: {len(packet) for packet in by_opcode[opcode]} for opcode in by_opcode}
    assert lengths[READ_FIRST] == {54 + 4 + 1024 + 4} and lengths[READ_MIDDLE] == {54 + 1024 + 4}
    assert lengths[READ_LAST] == {54 + 4 + rest + 4}
    assert {packet[54] for packet in (*by_opcode[READ_FIRST], *by_opcode[READ_LAST])} == {0x1F}, "AETH: all is there"
    assert set(by_opcode) == {READ_REQUEST, READ_FIRST, READ_MIDDLE, READ_LAST, CNP}, "nothing is acknowledged"
    reader = requests[0][26:30]
    assert {packet[26:30] for packet in by_opcode[CNP]} == {reader}, "CNPs go to the hosts that answer"
    flows = pl.read_parquet(read / "flows.parquet")
    assert flows["marks"].sum() == len(by_opcode[CNP])
    assert flows["retransmits"].sum() == flows["timeouts"].sum() == 0


STAR = """
title: DCQCN's fixed point
links: {rate: 40 Gbps, delay: 1 us}
switches:
  default:
    pools: {lossy: {size: 1 MB}, lossless: {size: 32 MB}}
    queues:
      default: {pool: lossy, alpha: 1}
      3: {pool: none, limit: none, wred: {min: 5 KB, max: 200 KB, probability: 1 %, ecn: on}}
    priority_groups: {3: {pool: lossless, alpha: 1/8, lossless: true}}
    pfc: {priorities: [3]}
hosts: {default: {nic: {roce: {}}}}
traffic:
  long: {kind: long, senders: h2..hLAST, receiver: h1, transport: roce, mode: MODE, jitter: 20 us, stop: 150 ms}
probes:
  queues: {interval: 20 us, ports: [s1:eth1]}
"""
_SETTLED_NS, _STOP_NS = 50_000_000, 150_000_000


def star(directory: Path, senders: int, mode: str) -> Path:
    """Write a lab with one switch and a receiver, h1."""
    hosts = range(1, senders + 2)
    nodes = [f"    h{n}: {{kind: linux, labels: {{fabriclab.role: host}}}}" for n in hosts]
    links = [f'    - endpoints: ["h{n}:eth1", "s1:eth{n}"]' for n in hosts]
    head, _, _ = TOPOLOGY.partition("    h1:")
    (directory / "topology.clab.yml").write_text("\n".join([head.rstrip(), *nodes, "  links:", *links, ""]))
    (directory / "experiment.yml").write_text(STAR.replace("LAST", str(senders + 1)).replace("MODE", mode))
    return directory


@pytest.mark.parametrize(("senders", "mode"), [(2, "push"), (4, "push"), (2, "read"), (4, "read")])
def test_dcqcn_settles_at_its_fixed_point(vm: Vm, tmp_path: Path, senders: int, mode: str) -> None:
    """The share of packets that is marked, and the queue that marks so many (Zhu et al., "ECN or Delay: Lessons Learnt
    from Analysis of DCQCN and TIMELY", CoNEXT 2016). With 8 senders the queue swings (docs/fidelity.md). Of a READ the
    hosts that answer are those that DCQCN slows down."""
    assert vm.run(resolve_plan(parse_lab(star(tmp_path, senders, mode)), {})).status == "complete"
    queue = pl.read_parquet(vm.directory / "run" / "queues.parquet").filter(
        pl.col("time_ns").is_between(_SETTLED_NS, _STOP_NS)
    )
    lasts = queue["time_ns"].shift(-1, fill_value=_STOP_NS) - queue["time_ns"]
    mean = float((queue["bytes"] * lasts).sum()) / float(lasts.sum())
    counted = queue.select(pl.col("marks", "sent_packets").last() - pl.col("marks", "sent_packets").first()).row(0)
    packet_bits = 8 * 1106
    line, step, counter = 40e9 / packet_bits, 40e6 / packet_bits, 10e6 / 1106
    timer_s, cnp_s = 55e-6, 50e-6
    marked = (step * senders**2 / (cnp_s * line**2) * (1 / counter + senders / (timer_s * line)) ** 2) ** (1 / 3)
    assert counted[0] / counted[1] == pytest.approx(marked, rel=0.1)
    assert mean == pytest.approx(5_000 + marked / 0.01 * 195_000, rel=0.1)
