"""Processes in containers: started all at once, given one epoch, followed to their end.

Their output goes to the run directory's logs.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.command import CommandError, run_command
from fabriclab.engine.containers.docker import Container, exec_argv
from fabriclab.engine.containers.job import Task
from fabriclab.engine.watch import last_lines

START_SCRIPT = "/job/start.sh"
_READY_S = 60.0
_SIGNAL_S = 30.0
_READ_BYTES = 1 << 16
_LOOK_S = 0.05
_CLIENT_END_S = 5.0


class Process:
    """A process in a container, seen through the `docker exec` that started it."""

    def __init__(self, task: Task, container: Container, log: Path) -> None:
        self.task = task
        self.container = container
        self.number: int | None = None
        """Its process number in the container."""
        self.halted = False
        """Its node loses its power: it ends as it must."""
        self._client = subprocess.Popen(
            exec_argv(container, ["sh", START_SCRIPT, *task.argv], interactive=True),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._log_path = log
        self._log: BinaryIO = log.open("wb")
        self._head = b""

    @property
    def output(self) -> int:
        """Return the descriptor of the process's output."""
        assert self._client.stdout is not None
        return self._client.stdout.fileno()

    @property
    def status(self) -> str | None:
        """How it ended (`exit N`, `signal N`), None while it runs.

        A shell's number of a signal is told as the signal.
        """
        code = self._client.poll()
        if code is None:
            return None
        return f"signal {code - 128}" if code > 128 else f"exit {code}"

    def read(self) -> bool:
        """Take what it wrote; returns whether its output is closed."""
        try:
            data = os.read(self.output, _READ_BYTES)
        except BlockingIOError:
            return False
        if self.number is None:
            self._head += data
            line, newline, data_after = self._head.partition(b"\n")
            if not newline or not line.strip().isdigit():
                self._log.write(data)
            else:
                self.number = int(line)
                self._log.write(data_after)
        else:
            self._log.write(data)
        self._log.flush()
        return not data

    def give_epoch(self, epoch_ns: int) -> None:
        """Let it become what it is to be."""
        assert self._client.stdin is not None
        with suppress(BrokenPipeError):
            self._client.stdin.write(f"{epoch_ns}\n".encode())
            self._client.stdin.close()

    def wait(self, timeout_s: float) -> str | None:
        """Wait for its end, `timeout_s` seconds at most; returns how it ended."""
        with suppress(subprocess.TimeoutExpired):
            self._client.wait(timeout_s)
        return self.status

    def terminate(self) -> None:
        """Send it SIGTERM, in its container: what is sent to `docker exec` does not reach it."""
        if self.number is not None and self.status is None:
            # It may have ended meanwhile.
            with suppress(CommandError):
                argv = exec_argv(self.container, ["sh", "-c", 'kill -s TERM "$1"', "sh", str(self.number)])
                run_command(argv, timeout_s=_SIGNAL_S)

    def close(self) -> None:
        """Let go of it: what still runs ends with its container."""
        if self._client.poll() is None:
            self._client.kill()
        self._client.wait()
        for stream in (self._client.stdin, self._client.stdout, self._log):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def describe(self) -> str:
        """Return how it ended, with its last words."""
        said = last_lines(self._log_path, 2)
        return f"{self.task.name} ended with {self.status}" + (f": {said}" if said else "")


class Processes:
    """The processes of a run. Use as a context manager."""

    def __init__(self, directory: Path) -> None:
        self._logs = directory / "logs"
        self._selector = selectors.DefaultSelector()
        self._all: list[Process] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._all:
            process.close()
        self._selector.close()

    def start(self, task: Task, container: Container) -> Process:
        """Start a process; it waits for its epoch."""
        process = Process(task, container, self._logs / f"{task.name}.log")
        self._all.append(process)
        os.set_blocking(process.output, False)
        self._selector.register(process.output, selectors.EVENT_READ, process)
        return process

    def await_ready(self, processes: Iterable[Process]) -> None:
        """Wait until all of these wait for the epoch. Raises EngineError for one that ended, or takes too long."""
        waiting = list(processes)
        deadline = time.monotonic() + _READY_S
        while waiting:
            self.pump()
            waiting = [process for process in waiting if process.number is None]
            ended = [process for process in waiting if process.status is not None]
            if ended:
                raise EngineError(f"{ended[0].task.node}: {ended[0].describe()}")
            if waiting and time.monotonic() > deadline:
                raise EngineError(f"{waiting[0].task.name} did not start within {_READY_S:g} s")

    def pump(self) -> None:
        """Take what the processes wrote, waiting for it a moment."""
        if not self._selector.get_map():
            time.sleep(_LOOK_S)
            return
        for key, _ in self._selector.select(_LOOK_S):
            process: Process = key.data
            if process.read():
                self._selector.unregister(process.output)
                # The output closes a moment before the client ends.
                process.wait(_CLIENT_END_S)

    def await_end(
        self, processes: Iterable[Process], patience_s: float, on_end: Callable[[Process], None]
    ) -> list[Process]:
        """Wait until these have ended, `patience_s` at most; returns those that have not."""
        waiting = list(processes)
        deadline = time.monotonic() + patience_s
        while waiting and time.monotonic() < deadline:
            self.pump()
            for process in [process for process in waiting if process.status is not None]:
                waiting.remove(process)
                on_end(process)
        return waiting
