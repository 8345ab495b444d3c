"""Programs of the lab's own in containers: layers over a node's image, and the places of the run directory that these
programs write to, which are the host's own directories, so that nothing has to be fetched and nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from fabriclab.engine.containers.collect import JOB
from fabriclab.engine.containers.command import CommandError
from fabriclab.engine.containers.docker import Container, run_in
from fabriclab.engine.containers.job import Job
from fabriclab.formats.run_directory import COST_LOGS, HADOOP, LOGS, OUTPUT, PROGRAM_LOGS

PLACES = (PROGRAM_LOGS, COST_LOGS, OUTPUT, HADOOP, LOGS)
"""Directories of the run directory that programs write to."""
_LAYERS = "/run/fabriclab/layers"
_LAY = 'for layer; do cp --archive --symbolic-link --force "$layer/." /; done'
"""Links are quick, and a program that looks for its own files where it is finds them in its layer."""
_LAY_S = 300.0
_HAND_OVER_S = 60.0


def program_nodes(job: Job) -> set[str]:
    """Return the nodes on which programs of the lab's own run."""
    programs = [*job.disturbances, *(task for task in job.traffic if task.argv[:2] == ("/tools/replay", "program"))]
    return {task.node for task in programs if task.node is not None} | set(job.layers)


def program_binds(job: Job, directory: Path, layers: Mapping[str, Path]) -> dict[str, list[str]]:
    """Return what is bound into each node with programs (`host's path:node's path`), and make the places that they
    write to. `layers`: the root directory of each layer that the job names."""
    nodes = program_nodes(job)
    places = [f"{directory.resolve() / place}:{JOB}/{place}" for place in PLACES] if nodes else []
    for place in PLACES if nodes else ():
        (directory / place).mkdir(parents=True, exist_ok=True)
    return {
        node: [*places, *(f"{layers[name]}:{_LAYERS}/{name}:ro" for name in job.layers.get(node, ()))]
        for node in sorted(nodes)
    }


def lay(container: Container, layers: Collection[str]) -> None:
    """Put a node's layers, the first on top, over its image. Raises CommandError."""
    if layers:
        names = [f"{_LAYERS}/{name}" for name in reversed(tuple(layers))]
        run_in(container, ["sh", "-c", _LAY, "sh", *names], timeout_s=_LAY_S)


def hand_over(job: Job, containers: Mapping[str, Container], directory: Path) -> list[str]:
    """Make what programs wrote belong to whoever runs fabriclab, and remove places that nobody used; returns what went
    wrong."""
    problems = []
    nodes = sorted(program_nodes(job) & set(containers))
    for node in nodes[:1]:
        places = [f"{JOB}/{place}" for place in PLACES]
        argv = ["chown", "--recursive", "--no-dereference", f"{os.getuid()}:{os.getgid()}", *places]
        try:
            run_in(containers[node], argv, timeout_s=_HAND_OVER_S)
        except CommandError as error:
            problems.append(f"{node}: {error.said or error}")
    for place in PLACES if nodes else ():
        with suppress(OSError):
            (directory / place).rmdir()
    return problems
