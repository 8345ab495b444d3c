"""The commands with their options. What they do lies in modules of their own, imported when it is needed:
`--help` must be quick."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Annotated, cast

import typer
from typer.models import CommandInfo

from fabriclab.cli import vendor_groups
from fabriclab.cli.arguments.completion import complete_node
from fabriclab.cli.arguments.mistakes import Command, Group
from fabriclab.cli.arguments.options import (
    As,
    CheckFormat,
    Compile,
    Cores,
    Engine,
    Lab,
    Only,
    OutFile,
    Seed,
    Set,
    Stall,
    Summary,
    Trust,
    Vars,
)
from fabriclab.cli.arguments.panels import panel_of
from fabriclab.cli.commands import bench_options, frr_options, generate_options, sweep_options
from fabriclab.cli.commands.new_options import Origin, Template, WithResults
from fabriclab.cli.host.limits import refuse_limits
from fabriclab.cli.host.waiting import waiting
from fabriclab.cli.more_commands import MORE

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)

_GROUPS = {"generate": generate_options.app, "bench": bench_options.app, "frr": frr_options.app} | vendor_groups.GROUPS
for _name, _group in _GROUPS.items():
    app.add_typer(_group, name=_name, rich_help_panel=panel_of(_name))


def _print_version(wanted: bool) -> None:
    if wanted:
        from fabriclab.engine.host import fabriclab_version

        print(f"fabriclab {fabriclab_version()}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """A testbed for congestion in data-centre networks: real Linux TCP, emulated switch buffers, virtual time.

    Exit status: 0 success, 1 a run or a check failed, 2 bad input, 130 interrupted.
    """


@app.command()
def run(
    lab: Lab,
    seed: Seed = None,
    settings: Set = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run directory to create.", show_default="runs/LAB/TIME")
    ] = None,
    software: As = None,
    variables: Vars = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the run directory if it exists.")] = False,
    engine: Engine = "vm",
    stall: Stall = 120.0,
    cores: Cores = "auto",
    trust: Trust = False,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write report.html. `fabriclab report` can write it later.")
    ] = True,
) -> None:
    """Run one point of a lab.

    [bold]Examples[/bold]

      fabriclab run labs/incast

      fabriclab run labs/incast --set senders=16 --set buffer='256 KB' --set variant=dctcp --seed 7
    """
    refuse_limits()
    from fabriclab.engine.artefacts import asked_ahead

    with asked_ahead():
        with waiting("loading"):
            from fabriclab.cli.commands import run as running
            from fabriclab.cli.host import failure
        with failure.reported():
            arguments = (seed, settings or [], out, force, engine, stall, report, software, variables or [], cores)
            raise typer.Exit(running.run(lab, *arguments, trust=trust))


app.registered_commands += sweep_options.app.registered_commands


@app.command()
def plan(
    lab: Lab,
    node: Annotated[
        str | None,
        typer.Option(help="Show the files of this node instead.", show_default=False, autocompletion=complete_node),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Show the whole plan as JSON, with every default.")] = False,
    seed: Seed = None,
    settings: Set = None,
    engine: Engine = "vm",
    software: As = None,
    variables: Vars = None,
) -> None:
    """Show the groups, traffic and settings that a lab resolves to, without running it.

    [bold]Examples[/bold]

      fabriclab plan labs/incast --set senders=4

      fabriclab plan labs/incast --node s1
    """
    with waiting("loading"):
        from fabriclab.cli.commands import plan as showing
        from fabriclab.cli.host import failure
    with failure.reported():
        showing.plan(lab, node, seed, settings or [], engine, as_json, software, variables or [])


@app.command()
def trace(
    lab: Lab,
    seed: Seed = None,
    settings: Set = None,
    out: OutFile = None,
    summary: Summary = False,
) -> None:
    """Write a lab's flow trace: the sender, receiver, size and start of each flow.

    [bold]Examples[/bold]

      fabriclab trace labs/incast --set senders=4 -o incast.csv

      fabriclab trace labs/incast --summary
    """
    with waiting("loading"):
        from fabriclab.cli.commands import trace as tracing
        from fabriclab.cli.host import failure
    with failure.reported():
        tracing.trace(lab, seed, settings or [], out, summary)


@app.command()
def graph(
    lab: Lab,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE.svg",
            help="The SVG file to write; - is standard output.",
            show_default="NAME.svg",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    variables: Vars = None,
) -> None:
    """Draw a lab's topology as SVG. The lab needs no experiment.yml yet.

    [bold]Example[/bold]

      fabriclab graph labs/leaf-spine --out leaf-spine.svg
    """
    with waiting("loading"):
        from fabriclab.cli.commands import graph as drawing
        from fabriclab.cli.host import failure
    with failure.reported():
        drawing.graph(lab, out, force, variables or [])


@app.command()
def labs(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON: name, directory, question, study, cpu_minutes.")
    ] = False,
) -> None:
    """List the labs: the question of each, its CPU time, and the published study it reproduces.

    [bold]Example[/bold]

      fabriclab labs
    """
    with waiting("loading"):
        from fabriclab.cli.commands import labs as listing
        from fabriclab.cli.host import failure
    with failure.reported():
        listing.labs(as_json)


@app.command()
def new(
    directory: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="The directory to create.", show_default=False)
    ] = None,
    origin: Origin = None,
    with_results: WithResults = False,
    template: Template = None,
    software: As = None,
    variables: Vars = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the possible starting points, and exit.")] = False,
) -> None:
    """Create your own lab: a small one, a copy of another, or your own algorithm with a lab for it.

    [bold]Examples[/bold]

      fabriclab new mylab

      fabriclab new mylab --from incast

      fabriclab new mylab --from any.clab.yml --as frr

      fabriclab new mycc --template congestion-control

      fabriclab new --list
    """
    with waiting("loading"):
        from fabriclab.cli.commands import new as making
        from fabriclab.cli.host import failure
    with failure.reported():
        if show_list:
            making.show_list()
        else:
            making.new(directory, origin, template, software, variables or [], with_results=with_results)


@app.command()
def check(
    lab: Lab,
    software: As = None,
    variables: Vars = None,
    compile_own: Compile = False,
    form: CheckFormat = "text",
) -> None:
    """Check a lab or a Containerlab file, and list every mistake with file, line and correction.

    Algorithms in C are compiled if the lab is trusted (docs/trust.md), or with --compile. They do not run.

    Exit status: 0, 1 if the files of two switches contradict each other, or 2 if `run` or `validate` would refuse the
    lab.

    [bold]Example[/bold]

      fabriclab check labs/incast

      fabriclab check any.clab.yml [--as frr]

      fabriclab check labs/mine --format json
    """
    with waiting("loading"):
        from fabriclab.cli.commands import plan as showing
        from fabriclab.cli.host import failure
    with failure.reported():
        checking = showing.check_as_json if form == "json" else showing.check
        raise typer.Exit(checking(lab, software, variables or [], compile_own))


@app.command()
def validate(
    lab: Lab,
    junit: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the findings as JUnit XML, for a CI pipeline.", show_default="none"),
    ] = None,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the findings as JSON, for programs.", show_default="none"),
    ] = None,
    only: Only = None,
    seed: Seed = None,
    settings: Set = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Directory of its runs, one for each stage.", show_default="runs/LAB/validate-TIME"
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace runs that exist already.")] = False,
    engine: Engine = "vm",
    stall: Stall = 120.0,
    accept: Annotated[
        bool,
        typer.Option("--accept-not-judged", help="Exit with 0 although some checks depend on what is not emulated."),
    ] = False,
    trust: Trust = False,
) -> None:
    """Test a running lab as an operator would: sessions, routes, reachability, MTU, queues, marks, losses, failures.

    The expected state is the lab's own configuration, and the section `validation` where the lab has one
    (docs/language).

    Exit status: 0 nothing failed, 1 something failed or could not be judged, 2 bad input.

    [bold]Examples[/bold]

      fabriclab validate labs/link-failure

      fabriclab validate labs/mine --junit validation.xml --only reach --only classes
    """
    refuse_limits()
    with waiting("loading"):
        from fabriclab.cli.commands import validate as validating
        from fabriclab.cli.host import failure
    with failure.reported():
        files = validating.VerdictFiles(junit, json_file)
        arguments = (seed, settings or [], out, force, engine, stall, files, only or [])
        raise typer.Exit(validating.validate(lab, *arguments, trust=trust, accepts_unjudged=accept))


@app.command()
def report(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Run or sweep directories. Several are compared.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The HTML file to write.", show_default="report.html in the first directory"),
    ] = None,
    pictures: Annotated[
        Path | None,
        typer.Option(help="A directory to which every picture is also written, as SVG.", show_default="none"),
    ] = None,
) -> None:
    """Write a report of one run, several runs or a sweep, as one self-contained HTML page.

    [bold]Examples[/bold]

      fabriclab report runs/incast/demo

      fabriclab report runs/a runs/b --out comparison.html
    """
    refuse_limits()
    with waiting("loading"):
        from fabriclab.cli.commands import report as reporting
        from fabriclab.cli.host import failure
    with failure.reported():
        reporting.report(runs, out, pictures)


for _more in MORE:
    app.registered_commands += _more.app.registered_commands
for _command in app.registered_commands:
    _command.rich_help_panel = panel_of(_command.name or str(getattr(_command.callback, "__name__", "")))
for _typer in (app, *_GROUPS.values()):
    for _command in _typer.registered_commands:
        _command.cls = Command


def part(words: Sequence[str]) -> typer.Typer:
    """Return the app with that command alone which is named first, for to make all of them takes a while; the whole app
    where none is."""
    named = [each for each in app.registered_commands if words and _name_of(each) == words[0]]
    if not named:
        return app
    found = copy(app)
    vars(found).update(registered_commands=named, registered_groups=[])
    Group.every = staticmethod(lambda: cast(Group, typer.main.get_command(app)).commands)
    return found


def _name_of(command: CommandInfo) -> str:
    return command.name or typer.main.get_command_name(command.callback.__name__ if command.callback else "")
