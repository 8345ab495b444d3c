"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fabriclab.cli.arguments.completion import complete_lab, complete_matrix, complete_setting, complete_stage
from fabriclab.formats.stages import STAGES

EngineName = Literal["vm", "containerlab"]
ComparisonFormat = Literal["text", "json", "junit", "html"]
Software = Literal["frr"]
"""What can stand for the software of switches that does not run here."""

Lab = Annotated[
    Path,
    typer.Argument(
        metavar="LAB",
        help="A lab: its directory, or its name in `labs`.",
        show_default=False,
        autocompletion=complete_lab,
    ),
]
As = Annotated[
    Software | None,
    typer.Option(
        "--as",
        help="LAB is a Containerlab file, whatever its kinds: FRR runs in the place of its switches, and what the file "
        "does not say is made up, and said.",
        show_default=False,
    ),
]
Vars = Annotated[
    list[Path] | None,
    typer.Option(
        "--vars",
        metavar="FILE",
        help="The variables of a Containerlab file that is a Go template. Repeatable.",
        show_default="NAME_vars.yml beside it",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=2**31 - 1,
        help="Seed of everything random. The same seed gives the same run, bit by bit.",
        show_default="the experiment's, 1 if it has none",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a parameter, `variant`, or any key of the experiment. Repeatable.",
        show_default=False,
        autocompletion=complete_setting,
    ),
]
Engine = Annotated[
    EngineName,
    typer.Option(
        help="vm: a virtual machine in virtual time, exact and repeatable. containerlab: "
        "Docker containers in real time; needs root.",
    ),
]
On = Annotated[
    str,
    typer.Option(
        metavar="WHERE",
        help="Where the points run: local, or a cluster (docs/cluster.md): dask://HOST:8786, tls://HOST:8786, a "
        "scheduler's FILE.json, ssh://HOST1,HOST2, slurm, kubernetes.",
    ),
]
Keep = Annotated[
    Literal["all", "results"],
    typer.Option(
        help="What stays of each run: all, or the results alone, without what the engine was given and what programs "
        "said."
    ),
]
Stall = Annotated[
    float,
    typer.Option(
        min=1, metavar="SECONDS", help="Wall time without a sign of life after which a machine counts as hung."
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="What the lab brings that runs outside of its nodes may run: an algorithm in C, containers. The folder is "
        "trusted from then on (docs/trust.md).",
    ),
]
Compile = Annotated[
    bool,
    typer.Option("--compile", help="Compile algorithms in C although the lab is not trusted yet; none of them runs."),
]
Cores = Annotated[
    str | None,
    typer.Option(
        metavar="N|auto",
        help="Cut the lab into so many parts, a machine and a core for each, in step. The bits are the same for every "
        "N (docs/cores.md). `auto`: as many as this host has and the lab gains by, not cut where it gains by none.",
        show_default="one machine, not cut",
    ),
]
Matrix = Annotated[
    str | None,
    typer.Option(help="Which matrix of the experiment.", show_default="the first", autocompletion=complete_matrix),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Run every point with seeds 1 to N, or with a range such as 1..1000.",
        show_default="the matrix's",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        metavar="STAGE",
        help=f"Only this stage ({', '.join(STAGES)}). Repeatable.",
        show_default="all",
        autocompletion=complete_stage,
    ),
]
Summary = Annotated[
    bool,
    typer.Option("--summary", help="Say instead what each traffic comes to: flows, bytes, sizes, load asked and got."),
]
