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
            help="A directory with NAME.conf, NAME/frr.conf or NAME/zebra.conf, NAME/bgpd.conf, ... for each router, "
            "or these files.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="The lab directory to create.", show_default="NAME"),
    ] = None,
    name: Annotated[str | None, typer.Option(help="The lab's name.", show_default="the directory's name")] = None,
    links: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Links that addresses and descriptions do not show: lines such as 'leaf1:swp1 spine1:swp3' or "
            "'leaf1:swp5 vrf RED', or the output of LLDP, leaf1.lldp.json (`lldpctl -f json`). Repeatable.",
            show_default="DIR/links.txt, DIR/NAME.lldp.json",
        ),
    ] = None,
    rate: Annotated[str, typer.Option(help="Rate of interfaces without `bandwidth`.")] = "10 Gbps",
    delay: Annotated[str, typer.Option(help="Propagation delay of every link, one way.")] = "5 us",
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Import a network of FRR routers as a lab in which each runs its own frr.conf, and list what was found.

    A router's file is its frr.conf, or the output of `vtysh -c 'show running-config'`. Two routers in one network have
    a link, and so have unnumbered interfaces whose descriptions say so. A network with only one router gets a host.

    [bold]Examples[/bold]

      fabriclab import frr configs -o labs/mine

      fabriclab import frr configs -o labs/mine --links cables.txt --rate '25 Gbps'
    """
    with waiting("loading"):
        from fabriclab.cli.host import failure
        from fabriclab.vendors.frr.commands import files
    with failure.reported():
        files.import_lab(paths, name, out, links or [], rate, delay, force)
