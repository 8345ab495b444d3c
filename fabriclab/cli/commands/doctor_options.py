"""`fabriclab doctor`: the command with its options. What it does lies in `doctor.py`."""

from __future__ import annotations

from typing import Annotated

import typer

from fabriclab.cli.host.waiting import waiting

app = typer.Typer()


@app.command()
def doctor(
    every: Annotated[bool, typer.Option("--all", help="Show everything that was looked at.")] = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print JSON: the findings, the commands that repair them, and whether labs can run."
        ),
    ] = False,
) -> None:
    """Check whether labs can run on this host, and print the command that installs what is missing.

    Exit status: 0 labs can run in the virtual machine, 1 they cannot. What the container engine lacks is listed with
    --all, but is no failure.
    """
    with waiting("loading"):
        from fabriclab.cli.commands import doctor as checkup
        from fabriclab.cli.host import failure
    with failure.reported():
        raise typer.Exit(checkup.doctor(as_json, every=every))
