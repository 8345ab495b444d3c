"""The options of the commands that change a live lab. What they do lies beside this."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.commands.live.options import NameOption, Node
from fabriclab.cli.host.waiting import waiting
from fabriclab.live.completing import complete_live_key, complete_live_port

app = typer.Typer()


@app.command("set")
def set_keys(
    settings: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=VALUE...",
            help="A parameter, `variant`, or any key.",
            show_default=False,
            autocompletion=complete_live_key,
        ),
    ],
    lab: NameOption = None,
) -> None:
    """Change buffers, thresholds, schedulers, PFC, links, hosts' TCP or routing timers while a lab runs.

    The keys are those of experiment.yml. Queued packets stay queued. Either all changes are made, or none.

    [bold]Examples[/bold]

      fabriclab set switches.s1.ecn_threshold='30 KB'

      fabriclab set links.rate='100 Mbps' hosts.default.congestion_control=dctcp
    """
    from fabriclab.cli.commands.live import changes
    from fabriclab.cli.host import failure

    with failure.reported():
        changes.set_keys(lab, settings)


@app.command()
def link(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="down, up, blackhole, or set.", show_default=False)],
    port: Annotated[
        str,
        typer.Argument(
            metavar="[NAME:]NODE:PORT",
            help="One of the link's ports.",
            show_default=False,
            autocompletion=complete_live_port,
        ),
    ],
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="rate, delay, loss.", show_default=False)
    ] = None,
) -> None:
    """Take a link down or up, blackhole it, or change its rate, delay or loss, as an event of a lab does.

    [bold]Examples[/bold]

      fabriclab link down leaf1:eth5

      fabriclab link set leaf1:eth5 rate='100 Mbps' loss='0.1 %'
    """
    from fabriclab.cli.commands.live import changes
    from fabriclab.cli.host import failure

    with failure.reported():
        changes.link(action, port, settings or [])


@app.command()
def node(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="down, or up.", show_default=False)],
    name: Node,
) -> None:
    """Switch a node off or on, as an event of a lab does.

    [bold]Example[/bold]

      fabriclab node down spine1
    """
    from fabriclab.cli.commands.live import changes
    from fabriclab.cli.host import failure

    with failure.reported():
        changes.node(action, name)


@app.command("save-lab")
def save_lab(
    session: Annotated[
        Path, typer.Argument(metavar="RUN", help="The run directory of a lab that is or was up.", show_default=False)
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="The lab directory to create.", show_default=False)
    ],
) -> None:
    """Save a live session as a lab: changes become events, manual flows become a trace.

    [bold]Example[/bold]

      fabriclab save-lab runs/incast/20261122T101500Z-up -o labs/mine
    """
    with waiting("loading"):
        from fabriclab.cli.commands.live import changes
        from fabriclab.cli.host import failure
    with failure.reported():
        changes.save(session, out)
