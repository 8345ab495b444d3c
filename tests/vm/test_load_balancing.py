"""Paths by flow, flowlet and packet in the machine, against what theory and the switches' own generators say."""

from __future__ import annotations

import re

import polars as pl
import pytest
from multipath_plans import generated_plan
from vm import Vm

from fabriclab.compile import compile_node
from fabriclab.engine.artefacts import Artefacts
from fabriclab.formats.plan import Plan

pytestmark = [pytest.mark.vm, pytest.mark.xdist_group("load-balancing")]

FABRIC = "leaf-spine --spines 4 --leaves 2 --hosts 4 --rate 10Gbps --uplink-rate 10Gbps --delay 1us --mtu 1500"
UPLINKS = [f"leaf1:eth{number}" for number in range(5, 9)]
MODE, SEED = "switches.default.load_balancing.mode", "switches.default.load_balancing.hash_seed"
REORDER, RECOVERY = "hosts.default.nic.roce.reorder_window", "hosts.default.nic.roce.loss_recovery"
PACKETS = 4000
"""Of a flow, each with 1,024 bytes."""
PACKET_NS = 1106 * 8 / 10
"""On a line of 10 Gbps."""
LOSSLESS = """
title: a permutation over RoCE
switches:
  default:
    pools: {packets: {size: 64 MB}}
    queues: {default: {pool: none, limit: 16 MB}}
    priority_groups: {default: {pool: packets, alpha: 1}, 3: {lossless: true}}
    pfc: {priorities: [3]}
    load_balancing: {mode: flow}
hosts:
  default: {nic: {clock_error: 0 ppm, roce: {congestion_control: none, loss_recovery: selective-repeat}}}
probes: {interfaces: {interval: 1 ms}}
traffic:
"""
PERMUTATION = "".join(
    f"  h{sender}: {{kind: flows, senders: [h{sender}], receiver: h{(sender + 3) % 8 + 1}, size: {PACKETS * 1024} B, "
    "transport: roce, jitter: 0 s}\n"
    for sender in range(1, 9)
)
"""Each host of a leaf sends to one of the other leaf, both ways: together as much as the uplinks carry."""


def run(vm: Vm, name: str, experiment: str, fabric: str = FABRIC, **settings: str) -> Plan:
    plan = generated_plan(vm, fabric, experiment, 1, **settings)
    result = vm.run(plan, name)
    assert result.status == "complete", result.message
    return plan


def sent_packets(vm: Vm, ports: list[str], name: str = "run") -> list[int]:
    rows = pl.read_parquet(vm.directory / name / "interfaces.parquet")
    by_port = dict(rows.group_by("port").agg(pl.col("tx_packets").max()).iter_rows())
    return [by_port[port] for port in ports]


def late_packets(vm: Vm, name: str) -> list[float]:
    """Return by how many packets' time each flow was slower than alone."""
    return [(flow["fct_ns"] - flow["ideal_ns"]) / PACKET_NS for flow in vm.flows(name)]


def sent_again(vm: Vm, name: str) -> int:
    return sum(flow["retransmits"] for flow in vm.flows(name))


@pytest.fixture(scope="module")
def sprayed(artefacts: Artefacts, tmp_path_factory: pytest.TempPathFactory) -> Vm:
    vm = Vm(artefacts, tmp_path_factory.mktemp("sprayed"))
    for mode in ("flow", "packet-random", "packet-round-robin", "packet-quality"):
        run(vm, mode, LOSSLESS + PERMUTATION, **{MODE: mode, REORDER: "1000"})
    return vm


def test_flows_by_hash_collide(sprayed: Vm) -> None:
    """Two of the four flows of a leaf share an uplink: they take twice as long as alone, to two packets."""
    data = [round(packets / PACKETS) for packets in sent_packets(sprayed, UPLINKS, "flow")]
    assert sum(data) == 4
    assert max(data) == 2
    late = late_packets(sprayed, "flow")
    assert max(late) == pytest.approx(PACKETS, abs=2)


