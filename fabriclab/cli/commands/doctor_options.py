"""`fabriclab doctor`: the command with its options. What it does lies in `doctor.py`."""

from __future__ import annotations

from typing import Annotated

import typer

from fabriclab.cli.host.waiting import waiting

app = typer.Typer()


@app.command()
def doctor(
    as_json: Annotated[
        bool, typer.Option("--json", help="As JSON: what was found, what mends it, whether labs can run.")
    ] = False,
) -> None:
    """Say what this host can do, and the one line that mends what is missing.

    Exit status: 0 labs can run in the virtual machine, 1 they cannot. What containers lack is told, and no failure.
    """
    with waiting("loading"):
        from fabriclab.cli.commands import doctor as checkup
        from fabriclab.cli.host import failure
    with failure.reported():
        raise typer.Exit(checkup.doctor(as_json))
