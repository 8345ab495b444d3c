"""`fabriclab figures`: the command with its options. What it does lies in `figures.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.arguments.options import Keep, On, Trust

app = typer.Typer()


@app.command()
def figures(
    labs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[LAB]...",
            help="Labs: their directories, or names in `labs`.",
            show_default="all labs that publish figures",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Run and write nothing; list where a README differs from its data.")
    ] = False,
    draw: Annotated[
        bool,
        typer.Option("--draw", help="Run nothing; write tables, numbers and pictures of tables from the data there."),
    ] = False,
    matrices: Annotated[
        list[str] | None,
        typer.Option(
            "--matrix",
            metavar="NAME",
            help="Only this matrix of the one LAB; repeatable. The other data stay as they are.",
            show_default="all that it publishes",
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="Number of runs at a time.", show_default="one per CPU; all cores of a cluster"
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Directory of the sweeps and of `moved.md`; finished points in it are kept."),
    ] = Path("runs/figures"),
    on: On = "local",
    keep: Keep = "all",
    trust: Trust = False,
) -> None:
    """Run a lab's published matrices again, update the figures in its README, and list what changed.

    The file `published.yml` of a lab lists the tables, numbers and pictures that it publishes (labs/README.md).

    [bold]Examples[/bold]

      fabriclab figures incast

      fabriclab figures incast --matrix demo

      fabriclab figures --check

      fabriclab figures incast --draw

      fabriclab figures --on dask://node1:8786 --keep results
    """
    from fabriclab.cli.commands import figures as making
    from fabriclab.cli.host import failure

    with failure.reported():
        if check:
            raise typer.Exit(making.check(labs or []))
        if draw:
            raise typer.Exit(making.draw(labs or []))
        raise typer.Exit(making.figures(labs or [], jobs, out, on, keep, matrices=matrices or (), trust=trust))