def test_packets_in_turn_keep_every_line_full(sprayed: Vm) -> None:
    """Four lines in, four lines out: no flow is later than a packet or two. Each uplink has a quarter of the data, and
    of the acknowledgements, one for 256 packets."""
    assert max(late_packets(sprayed, "packet-round-robin")) < 2
    assert set(sent_packets(sprayed, UPLINKS, "packet-round-robin")) == {PACKETS + -(-PACKETS // 256)}


def test_packets_by_the_load_of_ports_keep_every_line_full(sprayed: Vm) -> None:
    """A port is behind by a band or two of a frame, and no queue grows."""
    assert max(late_packets(sprayed, "packet-quality")) < 10
    assert sent_again(sprayed, "packet-quality") == 0


def test_packets_at_random_spread_as_chance_does(sprayed: Vm) -> None:
    """Lines that are full get queues that grow with the root of time, and a NAK for almost each packet, which takes 8 %
    of the other way."""
    sent = sent_packets(sprayed, UPLINKS, "packet-random")
    expected = sum(sent) / 4
    assert all(abs(packets - expected) < 5 * (3 / 4 * expected) ** 0.5 for packets in sent)
    late = late_packets(sprayed, "packet-random")
    assert min(late) > 0.01 * PACKETS
    assert max(late) < 0.15 * PACKETS
    assert sent_again(sprayed, "packet-random") == 0


@pytest.mark.parametrize(
    ("mode", "recovery", "said"),
    [
        ("packet-random", "selective-repeat", "RoCE NICs without reorder_window send each packet again"),
        ("packet-quality", "go-back-n", "RoCE NICs with loss_recovery: go-back-n take each packet that overtook"),
    ],
)
def test_without_a_window_what_was_overtaken_is_sent_again(vm: Vm, mode: str, recovery: str, said: str) -> None:
    plan = run(vm, "run", LOSSLESS + PERMUTATION, **{MODE: mode, RECOVERY: recovery})
    assert any(f"load_balancing.mode {mode} of leaf1, leaf2: {said}" in warning for warning in plan.warnings)
    assert sent_again(vm, "run") > 100


DATAGRAMS = """
title: datagrams of one flow
switches: {default: {buffer: 100 KB, load_balancing: {mode: MODE}}}
probes: {interfaces: {interval: 1 ms}}
traffic:
  sink:
    kind: program
    node: h5
    serves: true
    argv: [python3, -c, 'import socket, time; s = socket.socket(2, 2); s.bind(("", 7000)); time.sleep(1000)']
  source:
    kind: program
    node: h1
    start: 1 ms
    argv: [python3, -c, 'SOURCE']
"""
SOURCE = """import socket, time; s = socket.socket(2, 2); s.bind(("", 7000)); time.sleep(0.01);
[(time.sleep(GAP if n % BURST == 0 else 0), s.sendto(bytes(100), ("h5", 7000))) for n in range(COUNT)]; time.sleep(0.01)
"""
COUNT = 60


def datagrams(mode: str, gap_s: float, burst: int = 1, family: int = 4) -> str:
    source = SOURCE.replace("COUNT", str(COUNT)).replace("GAP", str(gap_s)).replace("BURST", str(burst))
    text = DATAGRAMS.replace("MODE", mode).replace("SOURCE", source.replace("\n", " "))
    return text if family == 4 else text.replace("socket(2, 2)", "socket(10, 2)") + "addresses: ipv6\n"


def drawn(plan: Plan, switch: str, count: int) -> list[int]:
    """Return the numbers that a switch draws first: SplitMix64, seeded by its sysctl."""
    seed = re.search(r"load_balancing = \S+ seed (\d+)", compile_node(plan.node(switch), plan).sysctl)
    assert seed is not None
    state, mask, found = int(seed[1]), 2**64 - 1, []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & mask
        bits = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & mask
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB & mask
        found.append((bits ^ (bits >> 31)) >> 32)
    return found


def test_a_flow_with_pauses_changes_its_path(vm: Vm) -> None:
    """A pause of 1 ms is longer than 256 us: each packet is a flowlet, whose path the switch's generator says."""
    plan = run(vm, "run", datagrams("flowlet-random", 0.001))
    # The first number is the turn with which round robin would begin. Numbers are in place of hashes of 31 bits.
    expected = [number >> 30 for number in drawn(plan, "leaf1", COUNT + 1)[1:]]
    assert sent_packets(vm, UPLINKS) == [expected.count(path) for path in range(4)]


def test_bursts_stay_together(vm: Vm) -> None:
    plan = run(vm, "run", datagrams("flowlet-random", 0.001, burst=6))
    expected = [number >> 30 for number in drawn(plan, "leaf1", COUNT // 6 + 1)[1:]]
    assert sent_packets(vm, UPLINKS) == [6 * expected.count(path) for path in range(4)]


@pytest.mark.parametrize("mode", ["flowlet-random", "flowlet-quality", "flow"])
def test_a_flow_without_pauses_keeps_its_path(vm: Vm, mode: str) -> None:
    run(vm, "run", datagrams(mode, 0.0002))
    assert sorted(sent_packets(vm, UPLINKS)) == [0, 0, 0, COUNT]


def test_flowlets_by_load_take_any_of_the_idle_paths(vm: Vm) -> None:
    run(vm, "run", datagrams("flowlet-quality", 0.001))
    sent = sent_packets(vm, UPLINKS)
    assert sum(sent) == COUNT
    assert min(sent) > 4


def test_packets_over_ipv6_are_spread_alike(vm: Vm) -> None:
    plan = run(vm, "random", datagrams("flowlet-random", 0.001, family=6))
    expected = [number >> 30 for number in drawn(plan, "leaf1", COUNT + 1)[1:]]
    assert sorted(sent_packets(vm, UPLINKS, "random")) == sorted(expected.count(path) for path in range(4))
    run(vm, "turns", datagrams("packet-round-robin", 0, family=6))
    assert sent_packets(vm, UPLINKS, "turns") == 4 * [COUNT // 4]
    run(vm, "load", datagrams("packet-quality", 0, family=6))
    found = sent_packets(vm, UPLINKS, "load")
    assert sum(found) == COUNT
    assert min(found) > 4


TREE = "fat-tree --k 4 --delay 1us --mtu 1500"
MANY = """
title: many flows out of a pod
switches: {default: {buffer: 256 KB}}
probes: {interfaces: {interval: 1 ms}}
traffic:
  many: {kind: flows, senders: [h1-1-1, h1-1-2], receiver: h4-2-2, size: 2 KB, count: 40, interval: 100 us}
"""


TO_THE_CORE = [f"agg1-{number}:eth{port}" for number in (1, 2) for port in (3, 4)]


def test_equal_seeds_of_the_hash_polarise(vm: Vm) -> None:
    """A switch of the second row gets only flows of one half of the hash's values, and sends all of them one way."""
    run(vm, "own", MANY, TREE)
    assert min(sent_packets(vm, TO_THE_CORE, "own")) > 0
    run(vm, "equal", MANY, TREE, **{SEED: "17"})
    first, second, third, fourth = sent_packets(vm, TO_THE_CORE, "equal")
    assert min(first, fourth) > 0
    assert second == third == 0
