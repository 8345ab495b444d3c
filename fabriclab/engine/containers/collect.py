"""What the containers measured, brought into the run directory in the form that the virtual machine leaves."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any, TextIO

from fabriclab.engine.containers.command import CommandError, run_command
from fabriclab.engine.containers.docker import Container, await_daemon, copy_out, is_reachable, run_in
from fabriclab.engine.containers.job import Task

JOB = "/job"
"""Where a run directory's files lie in a container, as in the machine."""
_COLLECT_S = 120.0
"""More than the minute that Hadoop's history has (`fabriclab.hadoop.compile.cluster`)."""
_LOST = ("No such exec instance", "Cannot connect to the Docker daemon", "error during connect")
"""What `docker exec` says when its daemon ends, or is another one than it began with."""


def await_docker(problems: Sequence[str]) -> list[str]:
    """Wait for a daemon that has ended; returns what there is to say of it. What was measured lies in the containers,
    which are there again when it is. `problems`: how programs ended; of one that is back already only they tell."""
    if not is_reachable() and not await_daemon():
        return ["the Docker daemon ended while the lab ran, and all containers with it; the daemon did not come back"]
    if any(words in problem for problem in problems for words in _LOST):
        return ["the Docker daemon ended while the lab ran, and was started again"]
    return []


def collect_flow_logs(traffic: Sequence[Task], containers: Mapping[str, Container], directory: Path) -> list[str]:
    """Fetch each replay's log; returns what went wrong."""
    problems = []
    for task in traffic:
        path = _option(task.argv, "--log")
        if path is not None and task.node is not None:
            problems += _fetch(containers[task.node], path, directory / PurePosixPath(path).relative_to(JOB))
    return problems


def _option(argv: Sequence[str], name: str) -> str | None:
    return next((value for word, value in pairwise(argv) if word == name), None)


def _fetch(container: Container, path: str, target: Path) -> list[str]:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        copy_out(container, path, target)
    except CommandError as error:
        return [f"{container.node}: {path}: {error.said or error}"]
    return []


def collect_series(
    samplers: Mapping[str, dict[str, Any]], containers: Mapping[str, Container], directory: Path
) -> list[str]:
    """Fetch the samplers' series and make one file of each kind, as one sampler of all nodes writes it;
    returns what went wrong."""
    problems: list[str] = []
    parts: dict[Path, list[Path]] = {}
    for node, config in samplers.items():
        for part in (config[name] for name in ("queues", "tcp", "interfaces", "connections") if name in config):
            target = directory / PurePosixPath(part["output"]).relative_to(JOB)
            fetched = target.with_name(f"{target.name}@{node}")
            problems += _fetch(containers[node], part["output"], fetched)
            parts.setdefault(target, []).append(fetched)
    for target, sources in parts.items():
        present = [source for source in sources if source.exists()]
        if present:
            merge_series(present, target)
        for source in present:
            source.unlink()
    return problems


def merge_series(sources: Sequence[Path], target: Path) -> None:
    """Merge series of one format by their time, the first column. Rows of one time stand in the order of `sources`."""
    with ExitStack() as stack:
        files = [stack.enter_context(source.open()) for source in sources]
        heads = [(file.readline(), file.readline()) for file in files]
        merged = stack.enter_context(target.open("w"))
        merged.writelines(next(iter(heads)))
        merged.writelines(line for _, line in heapq.merge(*(_timed(file) for file in files), key=lambda row: row[0]))


def _timed(file: TextIO) -> Iterator[tuple[int, str]]:
    for line in file:
        # A sampler that was killed leaves a last line that is cut off.
        if line.endswith("\n"):
            yield int(line.partition(",")[0]), line


def run_collect(tasks: Sequence[Task], containers: Mapping[str, Container], directory: Path) -> list[str]:
    """Run the commands that say how things are after the traffic; returns what went wrong."""
    problems = []
    for task in tasks:
        try:
            output = (
                run_command(task.argv, timeout_s=_COLLECT_S)
                if task.node is None
                else run_in(containers[task.node], task.argv, timeout_s=_COLLECT_S)
            )
        except CommandError as error:
            problems.append(f"{task.name}: {error}")
            continue
        (directory / "collect" / task.name).write_bytes(output)
    return problems
