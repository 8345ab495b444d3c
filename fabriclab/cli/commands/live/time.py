"""`fabriclab ps`, `down`, `pause`, `resume`, `step`, `speed`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabriclab.cli.host.failure import FAILED, OK, say
from fabriclab.cli.host.waiting import waiting
from fabriclab.errors import ArgumentError
from fabriclab.live.client import LiveError, ask
from fabriclab.live.labs_up import labs
from fabriclab.live.pace import time_text
from fabriclab.units import UnitError, format_count, parse_duration


def ps(as_json: bool) -> None:
    """List the labs that are up."""
    found = []
    for name, facts in labs().items():
        try:
            found.append({**facts, **ask(name, {"do": "state"}), "lab": facts["lab"]})
        except LiveError:
            continue  # It went down meanwhile.
    if as_json:
        sys.stdout.write(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    elif not found:
        say("no lab is up; `fabriclab up LAB` starts one")
    for each in [] if as_json else found:
        sys.stdout.write(f"{each['name']}: {time_text(each)}; {each['directory']}\n")
        for busy in each["busy"]:
            sys.stdout.write(f"    busy: {busy['program']} in {busy['node']} has not slept for {busy['s']} s\n")
        _write_loop(each["loop"])


def _write_loop(loop: Mapping[str, Any]) -> None:
    for traffic, times in loop["again"].items():
        sys.stdout.write(f"    {traffic} starts again when it has ended; {format_count(times, 'time')} so far\n")
    if loop["failed"]:
        sys.stdout.write(f"    {loop['failed']}\n")


def pace(name: str | None, question: dict[str, Any]) -> None:
    """Change how time goes, and say what it is."""
    state = ask(name, question)
    sys.stdout.write(f"{state['lab']}: {time_text(state)}\n")


def step(name: str | None, duration: str) -> None:
    """Let some virtual time pass. Raises ArgumentError for what is not a duration."""
    try:
        duration_ns = parse_duration(duration)
    except UnitError as error:
        raise ArgumentError("{0}", error) from None
    pace(name, {"do": "step", "duration_ns": duration_ns})


def down(name: str | None, every: bool) -> int:
    """Take labs down; returns the exit status."""
    names: list[str | None] = list(labs()) if every else [name]
    if not names:
        say("no lab is up")
    status = OK
    for one in names:
        with waiting("taking the lab down"):
            ended = ask(one, {"do": "down"})
        directory = Path(ended["directory"])
        sys.stdout.write(
            f"{ended['lab']}: {ended['status']}, {ended['now_ns'] / 1e9:.3f} s of virtual time; {directory}\n"
        )
        if ended["message"]:
            say(ended["message"])
        if ended["status"] != "complete":
            status = FAILED
    return status
