"""The options of the commands of live labs. What they do lies beside this, imported when it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.arguments.options import Engine, Lab, Seed, Trust
from fabriclab.cli.host.waiting import waiting
from fabriclab.live.completing import complete_live_lab, complete_live_node

PANEL = "Live labs"
app = typer.Typer()

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="Which lab; needed where several are up.",
        show_default=False,
        autocompletion=complete_live_lab,
    ),
]
NameOption = Annotated[
    str | None,
    typer.Option(
        "--lab",
        metavar="NAME",
        help="Which lab; needed where several are up.",
        show_default=False,
        autocompletion=complete_live_lab,
    ),
]
Node = Annotated[
    str,
    typer.Argument(
        metavar="[NAME:]NODE",
        help="A node of the lab (NAME) that is up.",
        show_default=False,
        autocompletion=complete_live_node,
    ),
]
_RAW = {"allow_interspersed_args": False, "ignore_unknown_options": True}
"""What follows the node is the command's own."""


@app.command(rich_help_panel=PANEL)
def up(
    lab: Lab,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "-s", "--set", metavar="KEY=VALUE", help="Change a parameter, `variant`, or any key.", show_default=False
        ),
    ] = None,
    seed: Seed = None,
    speed: Annotated[str, typer.Option(help="Virtual seconds a second: 1, 1/100, 0.5, or max.")] = "1",
    idle: Annotated[bool, typer.Option("--idle", help="Leave the lab's own traffic out; `start` begins it.")] = False,
    name: Annotated[
        str | None, typer.Option(help="What other commands call it.", show_default="the lab's name")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run directory to make.", show_default="runs/LAB/TIME-up")
    ] = None,
    probes: Annotated[
        bool, typer.Option("--probes/--no-probes", help="Sample queues and connections as `run` does, for as long.")
    ] = False,
    engine: Engine = "vm",
    trust: Trust = False,
    breaks: Annotated[
        list[str] | None,
        typer.Option("--break", metavar="CONDITION", help="Stop time there, as `break` does. Repeatable."),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the live page in a browser.")] = False,
) -> None:
    """Bring a lab up, and let it stay: virtual time goes at the wall clock's pace.

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
        raise typer.Exit(bringing.up(lab, *arguments, trust=trust))


@app.command(rich_help_panel=PANEL)
def ui(
    name: Name = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of loopback.", show_default="any that is free")] = 0,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Start a browser.")] = False,
    proxied: Annotated[
        Path | None,
        typer.Option(
            "--socket",
            metavar="PATH",
            help="Listen on this Unix socket instead, for a proxy that knows who comes, such as JupyterHub.",
        ),
    ] = None,
) -> None:
    """Serve the live page of the labs that are up, on loopback, until Ctrl-C; prints its address.

    It draws links, queues and pauses, strips of chosen ports and flows, has terminals, and changes what a lab can.
    """
    with waiting("loading"):
        from fabriclab.cli.commands.live import ui as page
        from fabriclab.cli.host import failure
    with failure.reported():
        page.ui(name, port, browser, proxied)


@app.command(rich_help_panel=PANEL)
def ps(as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> None:
    """List the labs that are up: virtual time, speed, how well it is kept."""
    from fabriclab.cli.commands.live import time
    from fabriclab.cli.host import failure

    with failure.reported():
        time.ps(as_json)


@app.command(rich_help_panel=PANEL)
def down(
    name: Name = None, every: Annotated[bool, typer.Option("--all", help="All labs that are up.")] = False
) -> None:
    """Take a lab down: its traffic ends, its results are made, as at the end of a run."""
    from fabriclab.cli.commands.live import time
    from fabriclab.cli.host import failure

    with failure.reported():
        raise typer.Exit(time.down(name, every))


@app.command(rich_help_panel=PANEL)
def pause(name: Name = None) -> None:
    """Stop a lab's time. Commands in its nodes run all the same, as long as they do not sleep."""
    from fabriclab.cli.commands.live import time
    from fabriclab.cli.host import failure

    with failure.reported():
        time.pace(name, {"do": "pause"})


@app.command(rich_help_panel=PANEL)
def resume(name: Name = None) -> None:
    """Let a lab's time go on."""
    from fabriclab.cli.commands.live import time
    from fabriclab.cli.host import failure

    with failure.reported():
        time.pace(name, {"do": "resume"})


@app.command(rich_help_panel=PANEL)
def step(
    duration: Annotated[str, typer.Argument(metavar="DURATION", help="Virtual time, such as '10 us'.")],
    name: Name = None,
) -> None:
    """Let so much virtual time pass, then stop.

    [bold]Example[/bold]

      fabriclab step '10 us'
    """
    from fabriclab.cli.commands.live import time
    from fabriclab.cli.host import failure

    with failure.reported():
        time.step(name, duration)


@app.command(rich_help_panel=PANEL)
def speed(
    speed: Annotated[str, typer.Argument(metavar="SPEED", help="Virtual seconds a second: 1, 1/100, 0.5, or max.")],
    name: Name = None,
) -> None:
    """Change how fast a lab's time goes."""
    from fabriclab.cli.commands.live import time
    from fabriclab.cli.host import failure

    with failure.reported():
        time.pace(name, {"do": "speed", "speed": speed})


@app.command(rich_help_panel=PANEL)
def start(
    traffic: Annotated[str, typer.Argument(metavar="TRAFFIC", help="A traffic of the lab.", show_default=False)],
    lab: NameOption = None,
) -> None:
    """Start a traffic of a lab, as it is written there, from now on."""
    from fabriclab.cli.commands.live import start as starting
    from fabriclab.cli.host import failure

    with failure.reported():
        starting.start(lab, traffic)


