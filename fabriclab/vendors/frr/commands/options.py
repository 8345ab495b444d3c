"""`fabriclab import frr`: the command with its options. What it does lies in `files.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.host.waiting import waiting


def import_(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="A directory with NAME.conf or NAME/frr.conf of each router, or these files.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="The lab's directory.", show_default="NAME")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The lab's name.", show_default="the directory's")] = None,
    links: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Who is joined to whom where addresses and descriptions do not say it: a line such as "
            "'leaf1:swp1 spine1:swp3', or 'leaf1:swp5 vrf RED'; or what LLDP saw, leaf1.lldp.json "
            "(`lldpctl -f json`). Repeatable.",
            show_default="DIR/links.txt, DIR/NAME.lldp.json",
        ),
    ] = None,
    rate: Annotated[str, typer.Option(help="Of interfaces without `bandwidth`.")] = "10 Gbps",
    delay: Annotated[str, typer.Option(help="Of every link, one way.")] = "5 us",
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there already.")] = False,
) -> None:
    """Make a lab of a network's routers: each runs its own frr.conf; say what was found, what not, and why.

    A router's file is its frr.conf, or what `vtysh -c 'show running-config'` prints. Links are found by networks of two
    routers, and by descriptions of unnumbered interfaces; a host stands in each network that leads out.

    [bold]Examples[/bold]

      fabriclab import frr configs -o labs/mine

      fabriclab import frr configs -o labs/mine --links cables.txt --rate '25 Gbps'
    """
    with waiting("loading"):
        from fabriclab.cli.host import failure
        from fabriclab.vendors.frr.commands import files
    with failure.reported():
        files.import_lab(paths, name, out, links or [], rate, delay, force)
