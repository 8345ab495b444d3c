"""A run in several machines at once: how its plan is cut, and how what they logged becomes the logs of one."""

from __future__ import annotations

import heapq
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from fabriclab.compile import (
    compile_sampler,
    compiled_flows,
    machine_memory_bytes,
    makes_tunnels,
    program_nodes,
    routes_labels,
)
from fabriclab.compile.cut import MOST_PARTS, Cut, cut_plan, one_part
from fabriclab.compile.machine import KERNEL_MEMORY_BYTES
from fabriclab.compile.wires import BEGIN_NS, indivisible, ring_bytes, step_ns, unmet_waits
from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.cpu import claim_cpus
from fabriclab.engine.events import EventCallback
from fabriclab.engine.interrupt import Interrupt
from fabriclab.engine.several import run_machines
from fabriclab.engine.shared_memory import shared_memory
from fabriclab.engine.virtual import Machine, Wired
from fabriclab.engine.watch import Outcome
from fabriclab.files import replacing
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.run_directory import PART, RAW, TRACE_FILE

Key = tuple[int, int]
_LAST_BYTES = 1 << 16
"""More than two rows have."""


class Parts(NamedTuple):
    """How a lab is divided among machines, and what there is to say of it."""

    cut: Cut | None
    why: str = ""


def parts_for(plan: Plan, cores: int, lab_directory: Path) -> Parts:
    """Return how a plan is cut into machines, one for each of so many cores; or that it is not, and why: the bits are
    the same.

    Raises EngineError for more cores than it has parts, TraceError.
    """
    cut = cut_plan(plan, cores)
    reasons = indivisible(plan) if cores > 1 else []
    if not reasons and cut is None:
        raise EngineError(f"--cores {cores}: {plan.lab} has too few switches for so many parts; choose fewer cores")
    if not reasons and cut is not None:
        reasons = unmet_waits(cut, plan, compiled_flows(plan, lab_directory))
    return Parts(one_part(plan), f"cores: not divided: {reasons[0]}") if reasons else Parts(cut)


def cut_for(plan: Plan, cores: int, lab_directory: Path) -> Cut:
    """Return how a plan is cut for so many cores. Raises EngineError if it can't be, TraceError."""
    cut, why = parts_for(plan, cores, lab_directory)
    if cut is None or why:
        raise EngineError(f"--cores {cores}: {why}")
    return cut


def execute_parts(
    plan: Plan,
    cut: Cut,
    artefacts: Artefacts,
    directory: Path,
    on_event: EventCallback,
    interrupt: Interrupt,
    stall_s: float,
) -> Outcome:
    """Run the jobs of a run directory, each in a machine of its own.

    Raises EngineError when one can't start, OSError.
    """
    count = len(cut.parts)
    # As much as one machine would need for all: what a kernel makes of its memory must not tell of the cut.
    memory_bytes = machine_memory_bytes(plan, (directory / TRACE_FILE).stat().st_size)
    size = ring_bytes(plan, cut)
    own = {algorithm.module: algorithm.file for algorithm in plan.algorithms}
    with claim_cpus(count) as cpus, shared_memory(count, BEGIN_NS, size, step_ns(cut)) as shared:
        machines = [
            Machine(
                *(artefacts, directory, plan.seed, memory_bytes, cpu, stall_s),
                own=own,
                wired=Wired(part, shared),
                labels=routes_labels(plan),
                tunnels=makes_tunnels(plan),
                polls=bool(program_nodes(plan)),
            )
            for part, cpu in enumerate(cpus)
        ]
        return run_machines(machines, several_memory_bytes(memory_bytes, count), on_event, interrupt)


def several_memory_bytes(memory_bytes: int, count: int) -> int:
    """Return what several machines need together where one would need so much for all: each has its own kernel, and
    only the nodes of its part; what none of them touches costs nothing."""
    return memory_bytes + (count - 1) * KERNEL_MEMORY_BYTES