@app.command(rich_help_panel=PANEL)
def stop(
    traffic: Annotated[str, typer.Argument(metavar="TRAFFIC", help="What `start` began.", show_default=False)],
    lab: NameOption = None,
) -> None:
    """Stop a traffic that was started by hand (`flow` stops all flows by hand)."""
    from fabriclab.cli.commands.live import start as starting
    from fabriclab.cli.host import failure

    with failure.reported():
        starting.stop(lab, traffic)


@app.command(rich_help_panel=PANEL)
def flow(
    src: Annotated[str, typer.Argument(metavar="SRC", help="The host that sends.", show_default=False)],
    dst: Annotated[str, typer.Argument(metavar="DST", help="The host that receives.", show_default=False)],
    size: Annotated[str, typer.Option(help="How much, such as '10 MB'.", show_default=False)],
    cc: Annotated[str | None, typer.Option(help="Congestion control.", show_default="the host's")] = None,
    lab: NameOption = None,
) -> None:
    """Send one flow from a host to another.

    [bold]Example[/bold]

      fabriclab flow h1 h2 --size '10 MB' --cc dctcp
    """
    from fabriclab.cli.commands.live import start as starting
    from fabriclab.cli.host import failure

    with failure.reported():
        starting.flow(lab, src, dst, size, cc)


@app.command("exec", context_settings=_RAW, rich_help_panel=PANEL)
def execute(
    node: Node,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- CMD...", help="The command.", show_default=False)
    ] = None,
) -> None:
    """Run a command in a node; input, output, Ctrl-C and exit status are its own.

    [bold]Example[/bold]

      fabriclab exec h1 -- ping -c3 h2
    """
    from fabriclab.cli.host import failure
    from fabriclab.live import node as inside

    with failure.reported():
        inside.needs_command(command or [])
        raise typer.Exit(inside.exec_in_node(node, command or []))


@app.command(rich_help_panel=PANEL)
def shell(
    node: Node,
    command: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Run this on the terminal instead.", show_default=False)
    ] = None,
) -> None:
    """Open a shell in a node."""
    from fabriclab.cli.host import failure
    from fabriclab.live import node as inside

    with failure.reported():
        raise typer.Exit(inside.shell_in_node(node, command))


@app.command(rich_help_panel=PANEL)
def vtysh(
    node: Node,
    command: Annotated[
        list[str] | None,
        typer.Option("-c", metavar="TEXT", help="Execute this instead. Repeatable.", show_default=False),
    ] = None,
) -> None:
    """Open FRR's shell in a switch, or let it execute commands.

    [bold]Example[/bold]

      fabriclab vtysh leaf1 -c 'show bgp summary'
    """
    from fabriclab.cli.host import failure
    from fabriclab.live import node as inside

    with failure.reported():
        raise typer.Exit(inside.vtysh_in_node(node, command or []))


@app.command(rich_help_panel=PANEL)
def cp(
    source: Annotated[str, typer.Argument(metavar="FROM", help="FILE, or [NAME:]NODE:PATH.", show_default=False)],
    target: Annotated[str, typer.Argument(metavar="TO", help="[NAME:]NODE:PATH, or FILE.", show_default=False)],
) -> None:
    """Copy a file into a node, or out of one.

    [bold]Examples[/bold]

      fabriclab cp server.py h1:/tmp

      fabriclab cp h1:/tmp/out.csv .
    """
    from fabriclab.cli.host import failure
    from fabriclab.live import copying

    with failure.reported():
        copying.copy(source, target)


@app.command(rich_help_panel=PANEL)
def capture(
    port: Annotated[
        str,
        typer.Argument(metavar="[NAME:]NODE:PORT", help="A port, such as s1:eth1, or NODE:any.", show_default=False),
    ],
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILTER", help="Which packets, in tcpdump's words.", show_default=False),
    ] = None,
    write: Annotated[
        str | None, typer.Option("-w", metavar="FILE", help="Write pcapng there; - is the output.", show_default="text")
    ] = None,
) -> None:
    """Capture packets, with virtual times to the nanosecond.

    [bold]Examples[/bold]

      fabriclab capture s1:eth1 tcp port 80

      fabriclab capture s1:eth1 -w - | wireshark -k -i -
    """
    from fabriclab.cli.host import failure
    from fabriclab.live import capture as capturing

    with failure.reported():
        raise typer.Exit(capturing.capture(port, what or [], write))


@app.command(rich_help_panel=PANEL)
def forward(
    written: Annotated[
        str, typer.Argument(metavar="[ADDRESS:]PORT:NODE:PORT", help="From here to there.", show_default=False)
    ],
    lab: NameOption = None,
) -> None:
    """Forward a TCP port of this computer, on loopback, to a service in a node, until Ctrl-C.

    [bold]Example[/bold]

      fabriclab forward 8080:h1:80
    """
    from fabriclab.cli.host import failure
    from fabriclab.live import forwarding

    with failure.reported():
        forwarding.forward(lab, written)


@app.command(rich_help_panel=PANEL)
def replay(
    session: Annotated[
        Path, typer.Argument(metavar="RUN", help="The run directory of a lab that was up.", show_default=False)
    ],
    speed: Annotated[str, typer.Option(help="Virtual seconds a second: 1, 1/100, 0.5, or max.")] = "max",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run directory to make.", show_default="runs/LAB/TIME-replay")
    ] = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Algorithms in C that the recording brings may run, this time, though no trusted lab has them.",
        ),
    ] = False,
) -> None:
    """Run a live lab's recording again, and say whether flows and outputs are the same.

    Exit status: 0 they are, 1 they are not, or it failed.
    """
    with waiting("loading"):
        from fabriclab.cli.commands.live import replay as replaying
        from fabriclab.cli.host import failure
    with failure.reported():
        raise typer.Exit(replaying.replay(session, speed, out, trust))
