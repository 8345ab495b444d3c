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
            help="A lab, or the directory of an unpacked bundle, a run or a sweep, whose algorithms in C are meant.",
            show_default="lists what is trusted",
            autocompletion=complete_lab,
        ),
    ] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Trust it no longer.")] = False,
) -> None:
    """Let what a lab brings run without a question, take that back, or list what is trusted (docs/trust.md).

    Asked about is what runs outside of a lab's nodes: an algorithm in C, containers. Labs that `fabriclab new` made
    here and those that fabriclab brings along are trusted.

    [bold]Examples[/bold]

      fabriclab trust labs/from-a-colleague

      fabriclab trust labs/from-a-colleague --forget
    """
    with waiting("loading"):
        from fabriclab.cli.commands import trust as trusting
        from fabriclab.cli.host import failure
    with failure.reported():
        raise typer.Exit(trusting.trust(lab, forget))
