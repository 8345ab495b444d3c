"""The options of the commands that look into a live lab. What they do lies beside this."""

from __future__ import annotations

from typing import Annotated

import typer

from fabriclab.cli.commands.live.options import PANEL, NameOption
from fabriclab.live.completing import complete_live_place

app = typer.Typer()


@app.command(rich_help_panel=PANEL)
def inspect(
    place: Annotated[
        str,
        typer.Argument(
            metavar="[NAME:]NODE[:PORT]",
            help="A port, a switch or a host, such as s1:eth1.",
            show_default=False,
            autocompletion=complete_live_place,
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


@app.command("break", rich_help_panel=PANEL)
def break_at(
    condition: Annotated[
        str | None, typer.Argument(metavar="CONDITION", help="What stops time.", show_default=False)
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the break points.")] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Take back break point N (`--clear 2`), or all.")] = False,
    lab: NameOption = None,
) -> None:
    """Stop a lab's time at the very instant at which a condition comes true; `resume` goes on.

    NODE:PORT queue [N] > SIZE, [NODE[:PORT]] drop, mark or pause, [NODE] timeout, flow N ends. One that is true stops
    time once; it has to be false before it does again.

    [bold]Examples[/bold]

      fabriclab break 's1:eth49 queue > 100 KB'

      fabriclab break 's1 drop'
    """
    from fabriclab.cli.commands.live import breaking
    from fabriclab.cli.host import failure

    with failure.reported():
        if clear:
            breaking.clear(lab, condition)
        elif list_them:
            breaking.show(lab)
        else:
            breaking.add(lab, condition)
