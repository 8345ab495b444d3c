"""A lab whose links are cables: its job, the job and the sampler of each of several machines, and what can't be
divided.

A cable is of the machine's own kind, and has the link's delay (`drivers/net/wire.c` of its kernel); so ports have none
(`fabriclab.compile.cables`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from fabriclab.compile.captures import captures_by_port
from fabriclab.compile.cut import Cut, one_part
from fabriclab.formats.job import Change, ExpectedNode, Job, JobNode, OptionalParts, Program, WireEnd
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import ProgramTraffic
from fabriclab.formats.run_directory import SAMPLER_FILE, part_file
from fabriclab.formats.trace import awaited
from fabriclab.registry.applications import applications_of
from fabriclab.workload.groups import parents

BEGIN_NS = 2_000_000_000
"""Cables carry from this instant of all machines on: by then each has made its nodes, which takes next to no virtual
time. Daemons start then; and so does the lab, where nothing has to be ready before."""
_LEAST_RING_BYTES = 1 << 20
_LONGEST_STEP_NS = 1_000_000
"""Machines learn of the end of each other's traffic after so long (`KNOWN_NS` in images/machine/init/src/wires.rs)."""


def step_ns(cut: Cut) -> int:
    """Return how far machines may run ahead of each other."""
    return min(cut.least_delay_ns, _LONGEST_STEP_NS)


def indivisible(plan: Plan) -> list[str]:
    """Return why a plan can't be divided among machines, a sentence each."""
    return list(_indivisible(plan))


def _indivisible(plan: Plan) -> Iterator[str]:
    for found, sentence in (
        (plan.configured, "nodes that bring their own addresses and routes run only in a single virtual machine"),
        (
            any(node.setup for node in plan.nodes),
            "nodes with commands of their own run only in a single virtual machine",
        ),
    ):
        if found:
            yield sentence
    for application in applications_of(plan):
        yield f"traffic of kind {application.name}: its cluster runs only in a single virtual machine"


def unmet_waits(cut: Cut, plan: Plan, flows: pl.DataFrame) -> list[str]:
    """Return why a plan can't be cut so: flows and programs wait for each other within a machine alone."""
    part_of = cut.part_of()
    if any(len({part_of[host] for host in hosts}) > 1 for hosts in _meetings(flows).values()):
        return ["traffic: flows that wait for others (`after`, rounds, shuffles) are between hosts of one part only"]
    programs = {traffic.name: traffic for traffic in plan.traffic if isinstance(traffic, ProgramTraffic)}
    return [
        f"traffic.{name}.after: {awaited} runs on {programs[awaited.program].node}, which is in another part than "
        f"{program.node}"
        for name, program in programs.items()
        for awaited in program.after
        if part_of[programs[awaited.program].node] != part_of[program.node]
    ]


def _meetings(flows: pl.DataFrame) -> dict[str, set[str]]:
    """Return the hosts that have to hear of each group that flows wait for: those that receive its flows, and those
    that start flows after it. A host that receives a group by itself, and waits for it, asks nobody."""
    if flows["after"].is_null().all():
        return {}
    columns = pl.col("src", "dst", "mode", "group", "after").cast(pl.String)
    rows = list(flows.select(columns).iter_rows(named=True))
    meetings: dict[str, set[str]] = {}
    for row in rows:
        starter = row["dst"] if row["mode"] in ("pull", "read") else row["src"]
        for wait in awaited(row["after"] or ""):
            if wait.group:
                meetings.setdefault(wait.group, set()).add(starter)
    for row in rows:
        for group in (row["group"], *parents(row["group"])) if row["group"] else ():
            if group in meetings:
                meetings[group].add(row["dst"])
    return meetings


def ring_bytes(plan: Plan, cut: Cut) -> int:
    """Return the size of the memory for frames from one machine to another: what a part's cables may hold, four times
    over, a power of two."""
    part_of = cut.part_of()
    held = sum(
        port.rate_bps * 2 * port.delay_ns // (8 * 10**9) + 2 * port.mtu
        for node in plan.nodes
        for port in node.ports
        if part_of[node.name] != part_of[port.peer_node]
    )
    return max(_LEAST_RING_BYTES, 1 << (4 * held).bit_length())


def wired_job(job: Job, plan: Plan) -> Job:
    """Return the job of a machine in which the whole lab is."""
    return {
        **job,
        "nodes": [_with_stream(node, plan.seed) for node in job["nodes"]],
        "links": [],
        "wires": {"begin_ns": BEGIN_NS, "ends": _ends(plan, one_part(plan), 0)},
    }


def cut_job(job: Job, plan: Plan, cut: Cut, samplers: Sequence[Mapping[str, Any]]) -> list[Job]:
    """Return the job of each part: its nodes, their ends of the cables, and what runs in them. What is of the machine
    itself the first one does. `samplers`: their configurations."""
    ends = [_ends(plan, cut, part) for part in range(len(cut.parts))]
    return [
        {
            **job,
            "nodes": [_with_stream(node, plan.seed) for node in job["nodes"] if node["name"] in cut.parts[part]],
            "links": [],
            "wires": {"begin_ns": BEGIN_NS, "ends": ends[part]},
            "daemons": _of_part(job["daemons"], cut, part),
            "probes": list(_probes(job["probes"], plan, cut, part, samplers[part])),
            "traffic": _of_part(job["traffic"], cut, part),
            **_of_all(job, cut, part),
            "collect": _of_part(job["collect"], cut, part),
        }
        for part in range(len(cut.parts))
    ]


