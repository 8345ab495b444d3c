"""The options of `fabriclab compare`. What it does lies beside this, imported when it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.arguments.options import ComparisonFormat
from fabriclab.cli.host.waiting import waiting

app = typer.Typer()


@app.command()
def compare(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="A run or sweep directory.", show_default=False)],
    others: Annotated[
        list[Path],
        typer.Argument(metavar="OTHER...", help="Runs or sweeps, each compared with BASE.", show_default=False),
    ],
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="METRIC",
            help="What is compared (docs/metrics.md); `all` for everything. Repeatable.",
            show_default="the headlines",
        ),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-on",
            metavar="CONDITION",
            help="Exit with 1 where it holds: worse:METRIC:2%, changed:METRIC:2%, different-bits. Repeatable.",
            show_default=False,
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence of intervals and verdicts.", metavar="<float>")] = 0.95,
    every: Annotated[bool, typer.Option("--all", help="Show what is undecided, the same or not measured too.")] = False,
    form: Annotated[ComparisonFormat, typer.Option("--format", "-f", help="What is written.")] = "text",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file to write.", show_default="the output; compare.html for a page"),
    ] = None,
) -> None:
    """Compare runs or sweeps: what was changed, and what became better or worse for it.

    Points with the same settings are compared, runs of the same seed in pairs. A verdict needs three seeds, and all
    verdicts hold together with the confidence asked for.

    Exit status: 0, or 1 where a condition of --fail-on holds or could not be judged anywhere; 2 bad input.

    [bold]Examples[/bold]

      fabriclab compare runs/incast/demo runs/incast/larger-buffer

      fabriclab compare runs/before runs/after --fail-on worse:goodput_bps:2% --fail-on worse:fct_p99_ns:5%

      fabriclab compare runs/before runs/after --format html -o difference.html
    """
    with waiting("loading"):
        from fabriclab.cli.commands import compare as comparing
        from fabriclab.cli.host import failure
    with failure.reported():
        raise typer.Exit(
            comparing.compare(base, others, metrics or [], fail_on or [], level, every=every, form=form, out=out)
        )
