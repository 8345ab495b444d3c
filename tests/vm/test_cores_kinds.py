"""Labs of each kind that may be in several machines: the bits do not tell how many."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from cores_lab import SHARED, STOCK, plan_of, write_lab
from digests import digests
from sample_algorithms import control
from vm import Vm, ignore

from fabriclab.formats.plan.model import Plan
from fabriclab.results import ingest_run
from fabriclab.runs import RunContext, run_point
from fabriclab.runs.parts import cut_for

pytestmark = pytest.mark.vm

MOVED = (Path(__file__).parent / "moved.c").read_text()
TABLES = {"flows.parquet", "queues.parquet", "tcp.parquet", "interfaces.parquet"}


def run(vm: Vm, lab: Path, plan: Plan, cores: int, name: str = "run") -> Mapping[str, str]:
    """Run a plan on so many cores; return the hash of each file that users see."""
    directory = vm.directory / f"{name}-{cores}"
    context = RunContext(lab, vm.artefacts, ("test",), ingest_run, cut=cut_for(plan, cores, lab))
    result = run_point(plan, directory, context, ignore)
    assert (result.status, result.message) == ("complete", "")
    return digests(directory)


def bits(vm: Vm, lab: Path) -> Mapping[str, str]:
    """Return the bits of a lab, the same on each number of cores."""
    plan = plan_of(lab)
    first, *others = (run(vm, lab, plan, cores) for cores in (1, 2, 4))
    assert set(first) >= TABLES
    assert others == [first] * len(others)
    return first


def test_the_bits_do_not_tell_what_else_the_kernel_holds(vm: Vm, tmp_path: Path) -> None:
    """The kernel's memory, and where its variables lie, move with each of its builds."""
    lab = write_lab(tmp_path / "lab", control="./mine.c")
    seen = []
    for number, source in enumerate((control(), MOVED)):
        (lab / "mine.c").write_text(source)
        plan = plan_of(lab)
        seen += [run(vm, lab, plan, cores, f"kernel-{number}") for cores in (1, 2)]
    assert seen == [seen[0]] * len(seen)


@pytest.mark.slow("boots one machine, then two, then four")
def test_captures(vm: Vm, tmp_path: Path) -> None:
    lab = write_lab(tmp_path / "lab", more="  pcap: [h1:eth1, h5:eth1, spine1:eth2]\n", racks=4)
    captured = bits(vm, lab)
    assert {"h1-eth1.pcapng", "h5-eth1.pcapng", "spine1-eth2.pcapng"} <= set(captured)


@pytest.mark.parametrize("family", ["ipv6", "dual"])
@pytest.mark.slow("boots one machine, then two, then four")
def test_ipv6(vm: Vm, tmp_path: Path, family: str) -> None:
    """Before a lab begins its nodes tell each other of groups: at which instants depends on who is configured first."""
    bits(vm, write_lab(tmp_path / "lab", more=f"addresses: {family}\n", racks=4))


@pytest.mark.slow("boots one machine, then two, then four")
def test_mptcp(vm: Vm, tmp_path: Path) -> None:
    """A worker of the kernel, which is not a node's, makes the subflows: they draw numbers and choose ports."""
    lab = write_lab(tmp_path / "lab", hosts="mptcp: {subflows: 3}", transport="mptcp", racks=4)
    bits(vm, lab)
    flows = vm.flows("run-4")
    assert {flow["transport"] for flow in flows if flow["bytes"]} == {"mptcp"}


@pytest.mark.parametrize(
    "nic",
    ["{gro: on, interrupt_delay: 20 us}", "{gro: on}", "{pacing: fq, queues: 2}", "{tso: off, ring: 10 KB}"],
    ids=["moderated", "merging", "paced", "ring"],
)
@pytest.mark.slow("boots one machine, then two, then four")
def test_nics(vm: Vm, tmp_path: Path, nic: str) -> None:
    bits(vm, write_lab(tmp_path / "lab", nic=nic, racks=4))


EVENTS = """events:
  away: {at: 3 ms, link: 'leaf1:eth3', action: down}
  slow: {at: 4 ms, link: 'leaf2:eth3', delay: 30 us, rate: 500 Mbps}
  bad:  {at: 5 ms, link: 'leaf3:eth4', loss: 2 %}
  back: {at: 6 ms, link: 'leaf1:eth3', action: up}
  dark: {at: 7 ms, link: 'leaf4:eth3', action: blackhole}
  fast: {at: 8 ms, link: 'leaf2:eth3', delay: 10 us}
  less: {at: 9 ms, set: {hosts.default.rto_min: 5 ms}}
  off:  {at: 10 ms, node: h2, action: down}
  on:   {at: 12 ms, node: h2, action: up}
  seen: {at: 13 ms, link: 'leaf4:eth3', action: up}
"""


