"""`fabriclab labs`: which labs there are, and what each asks."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

from rich.table import Table

from fabriclab.api.lab_names import LABS
from fabriclab.api.listing import labs as list_labs
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.failure import BadInputError
from fabriclab.cli.host.waiting import waiting
from fabriclab.lab.lab_list import ListedLab
from fabriclab.shipped import shipped

_NOTE = "CPU min: the minutes that the first matrix took on one CPU; - means that it was not measured"


def labs(as_json: bool) -> None:
    """Print the labs below `labs` here and in the project's directory. Raises BadInputError where there are none."""
    with waiting("reading the labs"):
        listed = list_labs()
    if as_json:
        sys.stdout.write(json.dumps([_record(lab) for lab in listed], indent=2, ensure_ascii=False) + "\n")
        return
    if not listed:
        raise BadInputError(
            f"no labs in {LABS} here, nor in {shipped(LABS)}; `fabriclab generate star -o {LABS}/mine` makes one"
        )
    _show(listed)


def _record(lab: ListedLab) -> dict[str, object]:
    return {
        "name": lab.directory.name,
        "directory": os.fspath(lab.directory),
        "question": lab.question,
        "study": lab.study,
        "cpu_minutes": lab.minutes,
        "problem": lab.problem,
    }


def _show(listed: Sequence[ListedLab]) -> None:
    table = Table(box=None, pad_edge=False, caption=_NOTE, caption_justify="left")
    table.add_column("lab", no_wrap=True)
    table.add_column("question", overflow="fold")
    table.add_column("CPU min", justify="right", no_wrap=True)
    table.add_column("study", no_wrap=True)
    for lab in listed:
        minutes = "-" if lab.minutes is None else f"{lab.minutes:g}"
        table.add_row(lab.directory.name, lab.problem or lab.question or "-", minutes, lab.study or "-")
    Console().print(table, highlight=False, markup=False)
    sys.stdout.write("\n`fabriclab run NAME` runs one point of a lab, `fabriclab sweep NAME` its first matrix\n")
