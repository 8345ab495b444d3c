"""`fabriclab trust`: the command with its options. What it does lies in `trust.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.arguments.completion import complete_lab
from fabriclab.cli.host.waiting import waiting

app = typer.Typer()


@app.command()
def trust(
    lab: Annotated[
        Path | None,
        typer.Argument(
            metavar="[LAB]",
            help="A lab, or the directory of an unpacked bundle, a run or a sweep.",
            show_default="list what is trusted",
            autocompletion=complete_lab,
        ),
    ] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Withdraw the trust.")] = False,
) -> None:
    """Trust a lab, so that its algorithms in C and containers run without a question; withdraw or list trust.

    fabriclab asks before it runs anything of a lab outside of the lab's nodes: an algorithm in C, or containers. Labs
    that `fabriclab new` made here and fabriclab's own labs are trusted. docs/trust.md has more.

    [bold]Examples[/bold]

      fabriclab trust labs/from-a-colleague

      fabriclab trust labs/from-a-colleague --forget
    """
    with waiting("loading"):
        from fabriclab.cli.commands import trust as trusting
        from fabriclab.cli.host import failure
    with failure.reported():
        raise typer.Exit(trusting.trust(lab, forget))
