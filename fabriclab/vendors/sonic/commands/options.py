"""`fabriclab sonic`: the commands with their options. What they do lies in `files.py` and `import_fabric.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fabriclab.cli.arguments.completion import complete_node
from fabriclab.cli.arguments.options import Lab, Set
from fabriclab.cli.host.waiting import waiting
from fabriclab.vendors.sonic.commands.cell import Cables, Cell, ChipName

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode="rich", help="Import, check and export SONiC's config_db.json."
)

Missing = Literal["hosts", "left-out", "error"]
Force = Annotated[bool, typer.Option("--force", help="Replace existing files.")]


@app.command("import")
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="config_db.json...",
            help="The configuration of a switch, or of all switches of a fabric; a directory stands for those in it.",
            show_default=False,
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            help="The switch's name in the lab; with several files the lab's name.",
            show_default="its hostname; the name of DIR",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="The lab directory to create.", show_default="NAME, or fabric"),
    ] = None,
    cables: Cables = None,
    cell: Cell = None,
    chip: ChipName = None,
    missing: Annotated[
        Missing | None,
        typer.Option(
            help="With several files: the replacement for a switch that no file describes. hosts: an FRR switch (with "
            "a host), as for one file; left-out: nothing, with a note; error: its file must be given. Servers are "
            "always hosts.",
            show_default="hosts",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Import a switch's configuration as a lab with its profile, ports and neighbours, and list what was left out.

    Several files become a fabric: each switch is of kind sonic-vs and bound to its file. Links are found by
    DEVICE_NEIGHBOR, cables and LLDP, addresses and BGP_NEIGHBOR. A contradiction is an error that names both files.

    [bold]Examples[/bold]

      fabriclab sonic import config_db.json --name leaf1 -o labs/mine

      fabriclab sonic import configs/*/config_db.json -o labs/fabric

      fabriclab sonic import techsupport/*.tar.gz --cables plan.csv -o labs/fabric
    """
    with waiting("loading"):
        from fabriclab.cli.host import failure
        from fabriclab.vendors.sonic.commands import files as sonic_files
        from fabriclab.vendors.sonic.commands import import_fabric as sonic_fabric
        from fabriclab.vendors.sonic.commands.import_fabric import given
    with failure.reported():
        files = given(files)
        if len(files) > 1 and chip is not None:
            raise failure.BadInputError(
                "--chip: it needs a single file; with several files, the hwsku in each file gives the chip"
            )
        if len(files) > 1:
            sonic_fabric.import_lab(files, name, out, cell, missing or "hosts", cables or [], force)
        elif cables:
            raise failure.BadInputError("--cables: it needs several files; a single file has no link to another")
        elif missing is not None:
            raise failure.BadInputError(
                "--missing: it needs several files; with a single file all neighbours are added"
            )
        else:
            sonic_files.import_lab(files[0], name, out, cell, chip, force)


@app.command()
def export(
    lab: Lab,
    node: Annotated[
        list[str] | None,
        typer.Option(
            help="Export only this switch. Repeatable.", show_default="all switches", autocompletion=complete_node
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Write DIR/NODE/config_db.json.", show_default="sonic/LAB"),
    ] = None,
    settings: Set = None,
    yang_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="SONiC's YANG models: validate each file with them (needs yanglint).",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Export a complete config_db.json for every switch of a lab, and list what CONFIG_DB cannot express.

    [bold]Examples[/bold]

      fabriclab sonic export labs/leaf-spine -o configs

      fabriclab sonic export labs/leaf-spine --node leaf1 --yang-dir sonic-yang-models
    """
    with waiting("loading"):
        from fabriclab.cli.host import failure
        from fabriclab.vendors.sonic.commands import files as sonic_files
    with failure.reported():
        raise typer.Exit(sonic_files.export(lab, node or [], out, settings or [], yang_dir, force))