@pytest.mark.parametrize("switches", [STOCK, SHARED], ids=["stock", "shared"])
@pytest.mark.slow("boots one machine, then two, then four")
def test_events(vm: Vm, tmp_path: Path, switches: str) -> None:
    """Links go down and come up at both ends at one instant, whichever machines these are in."""
    lab = write_lab(tmp_path / "lab", switches, more=EVENTS, racks=4)
    # Flows of a host that loses its power never end.
    plan = plan_of(lab).model_copy(update={"limit_ns": 60_000_000})
    seen = []
    for cores in (1, 2, 4):
        directory = vm.directory / f"run-{cores}"
        context = RunContext(lab, vm.artefacts, ("test",), ingest_run, cut=cut_for(plan, cores, lab))
        result = run_point(plan, directory, context, ignore)
        seen.append((result.status, result.message, digests(directory)))
    assert seen[0][0] == "limit" and "lost" not in seen[0][1]
    assert seen == [seen[0]] * 3
    events = [json.loads(line) for line in (vm.directory / "run-4" / "events.jsonl").read_text().splitlines()]
    changes = [event["name"] for event in events if event["event"] == "change"]
    assert changes == ["away", "slow", "bad", "back", "dark", "fast", "less", "off", "on", "seen"]


@pytest.mark.slow("boots one machine, then two, then four")
def test_delays_above_a_millisecond(vm: Vm, tmp_path: Path) -> None:
    bits(vm, write_lab(tmp_path / "lab", delay_ns=3_000_000, sampled="1 ms", racks=4))


def test_links_without_a_delay(vm: Vm, tmp_path: Path) -> None:
    """A frame arrives at the instant at which it is sent; the links of each rack have no delay, and are not cut."""
    lab = write_lab(tmp_path / "lab", racks=4)
    topology = lab / "topology.clab.yml"
    lines = [
        line.replace("delay: 10 us", "delay: 0 us") if "'h" in line else line
        for line in topology.read_text().splitlines(keepends=True)
    ]
    topology.write_text("".join(lines))
    plan = plan_of(lab)
    bits(vm, lab)
    assert {port.delay_ns for node in plan.nodes for port in node.ports} == {0, 10_000}


LEAVES, HOSTS = 4, 2
GROUPS = """    port_channels: {{PortChannel1: {{members: [eth3, eth4], ipv4: 10.1.0.{pair}/31}}}}
    vlans: {{Vlan10: {{members: [eth1, eth2], ipv4: 192.168.{number}.1/24}}}}
"""


def with_groups(lab: Path) -> Path:
    """Make all hosts of a rack a VLAN, and the two links to its spine a port channel."""
    topology = "name: groups\ntopology:\n  defaults: {kind: linux}\n  nodes:\n"
    links, groups = "", ""
    switch = "{labels: {fabriclab.role: switch}}"
    topology += f"    spine: {switch}\n"
    for leaf in range(1, LEAVES + 1):
        topology += f"    leaf{leaf}: {switch}\n"
        groups += f"  leaf{leaf}:\n" + GROUPS.format(pair=2 * leaf, number=leaf)
        for port in range(1, HOSTS + 1):
            host = HOSTS * (leaf - 1) + port
            topology += f"    h{host}: {{}}\n"
            links += f"    - {{endpoints: ['h{host}:eth1', 'leaf{leaf}:eth{port}']}}\n"
            links += f"    - {{endpoints: ['leaf{leaf}:eth{HOSTS + port}', 'spine:eth{host}']}}\n"
    (lab / "topology.clab.yml").write_text(f"{topology}  links:\n{links}")
    experiment = lab / "experiment.yml"
    text = experiment.read_text().replace(
        "switches: {default: ", "links: {rate: 1 Gbps, delay: 10 us}\nswitches:\n  default: "
    )
    experiment.write_text(text.replace("}\nhosts:", f"\n{groups}hosts:", 1))
    return lab


@pytest.mark.slow("boots one machine, then two, then four")
def test_vlans_and_port_channels(vm: Vm, tmp_path: Path) -> None:
    bits(vm, with_groups(write_lab(tmp_path / "lab")))
