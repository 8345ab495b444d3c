"""A cluster on this host's loopback: Dask's scheduler and workers as processes of their own, each with a cache of its
own, and a stand-in for the machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from patience import wait_until

_DASK = (sys.executable, "-m", "dask")
_ALONE = ("--host", "127.0.0.1", "--no-dashboard")


@dataclass
class Cluster:
    """A scheduler and its workers; what they write lies in `directory`."""

    directory: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def file(self) -> Path:
        """The scheduler's file, by which it is found."""
        return self.directory / "scheduler.json"

    def start(self, *options: str) -> None:
        """Start the scheduler with options of Dask's, and wait until it listens."""
        self.directory.mkdir()
        self._run("scheduler", "--port", "0", "--scheduler-file", str(self.file), *options)
        log = self.directory / "0.log"
        wait_until(lambda: self.file.exists() and self.file.read_text().strip(), what=log.read_text)

    @property
    def address(self) -> str:
        """The scheduler's address, as `--on` takes it."""
        return str(json.loads(self.file.read_text())["address"])

    def cache(self, name: str) -> Path:
        """Return the artefact cache of a worker."""
        return self.directory / name / "fabriclab"

    def add(self, name: str, prefix: Sequence[str] = (), *options: str) -> None:
        """Start a worker under a command that changes what it may, and with options of Dask's."""
        place = self.directory / name
        place.mkdir()
        words = ("--nthreads", "1", "--name", name, "--local-directory", str(place), *options)
        self._run("worker", "--scheduler-file", str(self.file), *words, prefix=prefix, cache=place)

    def wait_for(self, name: str) -> None:
        """Wait until the scheduler knows a worker."""
        log = self.directory / "0.log"
        wait_until(lambda: f"name: {name}" in log.read_text(), what=log.read_text)

    def kill_scheduler(self) -> None:
        """End the scheduler at once."""
        self.processes[0].kill()
        self.processes[0].wait()

    def _run(self, command: str, *words: str, prefix: Sequence[str] = (), cache: Path | None = None) -> None:
        environment = {**os.environ, **({} if cache is None else {"XDG_CACHE_HOME": str(cache)})}
        with (self.directory / f"{len(self.processes)}.log").open("wb") as log:
            self.processes.append(
                subprocess.Popen(
                    [*prefix, *_DASK, command, *_ALONE, *words],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=environment,
                    start_new_session=True,
                )
            )

    def close(self) -> None:
        """End all of it: each process with the group that it began."""
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
