"""The options of `export`, `bundle` and `open`. What they do lies beside this, imported when it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fabriclab.cli.arguments.options import Stall
from fabriclab.cli.host.waiting import waiting

app = typer.Typer()

Format = Literal["csv", "parquet", "json", "flent", "openmetrics"]
RunOrSweep = Annotated[Path, typer.Argument(metavar="RUN", help="A run or sweep directory.", show_default=False)]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]


@app.command()
def export(
    run: RunOrSweep,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The directory to write into.", show_default="NAME-tables")
    ] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            "-f",
            help="Output format. `json` has one JSON object per line; `flent` is a data file of flent, "
            "`openmetrics` is text that Prometheus reads.",
        ),
    ] = "csv",
    tables: Annotated[
        list[str] | None,
        typer.Option(
            "--table",
            "-t",
            metavar="TABLE",
            help="A table to export: flows, queues, tcp ... Repeatable.",
            show_default="all",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Export the tables of a run or a sweep for other programs, with a description of every column.

    The tables of a sweep have columns for the settings and the seed of each point. datapackage.json describes the type
    and meaning of each column.

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

    The recipient can look at it and run it again with `fabriclab open FILE --reproduce`.

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
            help="A file that `fabriclab bundle` made, or the directory to which it was unpacked.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The directory to create.", show_default="the file's name")
    ] = None,
    reproduce: Annotated[
        bool, typer.Option("--reproduce", help="Run it again here, and compare the results bit by bit.")
    ] = False,
    stall: Stall = 120.0,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="With --reproduce: let the bundle's algorithms in C run, this time (docs/trust.md).",
        ),
    ] = False,
) -> None:
    """Unpack a bundle and list its contents; with --reproduce also run it again and compare the bits.

    Exit status: 0 success, 1 a reproduced run has different bits, 2 the file is not a bundle.

    [bold]Examples[/bold]

      fabriclab open incast.fabriclab.zip --reproduce
    """
    with waiting("loading"):
        from fabriclab.cli.commands import sharing
        from fabriclab.cli.host import failure
    with failure.reported():
        raise typer.Exit(sharing.open_bundle(file, out, reproduce, stall, trust))
