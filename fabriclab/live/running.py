"""A live lab while it runs: `run_point` in a thread of its own, and its machine's other end in this one's event loop.

So a live lab leaves what any run leaves: manifest, logs, results.
"""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from fabriclab.api.ingest import ingest_run_logs
from fabriclab.api.progress import Progress, RunTeller
from fabriclab.engine.events import Event
from fabriclab.engine.interrupt import Interrupt
from fabriclab.files import write_all
from fabriclab.formats.live import Input, Output
from fabriclab.formats.speed import Speed
from fabriclab.live.changes_log import LAB_FILES, ChangesLog
from fabriclab.live.clients import Refused
from fabriclab.live.deployed import DeployedMachine, Machine
from fabriclab.live.gather import Started, gather_started
from fabriclab.live.machine import LiveMachine
from fabriclab.live.recording import Nap, Recorder, Taken, is_down
from fabriclab.live.wanted import Wanted
from fabriclab.live.wire import Frame, WireError, decode
from fabriclab.runs import RunContext, RunResult, run_point
from fabriclab.runs.point import LiveRun

_START_DIRECTORY = re.compile(r"/job/(live/[0-9]+)/")


class Running:
    """A live lab in this process. All of it but the run itself belongs to one event loop."""

    def __init__(
        self,
        wanted: Wanted,
        directory: Path,
        on_output: Callable[[Frame], None],
        on_progress: Callable[[Progress], None],
        speed: Speed,
        *,
        replays: bool = False,
    ) -> None:
        """Prepare it; nothing runs yet. `on_progress` is called in another thread.

        `replays`: no event of the machine happens before it is said which input comes next.
        """
        self.wanted = wanted
        self.directory = directory
        self.interrupt = Interrupt()
        self.changes = ChangesLog(directory)
        """What is done to the lab, in its words."""
        self.failure: Exception | None = None
        """What went wrong with the recording; the lab goes down then."""
        self.epoch_ns = 0
        """When the lab's time begins, in nanoseconds since the machine was switched on."""
        ours, self._theirs = socket.socketpair()
        self.machine: Machine = (
            DeployedMachine(self._heard)
            if wanted.engine == "containerlab"
            else LiveMachine(ours, self._heard, self._took, speed, replays=replays)
        )
        self._on_output = on_output
        self._teller = RunTeller(wanted.plan.lab, wanted.plan, self._told)
        self._on_progress = on_progress
        self._recorder: Recorder | None = None
        self._is_ending = False
        self._epoch_told = asyncio.Event()
        self._started: dict[int, Started] = {}
        self._following: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()

    @property
    def virtual_machine(self) -> LiveMachine:
        """The machine, whose time is virtual. Raises Refused where the lab runs in containers."""
        if not isinstance(self.machine, LiveMachine):
            raise Refused("the lab runs in containers, in real time; only a virtual machine can do that")
        return self.machine

    def begin(self) -> asyncio.Future[RunResult]:
        """Start the run; the future has its result, or what `run_point` raises, when all of it is done."""
        loop = self._loop
        result: asyncio.Future[RunResult] = loop.create_future()

        def work() -> None:
            try:
                found = self._run()
            except BaseException as error:
                loop.call_soon_threadsafe(_fail, result, error)
            else:
                loop.call_soon_threadsafe(_succeed, result, found)
            finally:
                # So that nobody waits for a machine that never began.
                self._theirs.close()
                if isinstance(self.machine, DeployedMachine):
                    self.machine.leave()

        self._following = asyncio.create_task(self.machine.follow())
        threading.Thread(target=work, name="fabriclab-run", daemon=True).start()
        return result

    def _run(self) -> RunResult:
        wanted = self.wanted
        held_by = self.machine.stay if isinstance(self.machine, DeployedMachine) else self._theirs
        context = RunContext(
            wanted.lab_directory,
            wanted.artefacts,
            wanted.command,
            self._teller.around(ingest_run_logs),
            wanted.report,
            interrupt=self.interrupt,
            live=LiveRun(held_by, wanted.idle, self._gather),
        )
        return run_point(wanted.plan, self.directory, context, self._event)

    def _event(self, event: Event) -> None:
        if event.name == "epoch":
            # Containers count from when they came up.
            self.epoch_ns = event.t_ns if isinstance(self.machine, LiveMachine) else 0
            self._loop.call_soon_threadsafe(self._epoch_told.set)
        self._teller.event(event)

    def _told(self, event: object) -> None:
        if isinstance(event, Progress):
            self._on_progress(event)

    def _gather(self, directory: Path) -> None:
        """Conclude what the run's files are, before their hashes are taken: its thread, when the machine has ended."""
        asyncio.run_coroutine_threadsafe(self._settled(), self._loop).result()
        gather_started(directory, list(self._started.values()), idle=self.wanted.idle)

    def _heard(self, frame: Frame) -> None:
        if frame.kind == Output.STARTED and frame.session in self._started:
            epoch_ns = _field(frame.data, "epoch_ns")
            if isinstance(epoch_ns, int):
                self._started[frame.session].epoch_ns = epoch_ns
        self._on_output(frame)

    def _took(self, taken: Taken | Nap) -> None:
        if isinstance(taken, Taken) and taken.frame.kind == Input.OPEN:
            self._note_start(taken.frame)
            self._is_ending = is_down(taken.frame)
        if self._recorder is None:
            return
        try:
            if isinstance(taken, Nap):
                self._recorder.napped(taken)
            else:
                self._recorder.took(taken)
        except OSError as error:
            # What is not written down can't be replayed: the lab ends, with all that was measured.
            self.failure = self.failure or error
            self.interrupt.request()

    def _note_start(self, frame: Frame) -> None:
        """Remember traffic that is started by hand: where its trace and its logs are."""
        found = _START_DIRECTORY.search(frame.data.decode(errors="replace"))
        if found is not None and _field(frame.data, "start") is not None:
            self._started[frame.session] = Started(found[1])

    async def come_to_epoch(self) -> None:
        """Let the lab's time begin: what boots is done with then. Raises MachineGone.

        The machine told of its epoch before it let us look, by another way.
        """
        told, ended = asyncio.create_task(self._epoch_told.wait()), asyncio.create_task(self.machine.ended())
        await asyncio.wait((told, ended), return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        ended.cancel()
        await self.machine.come_to(self.epoch_ns)

    def started(self) -> dict[str, int]:
        """Return the directories of traffic that was started by hand, each with its epoch after the lab's."""
        begun = self._started.values()
        return {one.directory: one.epoch_ns for one in begun if one.epoch_ns is not None}

    def record(self) -> None:
        """Begin the recording; of containers there is none. Raises OSError."""
        if not isinstance(self.machine, LiveMachine):
            return
        texts = self.wanted.texts()
        (self.directory / LAB_FILES).mkdir(exist_ok=True)
        write_all({self.directory / LAB_FILES / name: text for name, text in texts.items()})
        self._recorder = Recorder(self.directory, self.wanted.header())

    def _end_recording(self) -> None:
        """Write down how far the recording goes, where the machine was not killed meanwhile."""
        if self._recorder is None:
            return
        try:
            if self.failure is None and self._is_ending and isinstance(self.machine, LiveMachine):
                self._recorder.end(self.machine.outputs)
        except OSError as error:
            self.failure = error
        finally:
            self._recorder.close()
            self._recorder = None

    async def _settled(self) -> None:
        """Wait until all that the machine said has been heard, and close the recording."""
        if self._following is not None:
            await self._following
        self._end_recording()


def _field(data: bytes, name: str) -> object:
    try:
        return decode(data).get(name)
    except WireError:
        return None


def _succeed(future: asyncio.Future[RunResult], result: RunResult) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[RunResult], error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
