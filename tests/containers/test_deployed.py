"""The container engine for real: Docker and Containerlab deploy a small lab, which the virtual machine runs too."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from patience import patient

from fabriclab.api.engine import fit_engine
from fabriclab.compile import machine_memory_bytes
from fabriclab.engine.artefacts import EngineError, find_artefacts
from fabriclab.engine.containers import ContainerLab
from fabriclab.engine.containers.docker import containers_of
from fabriclab.engine.containers.engine import run_containers
from fabriclab.engine.events import Event
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.virtual import Machine, run_machine
from fabriclab.engine.watch import Outcome
from fabriclab.formats.plan.model import Plan
from fabriclab.lab import parse_lab
from fabriclab.report.measured.quantities import keep_units
from fabriclab.resolve import resolve_plan
from fabriclab.results import ingest_run, read_run
from fabriclab.runs.directory import write_inputs

LAB = Path(__file__).parent / "pair"
LEAF_SPINE = Path(__file__).parents[2] / "labs" / "leaf-spine"
FAILURE = """title: A link dies
switches: {default: {buffer: 64 KB}}
hosts: {default: {congestion_control: reno}}
links: {delay: 0 us, rate: 20 Mbps}
routing: {protocol: bgp-unnumbered}
events:
  dies: {at: 500 ms, link: 'leaf1:eth5', action: down}
traffic:
  long: {kind: long, senders: [h5], receiver: h1, stop: 4 s}
"""
MANY_S = patient(300)
"""A limit on waiting for what must come; nothing is judged by it."""

# One deployment at a time: they would starve each other.
pytestmark = [pytest.mark.containers, pytest.mark.xdist_group("containers")]


@pytest.fixture(scope="module")
def lab() -> ContainerLab:
    """The lab, where this host can run it; elsewhere the tests say that they did not run."""
    try:
        found = fit_engine("containerlab", parse_lab(LAB), [plan()], trust=True)
    except EngineError as error:
        pytest.skip(f"the container engine was NOT tested for real: {error}")
    assert isinstance(found, ContainerLab)
    return found


def plan(lab_directory: Path = LAB, settings: dict[str, str] | None = None) -> Plan:
    return resolve_plan(parse_lab(lab_directory), settings or {}, 1)


def inspected(resolved: Plan, lab_directory: Path, directory: Path) -> None:
    """Write a run's inputs, with commands that say what the nodes are like."""
    directory.mkdir()
    write_inputs(resolved, lab_directory, directory, stock=True)
    path = directory / "machine" / "job.json"
    job = json.loads(path.read_text())
    for node in resolved.nodes:
        keys = [
            line.partition(" ")[0]
            for line in (directory / "nodes" / node.name / "sysctl.conf").read_text().splitlines()
        ]
        commands = {
            "routes": ["ip", "-j", "route", "show"],
            "neighbours": ["ip", "-j", "neighbour", "show"],
            "links": ["ip", "-j", "link", "show"],
            "qdiscs": ["tc", "-j", "qdisc", "show"],
            "sysctls": ["sysctl", *keys],
        }
        job["collect"] += [
            {"name": f"{name}@{node.name}", "node": node.name, "argv": argv} for name, argv in commands.items()
        ]
    path.write_text(json.dumps(job))


def state(directory: Path, node: str) -> dict[str, Any]:
    """Return what a node said of itself, without what differs from kernel to kernel."""

    def records(name: str, *keys: str) -> list[dict[str, Any]]:
        found = json.loads((directory / "collect" / f"{name}@{node}").read_text())
        chosen = [
            {key: record.get(key) for key in keys}
            for record in found
            if str(record.get("dev", record.get("ifname"))).startswith("eth")
        ]
        return sorted(chosen, key=json.dumps)

    return {
        "routes": records("routes", "dst", "gateway", "dev", "metrics", "nexthops"),
        "neighbours": records("neighbours", "dst", "dev", "lladdr", "state"),
        "links": [link for link in records("links", "ifname", "address", "mtu") if link["ifname"] != "eth0"],
        "qdiscs": [
            record
            for record in records("qdiscs", "kind", "handle", "parent", "dev", "options")
            if record["dev"] != "eth0"
        ],
        "sysctls": (directory / "collect" / f"sysctls@{node}").read_text(),
    }


