"""`fabriclab replay`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from fabriclab.api.run import new_run_directory
from fabriclab.cli.host.consent import with_consent
from fabriclab.cli.host.failure import FAILED, OK, BadInputError, say
from fabriclab.cli.host.waiting import waiting
from fabriclab.formats.speed import parse_speed
from fabriclab.live.recording import Nap, Recording
from fabriclab.live.replaying import Replayed, open_recording
from fabriclab.live.replaying import replay as replay_recording
from fabriclab.live.wanted import Wanted
from fabriclab.runs.claim import claimed


def replay(session: Path, speed: str, out: Path | None, trust: bool = False) -> int:
    """Run a recording again, and say whether all is the same; returns the exit status."""

    def read(trusted: bool) -> tuple[Recording, Wanted]:
        with waiting("reading the recording"):
            return open_recording(session, parse_speed(speed), tuple(sys.argv), trusted)

    recording, wanted = with_consent(read, trust)
    directory = out if out is not None else new_run_directory(wanted.plan.lab, "{time}-replay")
    with claimed(directory, ours=out is None):
        if any(directory.iterdir()):
            raise BadInputError(f"--out {directory} already exists; choose another one")
        with waiting("replaying") as tell:
            replayed = asyncio.run(
                replay_recording(recording, wanted, directory, session, lambda event: tell(event.stage))
            )
    sys.stdout.write(text(replayed))
    if replayed.result.message:
        say(replayed.result.message)
    return OK if replayed.is_same and replayed.result.status == "complete" else FAILED


def text(replayed: Replayed) -> str:
    """Return what came of it, in words."""
    result = replayed.result
    lines = [f"{result.directory}: {result.status}, {result.virtual_ns / 1e9:.3f} s of virtual time"]
    if replayed.failure:
        lines.append(f"the recording could not be replayed: {replayed.failure}")
    difference = replayed.first_difference
    if difference is not None:
        if isinstance(difference, Nap):
            what = f"{difference.program} in {difference.node} was made to sleep"
        else:
            what = f"the input of session {difference.frame.session}"
        lines.append(f"outputs differ, first before {what} at {difference.t_ns} ns")
    else:
        lines.append("outputs are the same" if replayed.outputs_same else "outputs differ, after the last input")
    flows = {True: "flows are the same", False: "flows differ", None: "no flows to compare"}[replayed.flows_same]
    return "\n".join([*lines, flows]) + f" ({replayed.inputs} inputs)\n"
