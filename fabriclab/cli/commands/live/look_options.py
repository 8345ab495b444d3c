"""The options of the commands that look into a live lab, tell its story or replay it. What they do lies beside this."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.commands.live.options import Name, NameOption
from fabriclab.cli.host.waiting import waiting
from fabriclab.live.completing import complete_live_place

app = typer.Typer()


@app.command()
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
            metavar="N", min=0, help="Show only this flow of the lab, with its connection in full.", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    lab: NameOption = None,
) -> None:
    """Show the packets in a port's queues, a switch's ports and memory, or a host's connections.

    This does not change what happens in the lab, whether time is paused or running.

    [bold]Examples[/bold]

      fabriclab inspect s1:eth49

      fabriclab inspect h3 --flow 7
    """
    from fabriclab.cli.commands.live import inspect as inspecting
    from fabriclab.cli.host import failure

    with failure.reported():
        inspecting.inspect(place, lab, flow, as_json)


@app.command("break")
def break_at(
    condition: Annotated[
        str | None, typer.Argument(metavar="CONDITION", help="The condition that stops time.", show_default=False)
    ] = None,
    list_them: Annotated[bool, typer.Option("--list", help="List the break points.")] = False,
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove break point N (`--clear 2`), or all break points.")
    ] = False,
    lab: NameOption = None,
) -> None:
    """Stop a lab's time at the instant at which a condition becomes true; `resume` continues.

    Conditions: NODE:PORT queue [N] > SIZE, [NODE[:PORT]] drop, mark or pause, [NODE] timeout, flow N ends. A condition
    stops time when it becomes true; it must be false again before it can stop time again.

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


@app.command()
def story(
    name: Annotated[
        str | None, typer.Argument(metavar="STORY", help="The story, if the lab has several.", show_default=False)
    ] = None,
    lab: NameOption = None,
) -> None:
    """Play a story of a lab on the terminal: each Enter does the next step.

    `fabriclab up LAB --story NAME` plays it in the live page.

    [bold]Example[/bold]

      fabriclab story collapse
    """
    from fabriclab.cli.commands.live import story as telling
    from fabriclab.cli.host import failure

    with failure.reported():
        telling.story(name, lab)


@app.command()
def replay(
    session: Annotated[
        Path, typer.Argument(metavar="RUN", help="The run directory of a lab that was up.", show_default=False)
    ],
    speed: Annotated[str, typer.Option(help="Virtual seconds per wall second: 1, 1/100, 0.5, or max.")] = "max",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run directory to create.", show_default="runs/LAB/TIME-replay")
    ] = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Let the recording's algorithms in C run, this time, even if no trusted lab has them.",
        ),
    ] = False,
) -> None:
    """Replay a live lab's recording, and compare its flows and outputs with the original.

    Exit status: 0 they are the same, 1 they differ or the replay failed.
    """
    with waiting("loading"):
        from fabriclab.cli.commands.live import replay as replaying
        from fabriclab.cli.host import failure
    with failure.reported():
        raise typer.Exit(replaying.replay(session, speed, out, trust))


@app.command()
def gnmi(
    name: Name = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on loopback.", show_default="any free port")] = 0,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the token into this file.", show_default=False)
    ] = None,
) -> None:
    """Serve gNMI for a lab's nodes on loopback until Ctrl-C: OpenConfig's interfaces and queues.

    It prints the address and a token, which a client gives as the password of any user.

    [bold]Example[/bold]

      fabriclab gnmi --port 9339 --token-file runs/token
    """
    with waiting("loading"):
        from fabriclab.cli.commands.live import gnmi as serving
        from fabriclab.cli.host import failure
    with failure.reported():
        serving.gnmi(name, port, token_file)


@app.command()
def ssh(
    name: Name = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on loopback.", show_default="any free port")] = 0,
    directory: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where keys, ssh_config and inventory are while it runs.", show_default="runs/NAME.ssh"
        ),
    ] = None,
) -> None:
    """Serve SSH to a lab's nodes on loopback until Ctrl-C, for Ansible and others: a user for each node.

    It makes keys for this lab alone, and prints the commands that use them. NODE+vtysh is FRR's shell.

    [bold]Examples[/bold]

      fabriclab ssh

      ssh -F runs/link-failure.ssh/config leaf1+vtysh 'show bgp summary'

      ansible -i runs/link-failure.ssh/inventory.json routers -m raw -a 'ip route'
    """
    with waiting("loading"):
        from fabriclab.cli.commands.live import ssh as serving
        from fabriclab.cli.host import failure
    with failure.reported():
        serving.ssh(name, port, directory)
