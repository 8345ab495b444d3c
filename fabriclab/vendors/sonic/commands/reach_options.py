"""`fabriclab sonic reach` and its options. What it does lies in `reaching.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fabriclab.cli.host.waiting import waiting
from fabriclab.vendors.sonic.commands.cell import Cables


def reach(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="config_db.json of all switches, or directories with them.", show_default=False
        ),
    ],
    wanted: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="YAML: who reaches what, through which switches, over how many paths.",
            show_default="switches with hosts reach all networks of hosts",
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--from", metavar="SWITCH", help="Show the ways from this switch.", show_default=False)
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="ADDRESS", help="Show the ways to this address or prefix.", show_default=False),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SWITCH|SWITCH:PORT",
            help="Ask as if this switch, or the link at this port, were down. Repeatable.",
            show_default="none",
        ),
    ] = None,
    cables: Cables = None,
    output: Annotated[Literal["text", "json"], typer.Option("--format", help="Output format.")] = "text",
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write JUnit XML to this file.", show_default=False)
    ] = None,
    accept_not_judged: Annotated[
        bool,
        typer.Option(
            "--accept-not-judged", help="Exit with 0 although something that acts on routes is not part of the answer."
        ),
    ] = False,
) -> None:
    """Ask a fabric's configurations which switches reach which networks, over which paths. Nothing is run.

    Sessions, BGP's decisions, policies and static routes are followed for all networks at once. Packet filters are not.

    Exit status: 0 all is as wanted, 1 something is not or cannot be judged, 2 a file cannot be read.

    [bold]Examples[/bold]

      fabriclab sonic reach configs/

      fabriclab sonic reach configs/ --wanted wanted.yml --junit reach.xml

      fabriclab sonic reach configs/ --from leaf1 --to 10.0.2.7 --without spine1
    """
    with waiting("loading"):
        from fabriclab.cli.host import failure
        from fabriclab.vendors.sonic.commands import reaching
    with failure.reported():
        question = reaching.Question(wanted, source, to, tuple(without or ()), tuple(cables or ()))
        outputs = reaching.Outputs(output, junit, accept_not_judged)
        raise typer.Exit(reaching.reach(files, question, outputs))
