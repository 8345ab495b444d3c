"""`fabriclab frr`: the commands with their options. What they do lies in `frr.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.host.waiting import waiting

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Build versions of FRR for the virtual machine, beside its own: add, list, remove.",
)


@app.command()
def add(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="FRR's source: an archive (.tar.gz, .tar.xz, .tar.bz2), or its directory.",
            show_default=False,
        ),
    ],
    trust: Annotated[
        bool, typer.Option("--trust", help="Let the source's build scripts run, confined, without a question.")
    ] = False,
) -> None:
    """Build a version of FRR of its source, once, for all labs whose nodes ask for it.

    The first time, Debian's compiler and the libraries that FRR needs are fetched. The build scripts run on this host
    without network, and find nothing of the host but the source. A node runs the version that its image's tag names
    (frr:10.5.1), that its configuration names (frr version 10.5.1), or that the lab chooses: `switches.NAME.frr`.

    [bold]Examples[/bold]

      fabriclab frr add frr-10.5.1.tar.gz

      fabriclab frr add ~/src/frr --trust
    """
    with waiting("loading"):
        from fabriclab.cli.commands import frr
        from fabriclab.cli.host import failure
    with failure.reported():
        frr.add(source, trust)


@app.command("list")
def list_() -> None:
    """List the versions of FRR that nodes can run, the virtual machine's own first."""
    with waiting("loading"):
        from fabriclab.cli.commands import frr
        from fabriclab.cli.host import failure
    with failure.reported():
        frr.list_()


@app.command()
def remove(
    version: Annotated[str, typer.Argument(metavar="VERSION", help="As `fabriclab frr list` has it.")],
) -> None:
    """Remove a version of FRR that was built here."""
    with waiting("loading"):
        from fabriclab.cli.commands import frr
        from fabriclab.cli.host import failure
    with failure.reported():
        frr.remove(version)
