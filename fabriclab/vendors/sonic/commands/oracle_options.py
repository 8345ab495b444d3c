"""`fabriclab sonic oracle` and its options. What it does lies in `comparing.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fabriclab.cli.host.waiting import waiting


def oracle(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="CONFIG_DB.JSON...", help="Configurations of switches; with --asic-db only one."),
    ],
    asic_db: Annotated[
        Path | None,
        typer.Option(
            "--asic-db", metavar="FILE", help="orchagent's result, from sonic-db-dump -n ASIC_DB -d -y > FILE"
        ),
    ] = None,
    daemons: Annotated[
        Path | None,
        typer.Option(
            "--daemons",
            metavar="ROOT",
            help="A root file system with SONiC's daemons, such as an unpacked docker-sonic-vs. They run on this host, "
            "isolated from it, and do not change the file system.",
        ),
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="DIR", help="With --daemons: keep each ASIC_DB as NAME.asic.json.")
    ] = None,
    output: Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")] = "text",
) -> None:
    """Compare the objects that SONiC's orchagent makes of a file with those that fabriclab reads in it.

    Compared are pools, profiles, the bindings of groups and queues, WRED, schedulers, and ports with maps and PFC.
    orchagent's result comes from a switch (--asic-db), or from its daemons, which run here (--daemons).

    Exit status: 0 all is equal, 1 something differs or SONiC's daemons refused a file, 2 a file cannot be read.

    [bold]Examples[/bold]

      fabriclab sonic oracle config_db.json --asic-db asic.json
      fabriclab sonic oracle --daemons docker-sonic-vs/ configurations/*.json
    """
    with waiting("loading"):
        from fabriclab.cli.host import failure
        from fabriclab.vendors.sonic.commands import comparing
    with failure.reported():
        raise typer.Exit(comparing.compare(files, comparing.Source(asic_db, daemons, save), output))
