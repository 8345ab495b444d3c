"""`fabriclab schema`: the command with its options. What it does lies in `schema.py`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


SchemaName = StrEnum(
    "SchemaName", [("EXPERIMENT", "experiment"), ("STORY", "story"), ("SWITCH_PROFILE", "switch-profile")]
)
"""The files that have a schema; a test compares them with `fabriclab.language.document.SCHEMAS`, which is not loaded
for `--help`."""
_EXPERIMENT = SchemaName("experiment")


@app.command()
def schema(
    file: Annotated[
        SchemaName,
        typer.Argument(metavar="[FILE]", help="The file that the schema describes: experiment, story, switch-profile."),
    ] = (_EXPERIMENT),
    path: Annotated[
        bool,
        typer.Option("--path", help="Print the path of the schema, for an editor's settings, instead of the schema."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The file to write.", show_default="standard output"),
    ] = None,
) -> None:
    """Print the JSON schema of experiment.yml, or of a story, with which editors complete, explain and check it.

    docs/language/editors.md describes the set-up of editors. A topology file has Containerlab's own schema.

    [bold]Examples[/bold]

      fabriclab schema --path

      fabriclab schema --out experiment.schema.json

      fabriclab schema story --path

      fabriclab schema switch-profile
    """
    from fabriclab.cli.commands import schema as printing
    from fabriclab.cli.host import failure

    with failure.reported():
        printing.schema(file.value, path, out)
