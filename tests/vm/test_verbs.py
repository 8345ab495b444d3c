"""RDMA programs of Debian's in the machine, over a lossless leaf-spine: what they print, and what is on the links."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_fabrics import plan_of, star
from vm import Vm, skip_without
from wireshark import decoded

from fabriclab.formats.plan.model import Plan

pytestmark = pytest.mark.vm

PAGE = Path(__file__).parents[2] / "docs/verbs.md"

HOSTS = tuple(f"h{number}" for number in range(1, 9))
LEAVES, SPINES = ("leaf1", "leaf2"), ("spine1", "spine2")
TOPOLOGY = star(
    *(f"{{endpoints: ['{host}:eth1', '{LEAVES[index // 4]}:eth{index % 4 + 1}']}}" for index, host in enumerate(HOSTS)),
    *(
        f"{{endpoints: ['{leaf}:eth{4 + spine}', '{name}:eth{number}']}}"
        for number, leaf in enumerate(LEAVES, 1)
        for spine, name in enumerate(SPINES, 1)
    ),
    switches=(*LEAVES, *SPINES),
    hosts=HOSTS,
)
EXPERIMENT = """
title: T
links: {rate: 10 Gbps, delay: 1 us, mtu: 4200}
hosts: {default: {rdma: on}}
switches: {default: {profile: trident-2, pfc: {priorities: [3]}}}
"""
AT_ONCE = EXPERIMENT.replace("rdma: on", "rdma: on, nic: {interrupt_delay: 0 us}")
"""The NIC tells of each packet when it comes, as RDMA NICs do."""
PACKAGES = "[ibverbs-providers, ibverbs-utils, rdma-core, rdmacm-utils, perftest]"


def pair(server: str, client: str) -> str:
    """Return the traffic of two programs, the second of which asks the first."""
    return f"""
traffic:
  server: {{kind: program, node: h8, packages: {PACKAGES}, argv: [sh, -c, '{server}'], serves: true}}
  client: {{kind: program, node: h1, packages: {PACKAGES}, argv: [sh, -c, 'sleep 0.1; {client}'], start: 100 ms,
           output: said.txt}}
"""


def said(vm: Vm, plan: Plan, name: str = "run", output: str = "said.txt") -> str:
    skip_without(vm.artefacts, plan)
    assert vm.with_packages(plan).run(plan, name).status == "complete"
    return (vm.directory / name / "output" / output).read_text()


def figures(text: str) -> list[float]:
    """Return the numbers of the last line of perftest's table."""
    lines = [line.split() for line in text.splitlines() if line.strip()[:1].isdigit()]
    return [float(word) for word in lines[-1]]


def test_ib_write_bw_fills_the_link_and_prints_the_same_again(vm: Vm, tmp_path: Path) -> None:
    bandwidth = "exec ib_write_bw -d rxe1 -x 1 -F -n 500"
    traffic = pair(bandwidth, f"{bandwidth} --report_gbits h8")
    plan = plan_of(tmp_path, TOPOLOGY, EXPERIMENT + traffic)
    first = said(vm, plan)
    size, iterations, _, average, _ = figures(first)
    assert (size, iterations) == (65_536, 500)
    # 4,096 B of payload in a packet: Ethernet 38 B, IPv4 20, UDP 8, BTH 12, ICRC 4; the first of 16 has a RETH, 16 B.
    most = 10 * 65_536 / (16 * (4_096 + 82) + 16)
    assert 0.97 * most < average <= most
    assert said(vm, plan, "again") == first


def test_a_polling_client_measures_the_round_trip(vm: Vm, tmp_path: Path) -> None:
    """A look at an empty queue may find what has come a hundredth, or 250 ns, too late."""
    traffic = pair("exec ib_read_lat -d rxe1 -x 1 -F -n 200 -s 8", "exec ib_read_lat -d rxe1 -x 1 -F -n 200 -s 8 h8")
    text = said(vm, plan_of(tmp_path, TOPOLOGY, EXPERIMENT + traffic))
    typical_us = figures(text)[4]
    # Four links of 1 us to either side, and four times the frames of a request (94 B with preamble) and of an answer.
    least_us = 8 + 4 * (94 + 92) * 8 / 10_000
    assert least_us <= typical_us < 1.05 * least_us + 0.25


def test_who_waits_for_a_byte_in_its_memory_does_not_stop_the_clock(vm: Vm, tmp_path: Path) -> None:
    """`ib_write_lat` makes no call while it waits for what the device writes. It says half of a round trip."""
    latency = "exec ib_write_lat -d rxe1 -x 1 -F -n 200 -s 8"
    plan = plan_of(tmp_path, TOPOLOGY, AT_ONCE + pair(latency, f"{latency} h8"))
    text = said(vm, plan)
    # Four links of 1 us, and four times a frame of 94 B with preamble and RETH (8 B of data).
    least_us = 4 + 4 * 102 * 8 / 10_000
    typical_us = figures(text)[4]
    assert least_us <= typical_us < 1.05 * least_us + 0.25
    assert said(vm, plan, "again") == text


def test_the_connection_manager_works(vm: Vm, tmp_path: Path) -> None:
    traffic = pair("exec rping -s -a 0.0.0.0 -C 3 -v", 'exec rping -c -a $(getent hosts h8 | cut -d" " -f1) -C 3 -v')
    assert said(vm, plan_of(tmp_path, TOPOLOGY, EXPERIMENT + traffic)).count("ping data: rdma-ping-") == 3


def test_tshark_sees_roce(vm: Vm, tmp_path: Path) -> None:
    traffic = pair("exec ib_write_bw -d rxe1 -x 1 -F -n 20", "exec ib_write_bw -d rxe1 -x 1 -F -n 20 h8")
    plan = plan_of(tmp_path, TOPOLOGY, EXPERIMENT + traffic + "probes: {pcap: ['h8:eth1']}\n")
    said(vm, plan)
    file = vm.directory / "run" / "pcap" / "h8-eth1.pcapng"
    lines = decoded(file, "infiniband.bth.opcode", "ip.dsfield.dscp", "frame.protocols")
    packets = [line for line in lines if line[0]]
    # RDMA WRITE first, middle, last (6, 7, 8), acknowledge (17).
    assert {int(opcode, 0) for opcode, _, _ in packets} == {6, 7, 8, 17}
    assert {dscp for _, dscp, _ in packets} == {"26"}
    assert all(protocols.startswith("eth:ethertype:ip:udp:infiniband") for _, _, protocols in packets)


def test_mpi_reduces_over_ucx_and_verbs(vm: Vm, tmp_path: Path) -> None:
    """The example of docs/verbs.md. UCX's threads have locks for which they spin. Its UD transport takes the kind of a
    packet's header from a field that Linux's device leaves at 0 (openucx/ucx, src/uct/ib/ud/base/ud_iface.h)."""
    example = PAGE.read_text().partition("```yaml\n")[2].partition("```")[0]
    text = said(vm, plan_of(tmp_path, TOPOLOGY, AT_ONCE + example), output="all-reduce.txt")
    size, first, last, took_us = map(float, text.split()[:4])
    assert (size, first, last) == (2, 3, 3)
    # Each rank reads 800 KB of the other: 4,096 B of them are 4,178 B of a link at 10 Gbps. A request to read stands
    # behind what its host sends, so that one of them may wait for the other.
    one_way_us = 800_000 * 8 * 4_178 / 4_096 / 10_000
    assert one_way_us < took_us < 2.2 * one_way_us
