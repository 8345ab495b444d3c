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
            metavar="[LAB]...", help="Labs: their directories, or names in `labs`.", show_default="all that publish"
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Run nothing and write nothing: say where a README differs from its data.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, help="Runs at a time.", show_default="one a CPU; on a cluster all that it has"
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where the sweeps and `moved.md` lie; what is done there is kept.")
    ] = Path("runs/figures"),
    on: On = "local",
    keep: Keep = "all",
    trust: Trust = False,
) -> None:
    """Run a lab's published matrices again, write its README's tables, numbers and pictures, and say what moved.

    What a lab publishes stands in its `published.yml` (labs/README.md).

    [bold]Examples[/bold]

      fabriclab figures incast

      fabriclab figures --check

      fabriclab figures --on dask://node1:8786 --keep results
    """
    from fabriclab.cli.commands import figures as making
    from fabriclab.cli.host import failure

    with failure.reported():
        if check:
            raise typer.Exit(making.check(labs or []))
        raise typer.Exit(making.figures(labs or [], jobs, out, on, keep, trust=trust))
