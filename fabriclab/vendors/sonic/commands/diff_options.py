"""`fabriclab sonic diff` and its options. What it does lies in `fabric_diff.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fabriclab.cli.host.waiting import waiting
from fabriclab.vendors.sonic.commands.cell import Cables


def diff(
    old: Annotated[
        Path, typer.Argument(metavar="OLD", help="The switches as they are: a directory with their files, or a file.")
    ],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The switches as they are to be.")],
    rollout: Annotated[
        bool,
        typer.Option(
            "--rollout",
            help="Also look for an order in which switches change one by one; each state is judged.",
        ),
    ] = False,
    order: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SWITCH,...",
            help="The order in which switches change; each state in between is judged. Repeatable.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", help="Also emulate both: an in-cast, and the failure of a link; four runs.")
    ] = False,
    experiment: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Emulate both with this experiment.yml instead (implies --run).", show_default=False
        ),
    ] = None,
    seeds: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=100,
            help="Emulate each version with N seeds; from 3 on changes have intervals, and a change whose interval has "
            "0 in it is undecided.",
        ),
    ] = 1,
    page: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write all of it as one page: HTML with a picture if the name ends with .html, else Markdown.",
            show_default=False,
        ),
    ] = None,
    cables: Cables = None,
    fail_on: Annotated[
        Literal["error", "warning", "lost-route", "change", "never"],
        typer.Option(
            help="What gives exit status 1: a new finding of this severity; lost-route: also a route that is gone; "
            "change: any difference."
        ),
    ] = "error",
    output: Annotated[Literal["text", "json", "sarif"], typer.Option("--format", help="Output format.")] = "text",
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write JUnit XML to this file.", show_default=False)
    ] = None,
    sarif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write SARIF 2.1.0 to this file.", show_default=False)
    ] = None,
) -> None:
    """Show what a change of a fabric changes: thresholds, sessions, findings of each switch, and the routes of all.

    Switches are the same if their hostnames are. SARIF and JUnit XML have only new findings.

    Exit status: 0 nothing (as --fail-on says), 1 something, 2 a file cannot be read.

    [bold]Examples[/bold]

      fabriclab sonic diff running/ planned/

      fabriclab sonic diff running/ planned/ --fail-on warning --junit change.xml --sarif change.sarif

      fabriclab sonic diff running/ planned/ --rollout --run --page change.md

      fabriclab sonic diff running/ planned/ --run --seeds 5 --page change.html
    """
    with waiting("loading"):
        from fabriclab.cli.host import failure
        from fabriclab.vendors.sonic.commands import fabric_diff
    with failure.reported():
        words = tuple(word.strip() for words in order or () for word in words.split(",") if word.strip())
        asked = fabric_diff.Asked(tuple(cables or ()), rollout, words, run, experiment, seeds)
        raise typer.Exit(fabric_diff.diff(old, new, asked, fabric_diff.Outputs(fail_on, output, junit, sarif, page)))