def goodput_bps(directory: Path, resolved: Plan, status: str) -> float:
    (directory / "manifest.json").write_text(
        json.dumps({"format": "fabriclab-run-1", "status": status, "plan": resolved.model_dump()})
    )
    ingest_run(directory)
    return float(read_run(directory).summary["goodput_bps"] or 0)


def leavings(directory: Path) -> list[str]:
    """Return what a run of ours may have left on the host."""
    copy = directory / "machine" / "topology.clab.yml"
    name = copy.read_text().partition("\n")[0].removeprefix("name: ")
    found = containers_of(name) + [
        str(path) for pattern in ("clab-*", "machine/rendezvous") for path in directory.glob(pattern)
    ]
    found += [str(path) for path in Path("/run/netns").glob(f"clab-{name}-*")] if Path("/run/netns").is_dir() else []
    if name in Path("/etc/hosts").read_text():
        found.append("/etc/hosts")
    strangers = [str(path) for path in directory.rglob("*") if path.stat().st_uid != os.getuid()]
    return found + strangers


def run_both(lab_directory: Path, resolved: Plan, directory: Path) -> tuple[Outcome, Path, Path]:
    """Run a plan in containers and in the virtual machine; returns how the former ended, and both run directories."""
    containers = lab_in(lab_directory, resolved)
    real, virtual = directory / "containers", directory / "vm"
    inspected(resolved, lab_directory, real)
    outcome = run_containers(containers, real, lambda event: None, Interrupt())
    assert outcome.status in ("complete", "starved"), outcome.message
    assert leavings(real) == []
    try:
        machine = find_artefacts()
    except EngineError as error:
        pytest.skip(f"not compared with the virtual machine: {error}")
    inspected(resolved, lab_directory, virtual)
    other = run_machine(
        Machine(machine, virtual, 1, machine_memory_bytes(resolved), None), lambda event: None, Interrupt()
    )
    assert other.status == "complete", other.message
    return outcome, real, virtual


def test_both_engines_make_the_same_nodes_and_the_same_goodput(lab: ContainerLab, tmp_path: Path) -> None:
    resolved = plan()
    outcome, real, virtual = run_both(LAB, resolved, tmp_path)
    for node in resolved.nodes:
        assert state(real, node.name) == state(virtual, node.name)
    if outcome.status == "starved":
        pytest.skip(f"nodes are the same; the goodput was not compared: {outcome.message}")
    measured, expected = goodput_bps(real, resolved, "complete"), goodput_bps(virtual, resolved, "complete")
    assert measured == pytest.approx(expected, rel=0.02)


def test_both_engines_make_the_same_leaf_spine(lab: ContainerLab, tmp_path: Path) -> None:
    # Reno, no delay, no ECN: what every kernel has. The traffic is little, the nodes are what counts.
    settings = {
        "links.delay": "0 us",
        "links.rate": "50 Mbps",
        "hosts.default.congestion_control": "reno",
        "traffic.query.count": "3",
        "traffic.short.count": "3",
        "traffic.update.stop": "500 ms",
        "traffic.background.stop": "500 ms",
    }
    resolved = plan(LEAF_SPINE, settings)
    _, real, virtual = run_both(LEAF_SPINE, resolved, tmp_path)
    assert len(resolved.nodes) == 22
    for node in resolved.nodes:
        assert state(real, node.name) == state(virtual, node.name)
    multipath = [route for route in state(real, "leaf1")["routes"] if route["gateway"] is None]
    assert multipath, "leaves have routes over both spines"


