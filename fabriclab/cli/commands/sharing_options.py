"""The options of `export`, `bundle` and `open`. What they do lies beside this, imported when it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fabriclab.cli.arguments.options import Stall
from fabriclab.cli.host.waiting import waiting

app = typer.Typer()

Format = Literal["csv", "parquet", "json", "flent"]
RunOrSweep = Annotated[Path, typer.Argument(metavar="RUN", help="A run or sweep directory.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there already.")]


@app.command()
def export(
    run: RunOrSweep,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The directory to write into.", show_default="NAME-tables")
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", "-f", help="`json`: a JSON object a line; `flent`: a data file of flent.")
    ] = "csv",
    tables: Annotated[
        list[str] | None,
        typer.Option(
            "--table", "-t", metavar="TABLE", help="A table: flows, queues, tcp ... Repeatable.", show_default="all"
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Write the tables of a run or a sweep for other programs, with a description of every column.

    A sweep's tables have its points' settings and seeds as columns. datapackage.json has each column's type and
    meaning.

    [bold]Examples[/bold]

      fabriclab export runs/incast/demo -o tables

      fabriclab export runs/incast/demo --format parquet --table flows --table queues
    """
    with waiting("loading"):
        from fabriclab.cli.commands import sharing
        from fabriclab.cli.host import failure
    with failure.reported():
        sharing.export(run, out, form, tables or [], force)


@app.command()
def bundle(
    run: RunOrSweep,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write.", show_default="NAME.fabriclab.zip")
    ] = None,
    force: Force = False,
) -> None:
    """Pack a run or a sweep into one file: lab, plan, results and versions.

    Whoever gets it can look at it and run it again: `fabriclab open FILE --reproduce`.

    [bold]Examples[/bold]

      fabriclab bundle runs/incast/demo -o incast.fabriclab.zip
    """
    with waiting("loading"):
        from fabriclab.cli.commands import sharing
        from fabriclab.cli.host import failure
    with failure.reported():
        sharing.bundle(run, out, force)


@app.command(name="open")
def open_bundle(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="BUNDLE",
            help="What `fabriclab bundle` made, or the directory that it was unpacked to.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The directory to make.", show_default="the file's name")
    ] = None,
    reproduce: Annotated[
        bool, typer.Option("--reproduce", help="Run it again here, and say whether the bits agree.")
    ] = False,
    stall: Stall = 120.0,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="With --reproduce: algorithms in C that the bundle brings may run, this time (docs/trust.md).",
        ),
    ] = False,
) -> None:
    """Unpack a bundle, and say what it holds. With --reproduce it is run again, too.

    Exit status: 0, or 1 where a run that was reproduced has other bits; 2 for what is no bundle.

    [bold]Examples[/bold]

      fabriclab open incast.fabriclab.zip --reproduce
    """
    with waiting("loading"):
        from fabriclab.cli.commands import sharing
        from fabriclab.cli.host import failure
    with failure.reported():
        raise typer.Exit(sharing.open_bundle(file, out, reproduce, stall, trust))
