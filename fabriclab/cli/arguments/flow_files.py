"""The arguments of `fabriclab convert`: their words and choices are those of the list of importers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fabriclab.flow_importers import NAMES, file_words

if TYPE_CHECKING:
    ImporterName = str
else:
    ImporterName = Literal[NAMES]  # typer takes the choices from the type

FlowFile = Annotated[Path, typer.Argument(metavar="FILE", help=file_words())]
FlowHosts = Annotated[
    str | None,
    typer.Option(metavar="h1..h16", help="The hosts that stand for nodes 0, 1 and so on.", show_default="h1, h2, ..."),
]
FlowTransport = Annotated[Literal["tcp", "mptcp", "roce"], typer.Option(help="What carries the flows.")]
FlowFormat = Annotated[ImporterName, typer.Option("--from", help="The file's format.", show_default=False)]
