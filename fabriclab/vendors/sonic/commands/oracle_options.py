"""`fabriclab sonic oracle` and its options. What it does lies in `comparing.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fabriclab.cli.host.waiting import waiting


def oracle(
    files: Annotated[
        list[Path], typer.Argument(metavar="CONFIG_DB.JSON...", help="Switches' configurations; with --asic-db, one.")
    ],
    asic_db: Annotated[
        Path | None,
        typer.Option(
            "--asic-db", metavar="FILE", help="What orchagent made of it: sonic-db-dump -n ASIC_DB -d -y > FILE"
        ),
    ] = None,
    daemons: Annotated[
        Path | None,
        typer.Option(
            "--daemons",
            metavar="ROOT",
            help="A root file system with SONiC's daemons, such as docker-sonic-vs unpacked: they run here, apart from "
            "the host, over it as it is.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="DIR", help="With --daemons: keep each ASIC_DB as NAME.asic.json.")
    ] = None,
    output: Annotated[Literal["text", "json"], typer.Option("--format", help="What goes to the output.")] = "text",
) -> None:
    """Compare what SONiC's orchagent makes of a file with what fabriclab reads in it, object by object.

    Pools, profiles, what groups and queues are bound to, WRED, schedulers, ports with their maps and PFC.
    What orchagent made comes from a switch (--asic-db), or its daemons run for it here (--daemons).

    Exit status: 0 all is equal, 1 something differs, or SONiC's daemons did not take a file, 2 a file cannot be read.

    [bold]Examples[/bold]

      fabriclab sonic oracle config_db.json --asic-db asic.json
      fabriclab sonic oracle --daemons docker-sonic-vs/ configurations/*.json
    """
    with waiting("loading"):
        from fabriclab.cli.host import failure
        from fabriclab.vendors.sonic.commands import comparing
    with failure.reported():
        raise typer.Exit(comparing.compare(files, comparing.Source(asic_db, daemons, save), output))