def test_routing_converges_follows_a_failure_and_the_run_says_how_long_it_took(
    lab: ContainerLab, tmp_path: Path
) -> None:
    shutil.copytree(LEAF_SPINE, tmp_path / "lab")
    (tmp_path / "lab" / "experiment.yml").write_text(FAILURE)
    resolved = plan(tmp_path / "lab")
    write_inputs(resolved, tmp_path / "lab", tmp_path / "run", stock=True)
    happened: list[Event] = []
    outcome = run_containers(lab_in(tmp_path / "lab", resolved), tmp_path / "run", happened.append, Interrupt())
    assert outcome.status in ("complete", "starved"), outcome.message
    names = [event.name for event in happened if event.name in ("converged", "epoch", "change", "reconverged", "end")]
    assert names == ["converged", "epoch", "change", "reconverged", "end"]
    by_name = {event.name: event for event in happened}
    assert by_name["converged"].fields["convergence_ns"] > 0
    assert by_name["change"].fields["name"] == by_name["reconverged"].fields["name"] == "dies"
    assert by_name["change"].t_ns >= 500_000_000, "never before its time"
    assert leavings(tmp_path / "run") == []


SHUFFLE = """title: A job whose phases wait for what other hosts receive
switches: {default: {buffer: 64 KB}}
hosts: {default: {congestion_control: reno}}
traffic:
  job: {kind: shuffle, mappers: [h1], reducers: [h2], sources: [h2], size: 200 KB, replicas: 1}
"""


def test_flows_wait_for_what_other_hosts_receive(lab: ContainerLab, tmp_path: Path) -> None:
    shutil.copytree(LAB, tmp_path / "lab")
    (tmp_path / "lab" / "experiment.yml").write_text(SHUFFLE)
    resolved = plan(tmp_path / "lab")
    write_inputs(resolved, tmp_path / "lab", tmp_path / "run", stock=True)
    outcome = run_containers(lab_in(tmp_path / "lab", resolved), tmp_path / "run", lambda event: None, Interrupt())
    assert outcome.status in ("complete", "starved"), outcome.message
    goodput_bps(tmp_path / "run", resolved, "complete")
    first, second = read_run(tmp_path / "run").flows.collect().sort("flow").to_dicts()
    assert (first["dst"], second["dst"]) == ("h1", "h2"), "each is received on another host"
    assert first["status"] == second["status"] == "complete"
    assert second["start_ns"] >= first["end_ns"]
    assert leavings(tmp_path / "run") == []


SHARED = """title: A shared buffer out of what every kernel has
switches:
  default:
    pools: {shared: {size: 128 KB}}
    maps: {dscp_to_tc: {0..63: 0}}
hosts: {default: {congestion_control: reno}}
traffic:
  long: {kind: long, senders: [h1], receiver: h2, stop: 1 s}
"""


def test_a_shared_buffer_becomes_a_static_limit_and_the_run_says_so(lab: ContainerLab, tmp_path: Path) -> None:
    shutil.copytree(LAB, tmp_path / "lab")
    (tmp_path / "lab" / "experiment.yml").write_text(SHARED)
    directory = tmp_path / "run"
    argv = [
        sys.executable,
        "-m",
        "fabriclab",
        "run",
        str(tmp_path / "lab"),
        "--trust",
        "--engine",
        "containerlab",
        "--out",
        str(directory),
    ]
    said = subprocess.run(argv, capture_output=True, check=False, timeout=MANY_S, text=True).stderr
    results = read_run(directory)
    assert results.status in ("complete", "starved") and not results.notes, "what can't be sampled is not missed"
    sentence = "alpha 1 of pool shared; instead: a static limit of 64 KB"
    assert sentence in said
    assert any(sentence in warning for warning in results.plan.warnings)
    assert keep_units(sentence) in (directory / "report.html").read_text()
    qdiscs = json.loads((directory / "collect" / "qdisc@s1").read_text())
    assert {record["dev"]: record["options"]["limit"] for record in qdiscs if record["kind"] == "bfifo"} == {
        "eth1": 64_000,
        "eth2": 64_000,
    }
    assert leavings(directory) == []


def lab_in(directory: Path, resolved: Plan) -> ContainerLab:
    found = fit_engine("containerlab", parse_lab(directory), [resolved], trust=True)
    assert isinstance(found, ContainerLab)
    return found


