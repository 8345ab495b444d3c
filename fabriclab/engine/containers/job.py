"""The job of a run directory (`images/machine/README.md`), read for containers: which node's container runs what."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.routes import Expectation, read_expectation
from fabriclab.formats import job as form
from fabriclab.formats.real_time import REAL_TIME_FILE, RealTime
from fabriclab.formats.run_directory import JOB_FILE, SAMPLER_FILE

_NAMESPACE = "/run/netns/"
_PROBED = (("queues", "ports"), ("tcp", "nodes"), ("connections", "nodes"))
"""Parts of the sampler's configuration that name what somebody asked for."""


@dataclass(frozen=True)
class Task:
    """A process of the job. `node` None: the machine itself."""

    name: str
    node: str | None
    argv: tuple[str, ...]


@dataclass(frozen=True)
class Interface:
    """One end of a link: what the plan gives it."""

    name: str
    mac: str
    mtu: int


@dataclass(frozen=True)
class Step:
    """Lines of a batch file for a tool (`ip` or `tc`) in a node."""

    node: str
    tool: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """An event of the job, so long after the epoch."""

    name: str
    at_ns: int
    steps: tuple[Step, ...]
    reconvergence: Expectation | None
    down: tuple[str, ...] = ()
    """Nodes that lose their processes, after the steps."""
    up: tuple[str, ...] = ()
    """Nodes whose daemons start again, after the steps."""


@dataclass(frozen=True)
class Job:
    """What is to run in the containers, as the run directory's job says it."""

    limit_ns: int
    files: dict[str, str]
    """The directory of files, relative to the run directory, of each node that takes part (`taking_part`)."""
    interfaces: dict[str, list[Interface]]
    daemons: tuple[Task, ...]
    traffic: tuple[Task, ...]
    collect: tuple[Task, ...]
    samplers: dict[str, dict[str, Any]]
    """Each sampled node's own sampler configuration: a sampler in a container serves that container."""
    ready: Expectation | None
    """What routes must be before the traffic starts."""
    changes: tuple[Change, ...]
    real_time: RealTime | None = None
    """What is to be measured of the host's links, and what its pauses are compared with."""
    setup: tuple[form.SetupStep, ...] = ()
    disturbances: tuple[Task, ...] = ()
    """What runs beside the traffic, such as programs that serve; nobody waits for it."""
    layers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of each node with programs of the lab's own the layers over its image, the first on top."""
    still: form.Still | None = None
    """Routes that nobody knows beforehand must have come to rest."""

    @property
    def stall_ns(self) -> int | None:
        """The longest pause of the host's that the lab's buffers bridge."""
        return None if self.real_time is None else self.real_time["stall_ns"]


def read_job(directory: Path) -> Job:
    """Read a run directory's job. Raises EngineError for one that this engine can't carry out."""
    path = directory / JOB_FILE
    record = json.loads(path.read_text())
    unknown = sorted(set(record) - form.Job.__annotations__.keys())
    if record.get("format") != form.JOB_FORMAT or any(record[key] for key in unknown):
        what = (
            f"it has {', '.join(unknown)}"
            if unknown
            else f"its format is {record.get('format')!r}, not {form.JOB_FORMAT!r}"
        )
        raise EngineError(f"{path}: the containerlab engine can't carry out this job: {what}; --engine vm can")
    job: form.Job = record
    sampled = any("/tools/sampler" in entry["argv"] for entry in job["probes"])
    sampler = json.loads((directory / SAMPLER_FILE).read_text()) if sampled else {}
    # A lab that stays up has all its nodes, and no traffic of its own.
    idle = "live" in job
    # So has one whose nodes' own files route.
    whole = idle or "still" in job
    deployed = frozenset(node["name"] for node in job["nodes"]) if whole else taking_part(job, sampler)
    return Job(
        limit_ns=job["limit_ns"],
        files={node["name"]: node["files"] for node in job["nodes"] if node["name"] in deployed},
        interfaces=_interfaces(job["links"], [node["name"] for node in job["nodes"]]),
        daemons=_tasks(job["daemons"]),
        traffic=() if idle else _tasks(job["traffic"]),
        disturbances=() if idle else _tasks(job.get("disturbances") or []),
        collect=_tasks(job["collect"]),
        samplers={node: config for node, config in split_sampler(sampler).items() if node in deployed},
        ready=read_expectation(job["ready"]) if "ready" in job else None,
        setup=tuple(job.get("setup") or ()),
        layers={node["name"]: tuple(node["layers"]) for node in job["nodes"] if node.get("layers")},
        still=job.get("still"),
        changes=tuple(_change(event) for event in job.get("events") or ()),
        real_time=_read_real_time(directory / REAL_TIME_FILE),
    )


def _read_real_time(path: Path) -> RealTime | None:
    found: RealTime | None = json.loads(path.read_text()) if path.exists() else None
    return found


def taking_part(job: form.Job, sampler: Mapping[str, Any]) -> frozenset[str]:
    """Return the nodes that a job wants anything of: hosts with traffic or programs, all switches, whatever an event
    changes or a probe names.

    Counters of interfaces are sampled at every node of a lab; that alone brings no host into a run.
    """
    entries = [
        *job["daemons"],
        *job["traffic"],
        *(job.get("disturbances") or ()),
        *(step["program"] for step in job.get("setup") or ()),
        *job["collect"],
        *(step for event in job.get("events") or () for step in event["steps"]),
    ]
    expected = [job.get("ready"), *(event.get("reconvergence") for event in job.get("events") or ())]
    entries += [node for expectation in expected if expectation for node in expectation["nodes"]]
    sampled = [entry["netns"] for part, members in _PROBED for entry in sampler.get(part, {}).get(members, ())]
    return frozenset(entry["node"] for entry in entries if entry["node"] is not None) | {
        netns.removeprefix(_NAMESPACE) for netns in sampled
    }


def _change(event: form.Change) -> Change:
    steps = tuple(Step(step["node"], step["tool"], tuple(step["lines"])) for step in event["steps"])
    expected = event.get("reconvergence")
    reconvergence = read_expectation(expected) if expected else None
    return Change(
        event["name"], event["at_ns"], steps, reconvergence, tuple(event.get("down", ())), tuple(event.get("up", ()))
    )


def _tasks(entries: list[form.Program]) -> tuple[Task, ...]:
    return tuple(Task(entry["name"], entry["node"], tuple(entry["argv"])) for entry in entries)


def _interfaces(links: list[form.Link], nodes: list[str]) -> dict[str, list[Interface]]:
    found: dict[str, list[Interface]] = {node: [] for node in nodes}
    for link in links:
        for end in (link["a"], link["b"]):
            found[end["node"]].append(Interface(end["interface"], end["mac"], link["mtu"]))
    return found


def split_sampler(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return one sampler configuration for each node of the machine's, by node:
    its own ports and sockets, without a namespace."""
    split: dict[str, dict[str, Any]] = {}
    for part, members in (*_PROBED, ("interfaces", "ports")):
        if part not in config:
            continue
        for entry in config[part][members]:
            node = entry["netns"].removeprefix(_NAMESPACE)
            own = split.setdefault(node, {"format": config["format"]})
            own.setdefault(part, {**config[part], members: []})[members].append(
                {k: v for k, v in entry.items() if k != "netns"}
            )
    return split
