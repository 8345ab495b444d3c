"""The options of `fabriclab new` that say what a lab begins with. What it does lies in `new.py`."""

from __future__ import annotations

from typing import Annotated

import typer

from fabriclab.cli.arguments.completion import complete_origin

Origin = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="LAB",
        help="The starting point: a lab, by name or directory, or star, dumbbell, fat-tree.",
        show_default=False,
        autocompletion=complete_origin,
    ),
]
Template = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="Create your own algorithm in one C file instead: congestion-control, qdisc or roce-congestion-control.",
        show_default=False,
    ),
]
WithResults = Annotated[
    bool,
    typer.Option("--with-results", help="Copy the lab's text, pictures, published results, checks and study, too."),
]
