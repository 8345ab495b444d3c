"""`fabriclab calibrate`: the command with its options. What it does lies in `calibrate.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fabriclab.cli.host.limits import refuse_limits
from fabriclab.cli.host.waiting import waiting

app = typer.Typer()


@app.command()
def calibrate(
    words: Annotated[
        list[Path],
        typer.Argument(
            metavar="[new] DIR",
            help="The directory with calibration.yml and measured.txt; after `new`, one to create.",
            show_default=False,
        ),
    ],
) -> None:
    """Measure two servers and a switch, and the model of them, and fit the model to the hardware.

    `new` writes the protocol, a script for the two servers, and a description to fill in. docs/calibrate.md explains
    the ten numbers. Results: calibrated.json, and calibrated.yml with sections for a lab's experiment.yml.

    [bold]Examples[/bold]

      fabriclab calibrate new rack7

      fabriclab calibrate rack7
    """
    refuse_limits()
    with waiting("loading"):
        from fabriclab.cli.commands import calibrate as calibrating
        from fabriclab.cli.host import failure
    with failure.reported():
        raise typer.Exit(calibrating.calibrate(words))
