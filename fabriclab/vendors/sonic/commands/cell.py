"""Options of several commands: `--cell` and `--chip`, how a switch's chip counts memory, where its hwsku does not say
it; `--cables`, the links between switches, where their files do not say them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Cell = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Size of a cell of the switch's memory, which the file does not give.",
        show_default="the chip's, else 1 B",
    ),
]
ChipName = Annotated[
    str | None,
    typer.Option(
        "--chip",
        metavar="NAME",
        help=(
            "The chip that determines how memory is counted, such as tomahawk-2; none: as SAI describes it, in one "
            "piece."
        ),
        show_default="by hwsku",
    ),
]
Cables = Annotated[
    list[Path] | None,
    typer.Option(
        "--cables",
        metavar="FILE",
        help=(
            "The links between switches: a plan (CSV: device_a,port_a,device_b,port_b), NetBox's cables (CSV or JSON), "
            "or what `show lldp table` printed on a switch. Repeatable."
        ),
        show_default=False,
    ),
]
