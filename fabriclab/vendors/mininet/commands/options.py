"""`fabriclab import mininet`: the command with its options. What it does lies in `importing.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.host.waiting import waiting


def import_(
    script: Annotated[Path, typer.Argument(metavar="FILE", help="A script of Mininet's.", show_default=False)],
    topo: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The topology that is meant: a key of `topos`, or a class.",
            show_default="the only one",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="The Containerlab file to write.", show_default="NAME.clab.yml"
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="The lab's name.", show_default="the script's name")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Let the script run: Python, with your rights, outside of any node.")
    ] = False,
) -> None:
    """Import the network of a Mininet script as a Containerlab file, and list what was left out.

    The script runs once, with stand-ins of Mininet's modules that only note nodes, links and what sets them up.

    [bold]Examples[/bold]

      fabriclab import mininet dumbbell.py --trust

      fabriclab import mininet custom.py --topo mytopo -o mine.clab.yml --trust && fabriclab validate mine.clab.yml
    """
    with waiting("loading"):
        from fabriclab.cli.host import failure
        from fabriclab.vendors.mininet.commands import importing
    with failure.reported():
        importing.import_lab(script, topo, name, out, force=force, trust=trust)
