"""A machine as a group of host processes that never outlives us, with the private directory that it needs."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fabriclab.engine.private_directory import make_private

# Reads the group's number. When the pipe breaks before a second line we have died, even of SIGKILL: the group goes, and
# its directory.
_GUARD = 'read -r group; if ! read -r released; then kill -s KILL -- "-$group"; rm -rf -- "$1"; fi 2>/dev/null'


class MachineProcess:
    """A started machine. Use as a context manager: on leaving it nothing of it is left, processes or files."""

    def __init__(self, parent: Path) -> None:
        self.directory, self._hold = make_private(parent.absolute())
        """Private to the machine: its memory and control files."""
        self._process: subprocess.Popen[bytes] | None = None
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, "fabriclab-guard", str(self.directory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            # It removes the directory, so it holds it as long as it lives.
            pass_fds=(self._hold,),
        )

    def __enter__(self) -> MachineProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._tell_guard("released")
        if self._guard.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._guard.stdin.close()
        self._guard.wait()
        if self._process is not None and self._process.stdout is not None:
            self._process.stdout.close()
        shutil.rmtree(self.directory, ignore_errors=True)
        os.close(self._hold)

    def start(self, argv: Sequence[str], descriptors: Sequence[int] = ()) -> int:
        """Start the machine, which inherits `descriptors`; returns the descriptor of its output.

        Raises OSError when a program of `argv` can't be started.
        """
        # Little environment, always the same: what a process inside sees must not depend on who started it.
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "TMPDIR": str(self.directory),
            "HOME": str(self.directory),
        }
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.directory,
            env=environment,
            start_new_session=True,
            pass_fds=descriptors,
        )
        self._tell_guard(str(self._process.pid))
        if self._process.stdout is None:
            raise AssertionError("the output was asked for as a pipe")
        return self._process.stdout.fileno()

    def exit_status(self) -> str | None:
        """Return how the machine's main process ended (`exit 1`, `signal 9`), None while it runs."""
        code = None if self._process is None else self._process.poll()
        if code is None:
            return None
        return f"exit {code}" if code >= 0 else f"signal {-code} ({signal.strsignal(-code)})"

    def cpu_s(self) -> float:
        """Return the CPU time of the main process in seconds: of the kernel, not of what runs in the machine."""
        try:
            words = Path(f"/proc/{self._pid()}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def word_at(self, address: int) -> int | None:
        """Return the 64-bit number at an address of the main process; None where it can't be read."""
        try:
            with Path(f"/proc/{self._pid()}/mem").open("rb", buffering=0) as memory:
                memory.seek(address)
                return int.from_bytes(memory.read(8), sys.byteorder)
        except OSError:
            return None

    def ask_where(self) -> None:
        """Make the kernel panic, and so say where it is."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid(), signal.SIGTRAP)

    def _pid(self) -> int:
        if self._process is None:
            raise ProcessLookupError("the virtual machine was not started")
        return self._process.pid

    def wait(self, timeout_s: float) -> None:
        """Wait until the main process has ended, `timeout_s` seconds at most."""
        if self._process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout_s)

    def kill(self) -> None:
        """Kill every process of the machine, and wait for the main one.

        Those that it left behind belong to its group.
        """
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _tell_guard(self, line: str) -> None:
        if self._guard.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._guard.stdin.write(f"{line}\n".encode())
                self._guard.stdin.flush()
