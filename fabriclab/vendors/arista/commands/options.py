"""`fabriclab arista`: the command with its options. What it does lies in `files.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.host.waiting import waiting

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Import the QoS part of an Arista EOS configuration as a switch profile.",
)


@app.callback()
def root() -> None:
    """Keep `import` a command of its own, whatever others there are."""


@app.command("import")
def import_(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A file with the output of `show running-config`.", show_default=False),
    ],
    chip: Annotated[
        str,
        typer.Option(
            metavar="PROFILE", help="The profile with the switch's memory, which EOS's configuration does not give."
        ),
    ] = "trident-3",
    name: Annotated[str | None, typer.Option(help="The profile's name.", show_default="its hostname")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="The directory to write NAME.yml to.", show_default="here"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Import qos maps, QoS profiles, tx-queues, ECN and PFC as a switch profile, and count the other commands.

    [bold]Example[/bold]

      fabriclab arista import leaf1.cfg --chip jericho-2 -o labs/mine
    """
    with waiting("loading"):
        from fabriclab.cli.host import failure
        from fabriclab.vendors.arista.commands import files as arista_files
    with failure.reported():
        arista_files.import_profile(file, chip, name, out, force)
