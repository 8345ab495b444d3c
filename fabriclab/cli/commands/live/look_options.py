"""The options of the commands that look into a live lab. What they do lies beside this."""

from __future__ import annotations

from typing import Annotated

import typer

from fabriclab.cli.commands.live.options import PANEL, NameOption

app = typer.Typer()


@app.command(rich_help_panel=PANEL)
def inspect(
    place: Annotated[
        str,
        typer.Argument(
            metavar="[NAME:]NODE[:PORT]", help="A port, a switch or a host, such as s1:eth1.", show_default=False
        ),
    ],
    flow: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=0, help="Only of this flow of the lab; a connection in full.", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    lab: NameOption = None,
) -> None:
    """Show the packets that stand in a port's queues, a switch's ports and memory, a host's connections.

    A look changes nothing, whether time stands still or goes on.

    [bold]Examples[/bold]

      fabriclab inspect s1:eth49

      fabriclab inspect h3 --flow 7
    """
    from fabriclab.cli.commands.live import inspect as inspecting
    from fabriclab.cli.host import failure

    with failure.reported():
        inspecting.inspect(place, lab, flow, as_json)
