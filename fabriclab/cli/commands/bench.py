"""`fabriclab bench`: what a benchmark found, on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from fabriclab.api.benchmarks import REPORT, Benchmark
from fabriclab.api.benchmarks import bench_ai as run_benchmark
from fabriclab.benchmark import Scale
from fabriclab.benchmark.document import shown
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.host.consent import with_consent
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.failure import FAILED, INTERRUPTED, OK, say
from fabriclab.cli.host.followed import FollowedRuns
from fabriclab.errors import ArgumentError
from fabriclab.formats import ranges
from fabriclab.formats.plan.traffic.collective import ALGORITHMS
from fabriclab.keys.wording import did_you_mean
from fabriclab.units import parse_size

_ALGORITHMS = tuple(name for name in ALGORITHMS["all-reduce"] if name != "hierarchical")
"""A hierarchical one would need to know what is a server."""


def asked_scale(sizes: Sequence[str], iterations: int, channels: int, algorithm: str) -> Scale:
    """Return how large the benchmark is to be. Raises ArgumentError for what can't be."""
    found = next((one for one in _ALGORITHMS if one == algorithm), None)
    if found is None:
        raise ArgumentError("{algorithm} {0!r}: unknown; {1}", algorithm, did_you_mean(algorithm, _ALGORITHMS))
    scale = Scale(iterations=iterations, channels=channels, algorithm=found)
    if not sizes:
        return scale
    parsed = tuple(_size(text) for text in sizes)
    return Scale(parsed, iterations, job_bytes=parsed[-1], channels=channels, algorithm=found)


def _size(text: str) -> int:
    try:
        size = parse_size(text)
    except ValueError as error:
        raise ArgumentError("{size} {0}", str(error)) from error
    if not ranges.FLOW_BYTES.least <= size <= ranges.FLOW_BYTES.most:
        raise ArgumentError("{size} {0}: out of range; write a size such as 16MB", text)
    return size


def bench_ai(
    lab: Path,
    scale: Scale,
    only: Sequence[str],
    settings: Sequence[str],
    seed: int | None,
    out: Path | None,
    stall_s: float,
    trust: bool,
    *,
    strict: bool,
) -> int:
    """Run the tests, print the numbers with a reference and return the exit status."""
    chosen = parse_settings(settings)

    def carry_out(trusted: bool) -> Benchmark:
        with FollowedRuns(f"reading {lab}", "vm") as followed:
            return run_benchmark(
                lab,
                scale=scale,
                only=only,
                set=chosen,
                seed=seed,
                out=out,
                stall_s=stall_s,
                trust=trusted,
                progress=followed.show,
                cancel=followed.interrupt,
            )

    found = with_consent(carry_out, trust)
    if found.outcomes:
        _show(Console(), found)
        say(f"report: {found.directory / REPORT}")
    if found.interrupted:
        say(f"interrupted: what was measured is in {found.directory}")
        return INTERRUPTED
    has_failed = any(one.anomaly for one in found.outcomes)
    return FAILED if has_failed or (strict and not found.reached) else OK


def _show(console: Console, found: Benchmark) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("test", "for", "number", "value", "reference"):
        table.add_column(heading, overflow="fold")
    for one in found.outcomes:
        for kpi in one.kpis:
            if kpi.reference is not None:
                style = {None: "", True: "green", False: "red"}[kpi.reached]
                value = f"[{style}]{shown(kpi)}[/]" if style else shown(kpi)
                table.add_row(one.name, kpi.condition, kpi.name, value, str(kpi.reference))
        if one.anomaly:
            table.add_row(one.name, "", "did not end by itself", one.anomaly, "")
    console.print(table, highlight=False)
