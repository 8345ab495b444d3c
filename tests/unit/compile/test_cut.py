"""How a lab is cut into parts that run at once, and what can't be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from cores_lab import SHARED, STOCK, plan_of, write_lab
from lab_runs import LABS
from permutation_lab import write_fat_tree
from sample_plans import star

from fabriclab.api.cores import paying_parts
from fabriclab.compile import compile_job, compile_sampler, compiled_flows
from fabriclab.compile.cables import without_delays
from fabriclab.compile.cut import Cut, cut_plan, one_part
from fabriclab.compile.events import compile_events
from fabriclab.compile.node import NodeCompiler
from fabriclab.compile.wires import cut_job, cut_sampler, indivisible, ring_bytes, step_ns, unmet_waits, wired_job
from fabriclab.engine.artefacts import EngineError
from fabriclab.formats.job import Job
from fabriclab.formats.plan.model import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.runs.parts import cut_for, parts_for


def fat(directory: Path, k: int) -> Plan:
    write_fat_tree(directory, k, rate_bps=10**9, delay_ns=10_000)
    (directory / "experiment.yml").write_text(
        "title: fat\nswitches: {default: {buffer: 64 KB}}\n"
        "traffic: {one: {kind: long, senders: [h1-1-1], receiver: h2-1-1, stop: 1 ms}}\n"
    )
    return resolve_plan(parse_lab(directory), {}, 1)


@pytest.mark.parametrize(("parts", "links"), [(2, 8), (4, 12)])
def test_pods_stay_whole_and_the_core_is_shared(tmp_path: Path, parts: int, links: int) -> None:
    plan = fat(tmp_path, 4)
    cut = cut_plan(plan, parts)
    assert cut is not None
    assert (cut.links, cut.least_delay_ns) == (links, 10_000)
    pods = [{name[1] for name in part if name.startswith("h")} for part in cut.parts]
    assert [len(of) for of in pods] == [4 // parts] * parts
    cores = [sum(name.startswith("core") for name in part) for part in cut.parts]
    assert cores == [4 // parts] * parts
    assert sorted(name for part in cut.parts for name in part) == sorted(node.name for node in plan.nodes)


def test_hosts_are_with_their_switch(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path))
    cut = cut_plan(plan, 3)
    assert cut is not None
    part_of = cut.part_of()
    for node in plan.nodes:
        if node.role == "host":
            assert part_of[node.name] == part_of[node.ports[0].peer_node]


def test_a_lab_with_fewer_racks_than_parts_is_not_cut(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path))
    assert cut_plan(plan, 4) is None
    with pytest.raises(EngineError, match="--cores 4: cores has too few switches"):
        cut_for(plan, 4, tmp_path)
    one = cut_plan(plan, 1)
    assert one is not None
    assert one.links == 0


def with_commands(directory: Path) -> Plan:
    """Return the plan of a lab in which a node runs a command of its own."""
    topology = write_lab(directory) / "topology.clab.yml"
    lines = topology.read_text().splitlines(keepends=True)
    commanded = "    h1: {kind: linux, exec: [sleep 1]}\n"
    topology.write_text("".join(commanded if line.strip().startswith("h1:") else line for line in lines))
    return plan_of(directory)


def with_hadoop(directory: Path) -> Plan:
    """Return the plan of labs/hadoop, which has a cluster of programs."""
    return plan_of(LABS / "hadoop")


@pytest.mark.parametrize(
    ("plan_in", "sentence"),
    [
        (with_commands, "nodes with commands of their own run only in a single virtual machine"),
        (with_hadoop, "traffic of kind hadoop: its cluster runs only in a single virtual machine"),
    ],
)
def test_what_can_not_be_divided_runs_as_one_part_and_is_named(
    tmp_path: Path, plan_in: Callable[[Path], Plan], sentence: str
) -> None:
    plan = plan_in(tmp_path)
    assert sentence in indivisible(plan)
    cut, why = parts_for(plan, 2, tmp_path)
    assert cut is not None and len(cut.parts) == 1
    assert why.startswith("cores: not divided: ") and sentence in why
    assert parts_for(plan, 1, tmp_path) == (cut, "")


def in_two(plan: Plan, lab: Path) -> tuple[Cut, Job, list[Job]]:
    """Return how a plan is cut in two, its job, and those of the parts."""
    cut = cut_plan(plan, 2)
    assert cut is not None
    flows = compiled_flows(plan, lab)
    samplers = [cut_sampler(compile_sampler(plan, flows), cut, part) for part in range(2)]
    whole = compile_job(plan, flows)
    return cut, whole, cut_job(whole, plan, cut, samplers)


def test_daemons_and_the_routes_that_they_must_find_are_where_their_nodes_are(tmp_path: Path) -> None:
    event = "events: {cut: {at: 1 ms, link: 'leaf1:eth3', action: down}}\n"
    plan = plan_of(write_lab(tmp_path, more="routing: {protocol: bgp-unnumbered}\n" + event))
    assert indivisible(plan) == []
    cut, whole, jobs = in_two(plan, tmp_path)
    for job, part in zip(jobs, cut.parts, strict=True):
        assert {daemon["node"] for daemon in job["daemons"]} <= set(part)
        # Each looks at the same instants, also where it has nothing to look at.
        assert job["ready"]["interval_ns"] == whole["ready"]["interval_ns"]
        assert {node["node"] for node in job["ready"]["nodes"]} <= set(part)
        assert {node["node"] for node in job["events"][0]["reconvergence"]["nodes"]} <= set(part)
    assert sum(len(job["daemons"]) for job in jobs) == len(whole["daemons"])
    assert sum(len(job["ready"]["nodes"]) for job in jobs) == len(whole["ready"]["nodes"])


def test_programs_that_wait_for_each_other_are_in_one_part(tmp_path: Path) -> None:
    write_lab(tmp_path)
    text = (tmp_path / "experiment.yml").read_text()
    programs = (
        "  first: {kind: program, node: h1, argv: [true]}\n"
        "  then: {kind: program, node: h5, argv: [true], after: first}\n"
    )
    (tmp_path / "experiment.yml").write_text(text.replace("traffic:\n", f"traffic:\n{programs}"))
    plan = plan_of(tmp_path)
    assert indivisible(plan) == []
    cut, alone = cut_plan(plan, 2), cut_plan(plan, 1)
    assert cut is not None and alone is not None
    (reason,) = unmet_waits(cut, plan, compiled_flows(plan, tmp_path))
    assert reason == "traffic.then.after: first runs on h1, which is in another part than h5"
    assert unmet_waits(alone, plan, compiled_flows(plan, tmp_path)) == []
    whole = paying_parts(plan, 2, tmp_path)
    assert whole.why == "cores: not divided: what programs have to do is not known beforehand"


def test_links_without_a_delay_are_not_cut(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path, delay_ns=0))
    assert cut_plan(plan, 2) is None
    assert parts_for(plan, 1, tmp_path).cut == one_part(plan)


@pytest.mark.parametrize(("delay_ns", "step"), [(10_000, 10_000), (5_000_000, 1_000_000)])
def test_machines_run_a_millisecond_ahead_at_most(tmp_path: Path, delay_ns: int, step: int) -> None:
    cut = cut_plan(plan_of(write_lab(tmp_path, delay_ns=delay_ns)), 2)
    assert cut is not None
    assert step_ns(cut) == step


def test_links_that_an_event_makes_shorter_are_as_short_for_the_cut(tmp_path: Path) -> None:
    event = "events: {short: {at: 1 ms, link: 'leaf1:eth3', delay: 2 us}}\n"
    cut = cut_plan(plan_of(write_lab(tmp_path, more=event)), 3)
    assert cut is not None and cut.least_delay_ns in (2_000, 10_000)
    none = "events: {none: {at: 1 ms, link: 'leaf1:eth3', delay: 0 us}}\n"
    plan = plan_of(write_lab(tmp_path, more=none))
    cut = cut_plan(plan, 2)
    assert cut is not None
    assert cut.part_of()["leaf1"] == cut.part_of()[plan.node("leaf1").ports[2].peer_node]


def test_all_parts_have_all_events_and_do_their_own_steps(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path, more="events: {cut: {at: 1 ms, link: 'leaf1:eth3', action: down}}\n"))
    cut, whole, jobs = in_two(plan, tmp_path)
    assert [[change["name"] for change in job["events"]] for job in jobs] == [["cut"], ["cut"]]
    steps = [step for job in jobs for step in job["events"][0]["steps"]]
    assert sorted(step["node"] for step in steps) == sorted(step["node"] for step in whole["events"][0]["steps"])
    for job, part in zip(jobs, cut.parts, strict=True):
        assert {step["node"] for step in job["events"][0]["steps"]} <= set(part)


@pytest.mark.parametrize("live", [False, True])
def test_a_cable_loses_what_a_port_of_stock_qdiscs_would(tmp_path: Path, live: bool) -> None:
    bad = "bad: {at: 1 ms, link: 'leaf1:eth3', loss: 10 %}"
    dark = "dark: {at: 2 ms, link: 'leaf1:eth3', action: blackhole}"
    plan = plan_of(write_lab(tmp_path, more=f"events: {{{bad}, {dark}}}\n"))
    lossy, black = compile_events(plan)
    assert [step["lines"] for step in lossy["steps"]] == [["eth3 10000 10000 100000"], ["eth1 10000 10000 100000"]]
    assert [step["lines"][0].split()[-1] for step in black["steps"]] == ["1000000", "1000000"]
    compiler = NodeCompiler(plan, live=live)
    assert all("netem" not in compiler.files_of(node).tc for node in plan.nodes)


def test_an_event_changes_the_delays_of_cables_and_the_rates_of_ports(tmp_path: Path) -> None:
    event = "events: {slow: {at: 1 ms, link: 'leaf1:eth3', delay: 3 ms, rate: 100 Mbps}}\n"
    plan = plan_of(write_lab(tmp_path, more=event))
    (change,) = compile_events(plan)
    wires = [step for step in change["steps"] if step["tool"] == "wire"]
    assert [step["lines"] for step in wires] == [["eth3 3000000 3000000 0"], ["eth1 3000000 3000000 0"]]
    others = [line for step in change["steps"] if step["tool"] != "wire" for line in step["lines"]]
    assert others and all("rate 100000000bit" in line for line in others)
    assert not any("delay" in line for line in others)


@pytest.mark.parametrize("switches", [STOCK, SHARED])
def test_a_fabric_with_stock_or_shared_buffers_can(tmp_path: Path, switches: str) -> None:
    assert indivisible(plan_of(write_lab(tmp_path, switches))) == []


def test_flows_that_wait_for_each_other_are_in_one_part(tmp_path: Path) -> None:
    write_lab(tmp_path)
    text = (tmp_path / "experiment.yml").read_text()
    job = "{kind: shuffle, sources: [h2, h4], mappers: [h1, h3], reducers: [h5], size: 10 KB}"
    (tmp_path / "experiment.yml").write_text(text.replace("traffic:\n", f"traffic:\n  job: {job}\n"))
    plan = plan_of(tmp_path)
    cut = cut_plan(plan, 2)
    assert cut is not None
    assert "between hosts of one part only" in unmet_waits(cut, plan, compiled_flows(plan, tmp_path))[0]
    with pytest.raises(EngineError, match="--cores 2: cores: not divided: traffic: flows that wait for others"):
        cut_for(plan, 2, tmp_path)
    alone = cut_plan(plan, 1)
    assert alone is not None
    assert unmet_waits(alone, plan, compiled_flows(plan, tmp_path)) == []


@pytest.mark.parametrize(
    "traffic",
    [
        "{kind: rounds, senders: [h1, h3], receiver: h5, size: 10 KB, rounds: 2}",
        "{kind: collective, ranks: [h1, h3, h5, h2], operation: all-reduce, size: 10 KB, iterations: 2}",
    ],
)
def test_a_host_that_waits_for_what_it_receives_asks_nobody(tmp_path: Path, traffic: str) -> None:
    write_lab(tmp_path)
    text = (tmp_path / "experiment.yml").read_text()
    (tmp_path / "experiment.yml").write_text(text.replace("traffic:\n", f"traffic:\n  waits: {traffic}\n"))
    plan = plan_of(tmp_path)
    cut = cut_plan(plan, 2)
    assert cut is not None
    flows = compiled_flows(plan, tmp_path)
    assert flows["after"].null_count() < flows.height
    assert unmet_waits(cut, plan, flows) == []


def test_each_part_has_its_nodes_their_cables_and_what_runs_there(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path))
    cut = cut_plan(plan, 2)
    assert cut is not None
    flows = compiled_flows(plan, tmp_path)
    sampler = compile_sampler(plan, flows)
    samplers = [cut_sampler(sampler, cut, part) for part in range(2)]
    jobs = cut_job(compile_job(plan, flows), plan, cut, samplers)
    assert [[node["name"] for node in job["nodes"]] for job in jobs] == [list(part) for part in cut.parts]
    ends = [end for job in jobs for end in job["wires"]["ends"]]
    assert sorted(end["number"] for end in ends) == list(range(sum(len(node.ports) for node in plan.nodes)))
    assert sum("part" in end for end in ends) == 2 * cut.links
    streams = [node["stream"] for job in jobs for node in job["nodes"]]
    assert len(set(streams)) == len(plan.nodes)
    assert all(stream % 2 for stream in streams)
    assert [job["links"] for job in jobs] == [[], []]
    for job, part in zip(jobs, cut.parts, strict=True):
        assert {program["node"] for program in job["traffic"]} <= set(part)
    assert sum(program["name"] == "kernel-release" for job in jobs for program in job["collect"]) == 1
    whole = {port["name"] for port in sampler["queues"]["ports"]}
    parts = [{port["name"] for port in one["queues"]["ports"]} for one in samplers]
    assert parts[0] | parts[1] == whole
    assert not parts[0] & parts[1]
    assert samplers[1]["queues"]["output"] == "/job/raw/part-1/queues.csv"


def test_a_machine_that_is_alone_has_all_nodes_and_cables(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path))
    flows = compiled_flows(plan, tmp_path)
    job = compile_job(plan, flows)
    wired = wired_job(job, plan)
    assert [node["name"] for node in wired["nodes"]] == [node.name for node in plan.nodes]
    assert all(node["stream"] % 2 for node in wired["nodes"])
    assert wired["links"] == []
    assert len(wired["wires"]["ends"]) == 2 * len(job["links"])
    assert not any("part" in end for end in wired["wires"]["ends"])
    assert wired["probes"] == job["probes"]


def test_a_part_with_nothing_to_sample_has_no_sampler(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path))
    probes = plan.probes.model_copy(
        update={"queue_ports": ("leaf1:eth1",), "tcp_interval_ns": None, "interface_interval_ns": None}
    )
    plan = plan.model_copy(update={"probes": probes})
    cut = cut_plan(plan, 3)
    assert cut is not None
    flows = compiled_flows(plan, tmp_path)
    samplers = [cut_sampler(compile_sampler(plan, flows), cut, part) for part in range(3)]
    jobs = cut_job(compile_job(plan, flows), plan, cut, samplers)
    assert [len(job["probes"]) for job in jobs] == [1, 0, 0]


def test_cables_have_the_delays_and_ports_none(tmp_path: Path) -> None:
    plan = without_delays(plan_of(write_lab(tmp_path)))
    assert {port.delay_ns for node in plan.nodes for port in node.ports} == {0}


def test_the_memory_between_machines_holds_what_cables_hold(tmp_path: Path) -> None:
    plan = plan_of(write_lab(tmp_path, delay_ns=1_000_000))
    cut = cut_plan(plan, 3)
    assert cut is not None
    size = ring_bytes(plan, cut)
    assert size & (size - 1) == 0
    assert size >= 4 * cut.links * 2 * 10**9 * 10**-3 / 8


def test_one_switch_is_one_part() -> None:
    plan = star(3)
    assert cut_plan(plan, 2) is None
