"""Bars on a terminal: Rich's controls reach it, and those of a lab's words do not, while a bar is shown too."""

from __future__ import annotations

import io
import sys
from typing import TextIO, cast

import pytest

from fabriclab.cli.host.console import Console
from fabriclab.cli.host.progress import RunProgress
from fabriclab.cli.host.visible import VisibleStream


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_moves_and_what_is_printed_meanwhile_commands_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(sys, "stderr", cast(TextIO, VisibleStream(terminal)))
    monkeypatch.setattr(sys, "stdout", cast(TextIO, VisibleStream(terminal)))
    console = Console(stderr=True, force_terminal=True)
    with RunProgress(console, "virtual") as progress:
        progress.count(2)
        print("from a lab: \x1b[2J gone")
        console.print("also: \x1b[2J gone", markup=False, highlight=False)
    written = terminal.getvalue()
    assert "\x1b[2K" in written, "the bar is drawn over itself"
    # What goes through Rich's own stream loses its controls there.
    assert written.count(" gone") == 2 and written.count("\N{SYMBOL FOR ESCAPE}[2J gone") == 1
    assert "\N{SYMBOL FOR ESCAPE}[2K" not in written and "\x1b[2J" not in written
