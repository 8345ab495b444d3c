"""`fabriclab sonic check` and its options. What it does lies in `judging.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fabriclab.cli.host.waiting import waiting
from fabriclab.vendors.sonic.commands.cell import Cables, Cell, ChipName

Rules = Annotated[
    list[str] | None, typer.Option(metavar="RULE,...", help="Check only these rules. Repeatable.", show_default="all")
]


def check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...",
            help="config_db.json of switches, or directories with them. Links between them are judged, too.",
            show_default=False,
        ),
    ] = None,
    fail_on: Annotated[
        Literal["error", "warning"], typer.Option(help="The lowest severity that gives exit status 1.")
    ] = "error",
    output: Annotated[
        Literal["text", "json", "junit", "sarif"], typer.Option("--format", help="Output format.")
    ] = "text",
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write JUnit XML to this file.", show_default=False)
    ] = None,
    sarif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write SARIF 2.1.0 to this file.", show_default=False)
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Known findings: they are counted, but not listed, and do not fail.",
            show_default=False,
        ),
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the current findings as known findings.", show_default=False),
    ] = None,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="Compare two files, OLD and NEW: show the changes and the new findings."),
    ] = False,
    rules: Rules = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE,...", help="Skip these rules. Repeatable.", show_default="none"),
    ] = None,
    cables: Cables = None,
    cell: Cell = None,
    chip: ChipName = None,
    yang_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="SONiC's YANG models: validate with them first (needs yanglint).", show_default=False
        ),
    ] = None,
    list_rules: Annotated[bool, typer.Option("--list-rules", help="List the rules, and exit.")] = False,
    list_tables: Annotated[
        bool, typer.Option("--list-tables", help="List the tables of CONFIG_DB and what each does here, and exit.")
    ] = False,
) -> None:
    """Find mistakes in a config_db.json that YANG models cannot see, such as marks that never come or starving queues.

    Exit status: 0 no finding (as severe as --fail-on), 1 a finding, 2 a file cannot be read.

    [bold]Examples[/bold]

      fabriclab sonic check config_db.json

      fabriclab sonic check configs/*/config_db.json --fail-on warning --junit sonic.xml

      fabriclab sonic check techsupport/*.tar.gz --cables plan.csv

      fabriclab sonic check --diff running.json config_db.json

      fabriclab sonic check config_db.json --ignore wred-above-xoff,headroom-for-full-frames
    """
    with waiting("loading"):
        from fabriclab.cli.host import failure
        from fabriclab.vendors.sonic.commands import judging
    with failure.reported():
        if list_tables:
            judging.list_tables()
            return
        if list_rules:
            judging.list_rules()
            return
        asked = tuple(rules or ()), tuple(ignore or ())
        kept = sarif, baseline, write_baseline, diff
        options = judging.Options(fail_on, output, junit, *kept, *asked, tuple(cables or ()), cell, chip, yang_dir)
        raise typer.Exit(judging.check(files or [], options))
