"""`--cell` and `--chip`: how a switch's chip counts memory, where its hwsku does not say it."""

from __future__ import annotations

from typing import Annotated

import typer

Cell = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="A cell of the switch's memory, of which the file says nothing.",
        show_default="the chip's, else 1 B",
    ),
]
ChipName = Annotated[
    str | None,
    typer.Option(
        "--chip",
        metavar="NAME",
        help="How its chip counts memory, such as tomahawk-2; none: as SAI says it, in one piece.",
        show_default="by hwsku",
    ),
]