def merge_logs(plan: Plan, directory: Path, lab_directory: Path) -> None:
    """Make one file of what the samplers of all machines wrote: rows by time, those of one time as one sampler would
    have written them. Raises OSError."""
    parts = sorted((directory / RAW).glob(f"{PART}-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    config = compile_sampler(plan, compiled_flows(plan, lab_directory))
    for name in sorted({file.name for part in parts for file in part.iterdir()}):
        files = [file for part in parts if (file := part / name).exists()]
        _merge(files, directory / RAW / name, _order(name, config))
    for part in parts:
        shutil.rmtree(part)


_NAME_COLUMN = {"congestion_events.csv": 2}
"""Which column has the port, node or switch; the second one elsewhere."""
_ALL_AT_THE_END = ("interfaces.csv",)
"""Files in which each port has a row when the lab ends, whatever it had at that time."""
_TIME_COLUMN = {"congestion_events.csv": 1}


def _order(name: str, config: Mapping[str, Any]) -> Callable[[str], Key]:
    """Return by what the rows of a file are ordered: time, then the place of the port, node or switch in the sampler's
    configuration."""
    ranks: dict[str, int] = {}
    for value in config.values():
        if isinstance(value, dict) and name in _files(value):
            for one in (*value.get("nodes", ()), *value.get("ports", ())):
                ranks.setdefault(one["name"], len(ranks))
                ranks.setdefault(one["name"].rpartition(":")[0], len(ranks))
    time, named = _TIME_COLUMN.get(name, 0), _NAME_COLUMN.get(name, 1)

    def key(row: str) -> Key:
        fields = row.split(",", named + 1)
        return int(fields[time]), ranks.get(fields[named].rstrip("\n"), 0)

    return key


def _files(value: Mapping[str, Any]) -> set[str]:
    paths: Sequence[str] = [*([value["output"]] if "output" in value else []), *value.get("outputs", {}).values()]
    return {path.rpartition("/")[2] for path in paths}


def _merge(files: Sequence[Path], target: Path, key: Callable[[str], Key]) -> None:
    """Write the rows of all files in order behind the first two lines, which all have."""
    with ExitStack() as stack, replacing(target) as part, part.open("w", encoding="utf-8") as merged:
        sources = [stack.enter_context(file.open(encoding="utf-8")) for file in files]
        heads = [[source.readline() for _ in range(2)] for source in sources]
        merged.writelines(heads[0])
        # Others have no row of one name twice at a time, or any number.
        ends = max(_last_time(file, key) for file in files) if target.name in _ALL_AT_THE_END else -1
        placed = (_placed(_whole_rows(source), key, ends) for source in sources)
        merged.writelines(row for _, row in heapq.merge(*placed, key=lambda one: one[0]))


def _last_time(file: Path, key: Callable[[str], Key]) -> int:
    """Return the time of a file's last whole row; 0 where it has none."""
    with file.open("rb") as source:
        source.seek(max(0, file.stat().st_size - _LAST_BYTES))
        rows = source.read().decode().splitlines(keepends=True)[1:]
    whole = [row for row in rows if row.endswith("\n")]
    try:
        return key(whole[-1])[0]
    except (IndexError, ValueError):
        return 0


def _placed(rows: Iterator[str], key: Callable[[str], Key], ends: int) -> Iterator[tuple[tuple[int, int, int], str]]:
    """Yield rows with their places. When the lab ends, a sampler writes all that it watches, behind what it has sampled
    at that time."""
    for time, group in groupby(rows, key=lambda row: key(row)[0]):
        same = list(group)
        last = 0
        if time == ends:
            ranks = [key(row)[1] for row in same]
            last = max((place for place in range(1, len(same)) if ranks[place] <= ranks[place - 1]), default=0)
        for place, row in enumerate(same):
            yield (time, int(time == ends and place >= last), key(row)[1]), row


def _whole_rows(source: TextIO) -> Iterator[str]:
    """Yield the rows of a file; the last one of a machine that was killed may be half a row."""
    return (row for row in source if row.endswith("\n"))


__all__ = ["MOST_PARTS", "Cut", "Parts", "cut_for", "execute_parts", "merge_logs", "parts_for"]