def command(directory: Path, *words: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "fabriclab",
        "run",
        str(LAB),
        "--trust",
        "--engine",
        "containerlab",
        "--out",
        str(directory),
        *words,
    ]


def test_a_run_leaves_results_and_starvation_figures_and_nothing_else(lab: ContainerLab, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    subprocess.run(command(directory), capture_output=True, check=False, timeout=MANY_S)
    manifest = json.loads((directory / "manifest.json").read_text())
    assert manifest["engine"] == "containerlab" and manifest["status"] in ("complete", "starved")
    assert manifest["starvation"]["starved"] == (manifest["status"] == "starved")
    assert manifest["starvation"]["timer_late"] >= 0 and manifest["starvation"]["sampler_late"] >= 0
    results = read_run(directory)
    assert results.summary["flows_complete"] == 1
    sampled = results.measured.queues
    assert sampled is not None
    assert set(sampled.collect()["port"]) == {"s1:eth1", "s1:eth2"}
    assert leavings(directory) == []


def await_event(process: subprocess.Popen[bytes], directory: Path, word: str) -> None:
    """Wait until the run has come to an event."""
    deadline = time.monotonic() + MANY_S
    events = directory / "events.jsonl"
    while not (events.exists() and word in events.read_text()):
        assert process.poll() is None and time.monotonic() < deadline, f"no {word}"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("number", "moment"), [(signal.SIGINT, "progress"), (signal.SIGTERM, '"nodes"'), (signal.SIGTERM, '"traffic"')]
)
def test_an_interrupted_run_leaves_nothing(
    lab: ContainerLab, tmp_path: Path, number: signal.Signals, moment: str
) -> None:
    directory = tmp_path / "run"
    with subprocess.Popen(
        command(directory, "--set", "stop=60 s"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        await_event(process, directory, moment)
        process.send_signal(number)
        assert process.wait(MANY_S) == 130
    assert json.loads((directory / "manifest.json").read_text())["status"] == "interrupted"
    assert leavings(directory) == []


def test_a_killed_run_leaves_no_container(lab: ContainerLab, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    with subprocess.Popen(
        command(directory, "--set", "stop=60 s"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        await_event(process, directory, "progress")
        process.kill()
        process.wait()
    deadline = time.monotonic() + MANY_S
    while leavings(directory) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert leavings(directory) == []


@pytest.mark.skipif(
    not os.environ.get("FABRICLAB_DAEMON_MAY_DIE"),
    reason="kills this host's Docker daemon: make test-containers runs it in a guest",
)
def test_a_daemon_that_dies_ends_the_run_which_keeps_what_was_measured(lab: ContainerLab, tmp_path: Path) -> None:
    directory = tmp_path / "run"
    with subprocess.Popen(
        command(directory, "--set", "stop=60 s"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        await_event(process, directory, "progress")
        subprocess.run(["systemctl", "kill", "--signal=KILL", "docker"], check=True)
        said = process.communicate(timeout=MANY_S)[0].decode()
    assert process.returncode == 1
    assert "the Docker daemon ended while the lab ran" in " ".join(said.split())
    assert json.loads((directory / "manifest.json").read_text())["status"] == "failed"
    assert pl.read_parquet(directory / "queues.parquet").height > 0, "the series until then are kept"
    assert leavings(directory) == []


def test_a_node_that_cannot_be_set_up_is_named_and_nothing_is_left(lab: ContainerLab, tmp_path: Path) -> None:
    write_inputs(plan(), LAB, tmp_path, stock=True)
    with (tmp_path / "nodes" / "h2" / "ip.batch").open("a") as batch:
        batch.write("route add 10.9.9.0/24 via 10.99.99.99\n")
    outcome = run_containers(lab, tmp_path, lambda event: None, Interrupt())
    assert outcome.status == "failed"
    assert "configure h2" in outcome.message and "ip.batch" in outcome.message
    assert leavings(tmp_path) == []
