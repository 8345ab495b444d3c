"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from fabriclab.cli.arguments.completion import complete_lab, complete_matrix, complete_setting, complete_stage
from fabriclab.formats.stages import STAGES

EngineName = Literal["vm", "containerlab"]
ComparisonFormat = Literal["text", "json", "junit", "html", "markdown"]
Software = Literal["frr"]
"""What can stand for the software of switches that does not run here."""

Lab = Annotated[
    Path,
    typer.Argument(
        metavar="LAB",
        help="A lab: its directory, its name in `labs`, or a Containerlab file.",
        show_default=False,
        autocompletion=complete_lab,
    ),
]
As = Annotated[
    Software | None,
    typer.Option(
        "--as",
        help=(
            "Read LAB as a Containerlab file with any kinds of node, and run FRR in place of its switches. Values "
            "that the file does not give are chosen and listed."
        ),
        show_default=False,
    ),
]
Vars = Annotated[
    list[Path] | None,
    typer.Option(
        "--vars",
        metavar="FILE",
        help="Variables for a Containerlab file that is a Go template. Repeatable.",
        show_default="NAME_vars.yml beside it",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=2**31 - 1,
        help="Seed of all random numbers. The same seed gives the same run, bit by bit.",
        show_default="the experiment's seed, else 1",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a parameter, `variant`, or any key of the experiment. Repeatable.",
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
        help="Where the points run: local, or on a cluster (docs/cluster.md): dask://HOST:8786, tls://HOST:8786, a "
        "scheduler's FILE.json, ssh://HOST1,HOST2, slurm, kubernetes.",
    ),
]
Keep = Annotated[
    Literal["all", "results"],
    typer.Option(
        help="What to keep of each run: all, or only the results, without the engine's input and the programs' output."
    ),
]
Stall = Annotated[
    float,
    typer.Option(
        min=1, metavar="SECONDS", help="Wall time without progress after which a virtual machine counts as hung."
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="Let the lab's algorithms in C and containers run, although they run outside of its nodes. The directory "
        "is trusted from then on (docs/trust.md).",
    ),
]
Compile = Annotated[
    bool,
    typer.Option("--compile", help="Compile algorithms in C even if the lab is not trusted yet. They do not run."),
]
CheckFormat = Annotated[
    Literal["text", "json"], typer.Option("--format", help="Output format. json is for editors and pipelines.")
]
Cores = Annotated[
    str,
    typer.Option(
        metavar="N|auto",
        help=(
            "Divide the lab among N virtual machines, one per core, that run in step. The bits are the same for "
            "every N (docs/cores.md). `auto` uses as many cores as make the lab faster, at most those of this host."
        ),
    ),
]
Matrix = Annotated[
    str | None,
    typer.Option(help="The matrix of the experiment to run.", show_default="the first", autocompletion=complete_matrix),
]
Seeds = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Run every point with seeds 1 to N, or with a range of seeds such as 1..1000.",
        show_default="the seeds of the matrix",
    ),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        metavar="STAGE",
        help=f"Run only this stage ({', '.join(STAGES)}). Repeatable.",
        show_default="all",
        autocompletion=complete_stage,
    ),
]
Summary = Annotated[
    bool,
    typer.Option(
        "--summary",
        help="Print a summary of each piece of traffic instead: flows, bytes, sizes, requested and achieved load.",
    ),
]
OutFile = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="The file to write.", show_default="standard output"),
]
