"""Running a live lab's recording again: the same machine, the same inputs at the same places, at any speed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabriclab.api.engine import fit_recorded
from fabriclab.api.progress import Progress
from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.files import read_text
from fabriclab.formats.live import Input
from fabriclab.formats.plan import Plan, PlanError, parse_plan_json
from fabriclab.formats.plan.runnable import check_runnable
from fabriclab.formats.run_directory import MANIFEST, PLAN
from fabriclab.formats.speed import Speed
from fabriclab.live.machine import MachineGone
from fabriclab.live.recording import Header, Nap, Recording, RecordingError, Taken, is_down, read_recording
from fabriclab.live.running import Running
from fabriclab.live.wanted import Wanted, plan_hash
from fabriclab.live.wire import Frame, encode
from fabriclab.runs import RunResult

_FLOWS = "flows.parquet"
_LARGEST_PLAN_BYTES = 1 << 30


@dataclass(frozen=True)
class Replayed:
    """What a replay came to."""

    result: RunResult
    inputs: int
    """How many inputs the recording has."""
    outputs_same: bool
    first_difference: Taken | Nap | None
    """The first input or nap before which the machine had not written what the recorded one had."""
    flows_same: bool | None
    """None where one of the two has no flows."""
    failure: str
    """Why the recording could not be followed to its end; empty where it could."""

    @property
    def is_same(self) -> bool:
        """Whether all that can be compared is the same."""
        return not self.failure and self.outputs_same and self.flows_same is not False


def open_recording(
    directory: Path, speed: Speed, command: tuple[str, ...], trust: bool = False
) -> tuple[Recording, Wanted]:
    """Return a run directory's recording, and what it is to be replayed on.

    `trust`: code that its plan brings may run. Raises RecordingError where it can't be, ConsentError where that code is
    in no trusted lab and nobody said that it may run, EngineError where what it ran on is no longer here, OSError.
    """
    recording = read_recording(directory)
    header = recording.header
    plan = _plan(directory, header)
    lab_directory = Path(header.lab_directory)
    wanted = Wanted(
        plan=plan,
        lab_directory=lab_directory,
        artefacts=_same_artefacts(fit_recorded({directory: plan}, directory, trust, lab_directory), header),
        command=command,
        report=_report(directory),
        idle=header.idle,
        speed=speed,
    )
    return recording, wanted


def _plan(directory: Path, header: Header) -> Plan:
    path = directory / PLAN
    text = read_text(path, _LARGEST_PLAN_BYTES)
    if plan_hash(text) != header.plan_sha256:
        raise RecordingError(f"{path}: is not the plan that the recording was made with")
    try:
        plan = parse_plan_json(text)
        check_runnable(plan)
    except PlanError as error:
        raise RecordingError(f"{path}: {error}") from error
    return plan


def _report(directory: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        found = json.loads(read_text(directory / MANIFEST, _LARGEST_PLAN_BYTES)).get("report")
        return found if isinstance(found, dict) else {}
    return {}


def _same_artefacts(here: Artefacts, header: Header) -> Artefacts:
    """Return the artefacts of the recording: those of now, or others that the cache still has."""
    wanted = {name: str(header.artefacts.get(name)) for name in here.hashes()}
    found = replace(
        here,
        kernel=here.kernel.parent.parent / wanted["kernel"] / here.kernel.name,
        rootfs=here.rootfs.parent.parent / wanted["rootfs"] / here.rootfs.name,
        tools=here.tools.parent / wanted["tools"],
    )
    for name, path in (("kernel", found.kernel), ("rootfs", found.rootfs), ("tools", found.tools)):
        if not path.exists():
            raise EngineError(
                f"the recording was made with the virtual machine's {name} {wanted[name]}, which is not here "
                f"({path}). This computer has {here.hashes()[name]}. Another {name} may behave differently, so "
                "nothing was replayed"
            )
    return found


async def replay(
    recording: Recording,
    wanted: Wanted,
    directory: Path,
    original: Path,
    on_progress: Callable[[Progress], None],
) -> Replayed:
    """Run a recording again, everything into `directory`, and compare with the original run directory.

    SIGINT and SIGTERM end it. Raises what `run_point` does.
    """
    running = Running(wanted, directory, _ignore, on_progress, wanted.speed, replays=True)
    result = running.begin()
    loop = asyncio.get_running_loop()
    stopping = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    for number in stopping:
        loop.add_signal_handler(number, _stop_at_once, running)
    giving = asyncio.create_task(_give(running, recording))
    pacing = asyncio.create_task(_pace(running))
    try:
        ended = await result
    finally:
        for number in stopping:
            loop.remove_signal_handler(number)
        pacing.cancel()
        giving.cancel()
        with suppress(asyncio.CancelledError, MachineGone):
            await giving
    followed = (
        giving.result()
        if giving.done() and not giving.cancelled()
        else _Followed(0, None, "the recording was not replayed")
    )
    expected = recording.outputs
    same = followed.difference is None and expected in (None, running.virtual_machine.outputs.digest)
    return Replayed(
        ended,
        len(recording.inputs),
        same,
        followed.difference,
        _same_flows(original, directory),
        followed.failure,
    )


@dataclass(frozen=True)
class _Followed:
    """How far a recording was followed."""

    inputs: int
    difference: Taken | Nap | None
    failure: str


def _ignore(_: Frame) -> None:
    """Take no notice of an output: its digest is compared."""


def _stop_at_once(running: Running) -> None:
    running.interrupt.request()
    running.interrupt.request()


async def _pace(running: Running) -> None:
    """Let time go on, when the lab is up."""
    await running.virtual_machine.is_up.wait()
    with suppress(MachineGone):
        running.virtual_machine.go_on()


async def _give(running: Running, recording: Recording) -> _Followed:
    """Give the machine its inputs, each at its place; what is there of a recording without an end is ended in order."""
    machine, given = running.virtual_machine, 0
    difference: Taken | Nap | None = None
    try:
        await machine.begun()
        for recorded in recording.history:
            taken: Taken | Nap
            if isinstance(recorded, Nap):
                taken = await machine.submit_nap(recorded)
            else:
                taken = await machine.submit(*recorded.frame, place=(recorded.events, recorded.t_ns))
                given += 1
            if difference is None and taken.outputs != recorded.outputs:
                difference = recorded
        machine.replaying(False)
        if not recording.inputs or not is_down(recording.inputs[-1].frame):
            await machine.submit(_last_session(recording) + 1, Input.OPEN, encode({"down": {}}))
    except MachineGone as gone:
        _stop_at_once(running)
        return _Followed(given, difference, f"after {given} of {len(recording.inputs)} inputs: {gone}")
    except Exception:  # whatever it is goes on to the caller; but nobody takes the lab down any more
        _stop_at_once(running)
        raise
    return _Followed(given, difference, "")


def _last_session(recording: Recording) -> int:
    return max((taken.frame.session for taken in recording.inputs), default=0)


def _same_flows(original: Path, again: Path) -> bool | None:
    files = [directory / _FLOWS for directory in (original, again)]
    if not all(file.is_file() for file in files):
        return None
    first, second = (hashlib.sha256(file.read_bytes()).digest() for file in files)
    return first == second
