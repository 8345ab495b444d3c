"""`fabriclab bench`: the commands with their options. What they do lies in `bench.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.arguments.options import Lab, Seed, Set, Stall, Trust
from fabriclab.cli.host.limits import refuse_limits
from fabriclab.cli.host.waiting import waiting

app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="Benchmark a fabric as a published method says.")


@app.callback()
def _of_group() -> None:
    """Benchmark a fabric as a published method says."""


@app.command("ai")
def ai(
    lab: Lab,
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            "--size", metavar="SIZE", help="Size of the collectives. Repeatable.", show_default="1 MB and 16 MB"
        ),
    ] = None,
    iterations: Annotated[int, typer.Option(min=1, max=1000, help="Iterations of each operation.")] = 5,
    channels: Annotated[
        int, typer.Option(min=1, max=64, help="Channels of a collective, each with a queue pair of its own.")
    ] = 1,
    algorithm: Annotated[
        str, typer.Option(metavar="NAME", help="Algorithm of an all-reduce: ring, halving-doubling or tree.")
    ] = "ring",
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEST",
            help="Run only tests whose name begins so: throughput, in-cast, all-reduce, job, tenants ... Repeatable.",
            show_default="all",
        ),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if a reference target is not reached.")] = False,
    seed: Seed = None,
    settings: Set = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Directory of the report and the runs.", show_default="runs/LAB/bench-ai-TIME"
        ),
    ] = None,
    stall: Stall = 120.0,
    trust: Trust = False,
) -> None:
    """Benchmark an AI training fabric as draft-calabria-bmwg-ai-fabric-training-bench says.

    The lab's nodes, links and configurations are the fabric, each host is a rank; its own traffic stays out of it. The
    report has the sections of the draft (docs/bench-ai.md). The draft's reference targets are no pass marks there;
    --strict makes them such.

    Exit status: 0 all tests ran, 1 one did not (or, with --strict, a target was missed), 2 bad input.

    [bold]Examples[/bold]

      fabriclab bench ai labs/roce-incast

      fabriclab bench ai labs/roce-incast --only all-reduce --only job --size 64MB --strict
    """
    refuse_limits()
    with waiting("loading"):
        from fabriclab.cli.commands import bench
        from fabriclab.cli.host import failure
    with failure.reported():
        asked = bench.asked_scale(sizes or [], iterations, channels, algorithm)
        raise typer.Exit(bench.bench_ai(lab, asked, only or [], settings or [], seed, out, stall, trust, strict=strict))
