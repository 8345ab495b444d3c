"""`fabriclab sonic oracle` and its options. What it does lies in `comparing.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fabriclab.cli.host.waiting import waiting


def oracle(
    file: Annotated[Path, typer.Argument(metavar="config_db.json", help="A switch's configuration.")],
    asic_db: Annotated[
        Path,
        typer.Option(
            "--asic-db", metavar="FILE", help="What orchagent made of it: sonic-db-dump -n ASIC_DB -d -y > FILE"
        ),
    ],
    output: Annotated[Literal["text", "json"], typer.Option("--format", help="What goes to the output.")] = "text",
) -> None:
    """Compare what SONiC's orchagent made of a file, on a switch or in docker-sonic-vs, with what fabriclab reads.

    Pools, profiles, what groups and queues are bound to, WRED, schedulers, ports with their maps and PFC.

    Exit status: 0 all is equal, 1 something differs, 2 a file cannot be read.

    [bold]Example[/bold]

      fabriclab sonic oracle config_db.json --asic-db asic.json
    """
    with waiting("loading"):
        from fabriclab.cli.host import failure
        from fabriclab.vendors.sonic.commands import comparing
    with failure.reported():
        raise typer.Exit(comparing.compare(file, asic_db, output))
