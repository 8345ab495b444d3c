"""`fabriclab studies`: the command with its options. What it does lies in `studies.py`."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer()


@app.command()
def studies(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[STUDY]...", help="Studies, such as S4.", show_default="all studies"),
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write the tables of docs/studies.md instead.")] = False,
) -> None:
    """Show the claims of published studies, what was measured here, and whether that agrees.

    Ends with 1 if a published verdict no longer follows from the published data.

    [bold]Examples[/bold]

      fabriclab studies

      fabriclab studies S4

      fabriclab studies --write
    """
    from fabriclab.cli.commands import studies as showing
    from fabriclab.cli.host import failure

    with failure.reported():
        raise typer.Exit(showing.write() if write else showing.studies(names or []))
