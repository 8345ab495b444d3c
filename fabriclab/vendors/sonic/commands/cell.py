"""`--cell`: the unit in which a switch's memory is given out, which no config_db.json names."""

from __future__ import annotations

from typing import Annotated

import typer

Cell = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="A cell of the switch's memory, of which the file says nothing.", show_default="1 B"
    ),
]
