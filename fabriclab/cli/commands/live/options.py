"""The options of the commands of live labs. What they do lies beside this, imported when it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.arguments.options import Engine, Lab, Seed, Trust
from fabriclab.cli.host.waiting import waiting
from fabriclab.live.completing import complete_live_lab, complete_live_node

app = typer.Typer()

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="The lab, if several are up.",
        show_default=False,
        autocompletion=complete_live_lab,
    ),
]
NameOption = Annotated[
    str | None,
    typer.Option(
        "--lab",
        metavar="NAME",
        help="The lab, if several are up.",
        show_default=False,
        autocompletion=complete_live_lab,
    ),
]
Node = Annotated[
    str,
    typer.Argument(
        metavar="[NAME:]NODE",
        help="A node of a lab that is up.",
        show_default=False,
        autocompletion=complete_live_node,
    ),
]
_RAW = {"allow_interspersed_args": False, "ignore_unknown_options": True}
"""The words after the node belong to the command."""


@app.command()
def up(
    lab: Lab,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "-s", "--set", metavar="KEY=VALUE", help="Set a parameter, `variant`, or any key.", show_default=False
        ),
    ] = None,
    seed: Seed = None,
    speed: Annotated[
        str | None,
        typer.Option(help="Virtual seconds per wall second: 1, 1/100, 0.5, or max.", show_default="1"),
    ] = None,
    idle: Annotated[bool, typer.Option("--idle", help="Do not start the lab's own traffic.")] = False,
    loop: Annotated[bool, typer.Option("--loop", help="Start traffic again when it has ended.")] = False,
    name: Annotated[
        str | None, typer.Option(help="The name by which other commands find it.", show_default="the lab's name")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run directory to create.", show_default="runs/LAB/TIME-up")
    ] = None,
    probes: Annotated[
        bool, typer.Option("--probes/--no-probes", help="Sample queues and connections, as `run` does.")
    ] = False,
    engine: Engine = "vm",
    trust: Trust = False,
    breaks: Annotated[
        list[str] | None,
        typer.Option("--break", metavar="CONDITION", help="Stop time when this is true, as `break` does. Repeatable."),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the live page in a browser.")] = False,
    with_ssh: Annotated[bool, typer.Option("--ssh", help="Serve SSH to its nodes, as `fabriclab ssh` does.")] = False,
    story: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Play a story of the lab in the live page.", show_default=False),
    ] = None,
) -> None:
    """Start a lab that stays up; its virtual time follows the wall clock.

    [bold]Examples[/bold]

      fabriclab up dumbbell --idle

      fabriclab up labs/leaf-spine --speed 1/100

      fabriclab up incast --break 's1:eth49 queue > 60 KB'
    """
    with waiting("loading"):
        from fabriclab.cli.commands.live import up as bringing
        from fabriclab.cli.host import failure
    with failure.reported():
        arguments = (settings or [], seed, speed, idle, name, out, probes, engine, open_page, breaks or [])
        raise typer.Exit(bringing.up(lab, *arguments, trust=trust, story=story, loop=loop, with_ssh=with_ssh))


@app.command()
def ui(
    name: Name = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on loopback.", show_default="any free port")] = 0,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = False,
    proxied: Annotated[
        Path | None,
        typer.Option(
            "--socket",
            metavar="PATH",
            help="Listen on this Unix socket instead, for a proxy that authenticates users, such as JupyterHub.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the token into this file, for a scraper of /metrics.", show_default=False
        ),
    ] = None,
) -> None:
    """Serve the live page of the running labs on loopback until Ctrl-C, and print its address.

    The page shows links, queues and pauses, plots chosen ports and flows over time, opens terminals in nodes, and
    changes settings.
    """
    with waiting("loading"):
        from fabriclab.cli.commands.live import ui as page
        from fabriclab.cli.host import failure
    with failure.reported():
        page.ui(name, port, browser, proxied, token_file)


@app.command()
def ps(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the labs that are up, with their virtual time, their speed, and how well they keep it."""
    from fabriclab.cli.commands.live import time
    from fabriclab.cli.host import failure

    with failure.reported():
        time.ps(as_json)


@app.command()
def down(
    name: Name = None, every: Annotated[bool, typer.Option("--all", help="Shut down all labs that are up.")] = False
) -> None:
    """Shut a lab down: stop its traffic and compute its results, as at the end of a run."""
    from fabriclab.cli.commands.live import time
    from fabriclab.cli.host import failure

    with failure.reported():
        raise typer.Exit(time.down(name, every))


@app.command()
def pause(name: Name = None) -> None:
    """Pause a lab's time. Commands in its nodes still run, as long as they do not sleep."""
    from fabriclab.cli.commands.live import time
    from fabriclab.cli.host import failure

    with failure.reported():
        time.pace(name, {"do": "pause"})


@app.command()
def resume(name: Name = None) -> None:
    """Resume a lab's time."""
    from fabriclab.cli.commands.live import time
    from fabriclab.cli.host import failure

    with failure.reported():
        time.pace(name, {"do": "resume"})


@app.command()
def step(
    duration: Annotated[str, typer.Argument(metavar="DURATION", help="Virtual time, such as '10 us'.")],
    name: Name = None,
) -> None:
    """Advance a lab's time by a given duration, then pause it.

    [bold]Example[/bold]

      fabriclab step '10 us'
    """
    from fabriclab.cli.commands.live import time
    from fabriclab.cli.host import failure

    with failure.reported():
        time.step(name, duration)


