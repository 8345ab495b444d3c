"""`fabriclab doctor`: what this host can do, and the one line that mends what is missing."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from dataclasses import asdict

from rich.text import Text

from fabriclab.api.host_report import HostReport
from fabriclab.api.host_report import doctor as look_at_host
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.failure import FAILED, OK
from fabriclab.cli.host.waiting import waiting

_MARK_WIDTH = len("missing  ")


def doctor(as_json: bool, *, every: bool = False) -> int:
    """Print what was found; returns the exit status: FAILED when labs can't run here."""
    with waiting("looking at this host"):
        found = look_at_host()
    if as_json:
        record = {
            "labs_can_run": found.labs_can_run,
            "remedies": found.remedies,
            "findings": [asdict(finding) for finding in found.findings],
        }
        sys.stdout.write(json.dumps(record, indent=2) + "\n")
    else:
        _show(found, every=every)
    return OK if found.labs_can_run else FAILED


def _show(found: HostReport, *, every: bool) -> None:
    """Print a line for each finding that keeps labs from running, or for all: the first word says how it stands.

    Lines are broken between words, and only on a terminal.
    """
    console = Console(soft_wrap=True, highlight=False)
    told = [finding for finding in found.findings if every or (finding.remedy and finding.needed)]
    for finding in told:
        mark, style = (
            ("ok", "green") if not finding.remedy else ("missing", "red") if finding.needed else ("note", "yellow")
        )
        text = f"{finding.name}: {finding.state}" + (f": {finding.remedy}" if finding.remedy else "")
        first, *more = _broken(text)
        console.print(Text.assemble((f"{mark:<{_MARK_WIDTH}}", style), first))
        for line in more:
            console.print(Text(" " * _MARK_WIDTH + line))
    if hidden := len(found.findings) - len(told):
        notes = sum(bool(finding.remedy) for finding in found.findings if finding not in told)
        about = f", {notes} of them with a note on containers or other programs" if notes else ""
        console.print(Text(f"{hidden} other findings{about}: --all shows them", style="dim"))
    if found.remedies:
        console.print(Text("To run labs here:"))
        console.print(Text(f"  {' && '.join(found.remedies)}"))
    else:
        console.print(Text("Labs can run here. Begin with `fabriclab run incast`."))


def _broken(text: str) -> list[str]:
    """Return the lines that a text takes on the terminal beside the marks; a word that is too long for one,
    such as a path, stays whole."""
    if not sys.stdout.isatty() and "COLUMNS" not in os.environ:
        return [text]
    width = max(20, shutil.get_terminal_size().columns - _MARK_WIDTH)
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