def _of_all(job: Job, cut: Cut, part: int) -> OptionalParts:
    """Return a part's share of what all parts have, if only with no nodes: they follow one timeline of events, and look
    at routes and queues at the same instants. And its share of the disturbances."""
    names = set(cut.parts[part])
    parts: OptionalParts = {}
    if "ready" in job:
        parts["ready"] = {**job["ready"], "nodes": _expected_in(job["ready"]["nodes"], names)}
    if "events" in job:
        parts["events"] = [_in_part(change, names) for change in job["events"]]
    if "drain" in job:
        parts["drain"] = {**job["drain"], "nodes": [node for node in job["drain"]["nodes"] if node in names]}
    if "disturbances" in job:
        parts["disturbances"] = _of_part(job["disturbances"], cut, part)
    return parts


def _in_part(change: Change, names: set[str]) -> Change:
    own: Change = {**change, "steps": [step for step in change["steps"] if step["node"] in names]}
    if "down" in change:
        own["down"] = [node for node in change["down"] if node in names]
    if "up" in change:
        own["up"] = [node for node in change["up"] if node in names]
    if "reconvergence" in change:
        expected = change["reconvergence"]
        own["reconvergence"] = {**expected, "nodes": _expected_in(expected["nodes"], names)}
    return own


def _expected_in(nodes: Sequence[ExpectedNode], names: set[str]) -> list[ExpectedNode]:
    return [node for node in nodes if node["node"] in names]


def _of_part(programs: Sequence[Program], cut: Cut, part: int) -> list[Program]:
    names = set(cut.parts[part])
    return [one for one in programs if (one["node"] in names if one["node"] is not None else part == 0)]


def _probes(
    programs: Sequence[Program], plan: Plan, cut: Cut, part: int, sampler: Mapping[str, Any]
) -> Iterator[Program]:
    """Yield what watches in a part: captures of its nodes' ports, and a sampler where there is anything to sample."""
    names = set(cut.parts[part])
    captured = {program["name"]: port.partition(":")[0] for port, program in captures_by_port(plan.probes.pcap).items()}
    for program in programs:
        if program["name"] in captured:
            if captured[program["name"]] in names:
                yield program
        # Besides its format.
        elif len(sampler) > 1:
            yield _own_sampler(program, part)


def _own_sampler(program: Program, part: int) -> Program:
    name, config = f"{program['name']}@{part}", "/job/" + part_file(SAMPLER_FILE, part)
    argv = [config if word == f"/job/{SAMPLER_FILE}" else word for word in program["argv"]]
    return {**program, "name": name, "argv": argv}


def _with_stream(node: JobNode, seed: int) -> JobNode:
    # Not 0, which would be none.
    digest = hashlib.sha256(f"{seed} {node['name']}".encode()).digest()
    return {**node, "stream": int.from_bytes(digest[:8], "little") | 1}


def _ends(plan: Plan, cut: Cut, part: int) -> list[WireEnd]:
    part_of = cut.part_of()
    numbers = _numbers(plan)
    ends: list[WireEnd] = []
    for name in cut.parts[part]:
        for port in plan.node(name).ports:
            end: WireEnd = {
                "node": name,
                "interface": port.interface,
                "mac": port.mac,
                "mtu": port.mtu,
                "number": numbers[name, port.interface],
                "delay_ns": port.delay_ns,
                "delay_in_ns": plan.peer_of(port).delay_ns,
            }
            if (there := part_of[port.peer_node]) != part:
                end["part"] = there
            ends.append(end)
    return ends


def _numbers(plan: Plan) -> Mapping[tuple[str, str], int]:
    """Return the number of each end of a cable: twice the link's, in the plan's order, and one more at its other
    end."""
    numbers: dict[tuple[str, str], int] = {}
    for node in plan.nodes:
        for port in node.ports:
            if (node.name, port.interface) not in numbers:
                numbers[node.name, port.interface] = len(numbers)
                numbers[port.peer_node, port.peer_interface] = len(numbers)
    return numbers


def cut_sampler(config: Mapping[str, Any], cut: Cut, part: int) -> dict[str, Any]:
    """Return the sampler's configuration for one part: the ports and nodes that are there, and files of its own."""
    names = set(cut.parts[part])

    def is_here(one: Mapping[str, str]) -> bool:
        return one["name"].partition(":")[0] in names

    def of_part(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        some = {key: [one for one in value[key] if is_here(one)] for key in ("ports", "nodes") if key in value}
        files: dict[str, Any] = {"output": part_file(value["output"], part)} if "output" in value else {}
        if "outputs" in value:
            files["outputs"] = {key: part_file(path, part) for key, path in value["outputs"].items()}
        return {**value, **some, **files}

    parts = {key: of_part(value) for key, value in config.items()}
    # A part that names nothing is none.
    return {key: value for key, value in parts.items() if not isinstance(value, dict) or _names_some(value)}


def _names_some(value: Mapping[str, Any]) -> bool:
    return any(value.get(key) for key in ("ports", "nodes"))