@app.command()
def speed(
    speed: Annotated[str, typer.Argument(metavar="SPEED", help="Virtual seconds per wall second: 1, 1/100, max.")],
    name: Name = None,
) -> None:
    """Change the speed of a lab's time."""
    from fabriclab.cli.commands.live import time
    from fabriclab.cli.host import failure

    with failure.reported():
        time.pace(name, {"do": "speed", "speed": speed})


@app.command()
def start(
    traffic: Annotated[str, typer.Argument(metavar="TRAFFIC", help="An entry of `traffic`.", show_default=False)],
    lab: NameOption = None,
    loop: Annotated[bool, typer.Option("--loop", help="Start it again when it has ended, until `stop`.")] = False,
) -> None:
    """Start an entry of the lab's `traffic` section now."""
    from fabriclab.cli.commands.live import start as starting
    from fabriclab.cli.host import failure

    with failure.reported():
        starting.start(lab, traffic, loop)


@app.command()
def stop(
    traffic: Annotated[str, typer.Argument(metavar="TRAFFIC", help="Its name, or `flow`.", show_default=False)],
    lab: NameOption = None,
) -> None:
    """Stop traffic that `start` started; `stop flow` stops all flows that `flow` sent."""
    from fabriclab.cli.commands.live import start as starting
    from fabriclab.cli.host import failure

    with failure.reported():
        starting.stop(lab, traffic)


@app.command()
def flow(
    src: Annotated[str, typer.Argument(metavar="SRC", help="The host that sends.", show_default=False)],
    dst: Annotated[str, typer.Argument(metavar="DST", help="The host that receives.", show_default=False)],
    size: Annotated[str, typer.Option(help="Size of the flow, such as '10 MB'.", show_default=False)],
    cc: Annotated[str | None, typer.Option(help="Congestion control.", show_default="the host's")] = None,
    lab: NameOption = None,
) -> None:
    """Send one flow from one host to another.

    [bold]Example[/bold]

      fabriclab flow h1 h2 --size '10 MB' --cc dctcp
    """
    from fabriclab.cli.commands.live import start as starting
    from fabriclab.cli.host import failure

    with failure.reported():
        starting.flow(lab, src, dst, size, cc)


@app.command("exec", context_settings=_RAW)
def execute(
    node: Node,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- CMD...", help="The command to run.", show_default=False)
    ] = None,
) -> None:
    """Run a command in a node, and pass on input, output, Ctrl-C and exit status.

    [bold]Example[/bold]

      fabriclab exec h1 -- ping -c3 h2
    """
    from fabriclab.cli.host import failure
    from fabriclab.live import node as inside

    with failure.reported():
        inside.needs_command(command or [])
        raise typer.Exit(inside.exec_in_node(node, command or []))


@app.command()
def shell(
    node: Node,
    command: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Run this command on the terminal instead.", show_default=False)
    ] = None,
) -> None:
    """Open a shell in a node."""
    from fabriclab.cli.host import failure
    from fabriclab.live import node as inside

    with failure.reported():
        raise typer.Exit(inside.shell_in_node(node, command))


@app.command()
def vtysh(
    node: Node,
    command: Annotated[
        list[str] | None,
        typer.Option("-c", metavar="TEXT", help="Execute this FRR command instead. Repeatable.", show_default=False),
    ] = None,
) -> None:
    """Open FRR's shell in a switch, or execute FRR commands there.

    [bold]Example[/bold]

      fabriclab vtysh leaf1 -c 'show bgp summary'
    """
    from fabriclab.cli.host import failure
    from fabriclab.live import node as inside

    with failure.reported():
        raise typer.Exit(inside.vtysh_in_node(node, command or []))


@app.command()
def cp(
    source: Annotated[str, typer.Argument(metavar="FROM", help="FILE, or [NAME:]NODE:PATH.", show_default=False)],
    target: Annotated[str, typer.Argument(metavar="TO", help="[NAME:]NODE:PATH, or FILE.", show_default=False)],
) -> None:
    """Copy a file into or out of a node.

    [bold]Examples[/bold]

      fabriclab cp server.py h1:/tmp

      fabriclab cp h1:/tmp/out.csv .
    """
    from fabriclab.cli.host import failure
    from fabriclab.live import copying

    with failure.reported():
        copying.copy(source, target)


@app.command()
def capture(
    port: Annotated[
        str,
        typer.Argument(metavar="[NAME:]NODE:PORT", help="A port, such as s1:eth1, or NODE:any.", show_default=False),
    ],
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILTER", help="A packet filter, as tcpdump has it.", show_default=False),
    ] = None,
    write: Annotated[
        str | None,
        typer.Option("-w", metavar="FILE", help="The pcapng file to write; - is standard output.", show_default="text"),
    ] = None,
) -> None:
    """Capture a port's packets, with virtual time stamps to the nanosecond.

    [bold]Examples[/bold]

      fabriclab capture s1:eth1 tcp port 80

      fabriclab capture s1:eth1 -w - | wireshark -k -i -
    """
    from fabriclab.cli.host import failure
    from fabriclab.live import capture as capturing

    with failure.reported():
        raise typer.Exit(capturing.capture(port, what or [], write))


@app.command()
def forward(
    written: Annotated[
        str, typer.Argument(metavar="[ADDRESS:]PORT:NODE:PORT", help="From this port to that one.", show_default=False)
    ],
    lab: NameOption = None,
) -> None:
    """Forward a TCP port of this computer's loopback to a service in a node, until Ctrl-C.

    [bold]Example[/bold]

      fabriclab forward 8080:h1:80
    """
    from fabriclab.cli.host import failure
    from fabriclab.live import forwarding

    with failure.reported():
        forwarding.forward(lab, written)
