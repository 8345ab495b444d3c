"""`fabriclab sweep`: the command with its options. What it does lies in `sweep.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.arguments.options import Engine, Keep, Lab, Matrix, On, Seed, Seeds, Set, Stall, Trust
from fabriclab.cli.host.limits import refuse_limits
from fabriclab.cli.host.waiting import waiting

app = typer.Typer()


@app.command()
def sweep(
    lab: Lab,
    matrix: Matrix = None,
    seed: Seed = None,
    seeds: Seeds = None,
    settings: Set = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            help="Number of runs at a time.",
            show_default="one per CPU; one in real time; all cores of a cluster",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Sweep directory to create or to continue.", show_default="runs/LAB/MATRIX"),
    ] = None,
    engine: Engine = "vm",
    on: On = "local",
    keep: Keep = "all",
    stall: Stall = 120.0,
    trust: Trust = False,
) -> None:
    """Run every point of a lab's matrix, on all CPUs or on a cluster. Finished points are not run again.

    [bold]Examples[/bold]

      fabriclab sweep labs/incast

      fabriclab sweep labs/incast --matrix buffers -j 4 --set rto_min='1 ms'

      fabriclab sweep labs/leaf-spine --seeds 20

      fabriclab sweep labs/incast --matrix buffers --on dask://node1:8786 --keep results
    """
    refuse_limits()
    from fabriclab.cli.host.machine import asked_ahead

    with asked_ahead():
        with waiting("loading"):
            from fabriclab.cli.commands import sweep as sweeping
            from fabriclab.cli.host import failure
        with failure.reported():
            arguments = (seed, seeds, settings or [], jobs, out, engine, on, keep, stall)
            raise typer.Exit(sweeping.sweep(lab, matrix, *arguments, trust=trust))
