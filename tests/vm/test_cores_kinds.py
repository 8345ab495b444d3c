"""Labs of each kind that may be in several machines: the bits do not tell how many."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
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


@pytest.mark.parametrize("switches", [STOCK, SHARED], ids=["stock", "shared"])
@pytest.mark.slow("boots one machine, then two, then four")
def test_each_change_of_queues(vm: Vm, tmp_path: Path, switches: str) -> None:
    bits(vm, write_lab(tmp_path / "lab", switches, sampled="each", racks=4))


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
    seen = ends(vm, lab, plan_of(lab).model_copy(update={"limit_ns": 60_000_000}))
    assert seen[0][0] == "limit" and "lost" not in seen[0][1]
    assert seen == [seen[0]] * 3
    events = [json.loads(line) for line in (vm.directory / "run-4" / "events.jsonl").read_text().splitlines()]
    changes = [event["name"] for event in events if event["event"] == "change"]
    assert changes == ["away", "slow", "bad", "back", "dark", "fast", "less", "off", "on", "seen"]


ROUTED = """routing: {{protocol: {protocol}, bfd: 50 ms}}
events:
  away:  {{at: 3 ms, link: 'leaf1:eth3', action: down}}
  back:  {{at: 300 ms, link: 'leaf1:eth3', action: up}}
  dark:  {{at: 3 s, link: 'leaf2:eth4', action: blackhole}}
  light: {{at: 3.5 s, link: 'leaf2:eth4', action: up}}
  off:   {{at: 6 s, node: spine2, action: down}}
  on:    {{at: 6.4 s, node: spine2, action: up}}
"""
_ARRIVALS = "{kind: arrivals, senders: all, pairs: out-of-rack, size: 20 KB, load: 1 %"
LATER = f"""  late: {_ARRIVALS}, start: 6.1 s, stop: 6.13 s}}
  last: {_ARRIVALS}, start: 10 s, stop: 10.03 s}}
"""
EVENTS_OF_ROUTES = ["away", "back", "dark", "light", "off", "on"]


@pytest.mark.parametrize(
    ("protocol", "followed", "parts"),
    [("bgp-numbered", EVENTS_OF_ROUTES, 3), ("bgp-unnumbered", ["away"], 2)],
    ids=["numbered", "unnumbered"],
)
@pytest.mark.slow("boots one machine, then several, and each time converges and follows six events")
def test_routing(vm: Vm, tmp_path: Path, protocol: str, followed: list[str], parts: int) -> None:
    """Daemons converge among all machines, and follow failures of links and nodes: at the same instants."""
    lab = write_lab(tmp_path / "lab", more=ROUTED.format(protocol=protocol), sampled="1 ms", racks=4)
    experiment = lab / "experiment.yml"
    experiment.write_text(experiment.read_text().replace("probes:", LATER + "probes:"))
    seen = ends(vm, lab, plan_of(lab).model_copy(update={"limit_ns": 11 * 10**9}), (1, parts))
    assert seen[0] == seen[1]
    told = [events_of(vm, cores) for cores in (1, parts)]
    # Unnumbered sessions wait for a router's next advertisement, after which others have happened.
    assert [name for name, _ in told[0]] == ["", *followed]
    assert told[0] == told[1]


def ends(vm: Vm, lab: Path, plan: Plan, numbers: Sequence[int] = (1, 2, 4)) -> list[tuple[str, str, Mapping[str, str]]]:
    """Return how a plan ends on numbers of cores, what there was to say, and the hash of each file that users see."""
    seen: list[tuple[str, str, Mapping[str, str]]] = []
    for cores in numbers:
        directory = vm.directory / f"run-{cores}"
        context = RunContext(lab, vm.artefacts, ("test",), ingest_run, cut=cut_for(plan, cores, lab))
        result = run_point(plan, directory, context, ignore)
        seen.append((result.status, result.message, digests(directory)))
    return seen


def events_of(vm: Vm, cores: int) -> list[tuple[str, int]]:
    """Return what a run told of its routes: the names of events, and nanoseconds."""
    lines = (vm.directory / f"run-{cores}" / "events.jsonl").read_text().splitlines()
    events = [event for line in lines if (event := json.loads(line))["event"] in ("converged", "reconverged")]
    return [(event.get("name", ""), event.get("reconvergence_ns", event.get("convergence_ns"))) for event in events]


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


HEARS = """import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('', 9000))
while True: s.recv(2000)
"""
SENDS = """import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for n in range(200): s.sendto(b'x' * 1400, ('h8', 9000))
"""
LISTENS = """import socket
s = socket.create_server(('', 9001))
while True: s.accept()[0].recv(100)
"""
# Several processes of a node at one instant.
ASKS = "for n in 1 2 3 4 5 6; do (echo $n | cat >/dev/tcp/h6/9001) & done; wait"
PROGRAMS = f"""
  hears: {{kind: program, node: h8, serves: true, argv: [python3, -c, {json.dumps(HEARS)}]}}
  sends: {{kind: program, node: h1, argv: [python3, -c, {json.dumps(SENDS)}], start: 5 ms}}
  listens: {{kind: program, node: h6, serves: true, argv: [python3, -c, {json.dumps(LISTENS)}]}}
  asks: {{kind: program, node: h3, argv: [bash, -c, {json.dumps(ASKS)}], start: 3 ms}}
  measured: {{kind: iperf3, senders: [h2, h4], receiver: h7, start: 1 ms, stop: 15 ms}}
"""


@pytest.mark.slow("boots one machine, then two, then four")
def test_programs(vm: Vm, tmp_path: Path) -> None:
    """Datagrams that are on their way when their sender has ended arrive, whichever machine they are in."""
    lab = write_lab(tmp_path / "lab", racks=4)
    experiment = lab / "experiment.yml"
    experiment.write_text(experiment.read_text().replace("probes:", PROGRAMS.lstrip("\n") + "probes:"))
    assert "programs.parquet" in bits(vm, lab)


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


@pytest.mark.slow("boots one machine, then two, then four")
def test_roce(vm: Vm, tmp_path: Path) -> None:
    """What a NIC's queue pairs do is between exact times, and their samples are taken by the kernel."""
    lab = write_lab(tmp_path / "lab", SHARED, nic="{roce: {timeout: 1 ms}}", transport="roce", racks=4)
    bits(vm, lab)
    flows = vm.flows("run-4")
    assert {flow["transport"] for flow in flows} == {"roce"}
    assert sum(flow["marks"] for flow in flows if flow["marks"]) > 0
