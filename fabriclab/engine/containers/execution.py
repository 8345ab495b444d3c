"""A program of somebody's in a container: `docker exec`, with pipes or on a terminal of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

from fabriclab.engine.containers.docker import Container

_SIGNALS = ("docker", "exec", "--user", "0")
# What is sent to `docker exec` does not reach the program: its number in the container is written down, for `kill`.
_START = 'echo $$ > "$0"; exec "$@"'
_KILL = 'read -r number < "$1" && { kill -s "$2" -- "-$number" || kill -s "$2" "$number"; } 2>/dev/null'


class Execution:
    """A program that runs in a container. Its descriptors do not block."""

    def __init__(
        self,
        container: Container,
        argv: Sequence[str],
        environment: Mapping[str, str],
        name: str,
        size: tuple[int, int] | None = None,
    ) -> None:
        """Start it. `name` is this one's alone; `size`: rows and columns of a terminal, None for pipes.

        Raises OSError where Docker's command can't be started.
        """
        self._container = container
        self._file = f"/run/fabriclab-{name}"
        options = ["--interactive", *(["--tty"] if size else []), "--user", "0"]
        settings = [f"--env={key}={value}" for key, value in environment.items()]
        command = ["docker", "exec", *options, *settings, container.identity, "sh", "-c", _START, self._file, *argv]
        self._terminal: int | None = None
        self.output: int
        self.error: int | None = None
        """Where standard error comes from; None on a terminal, which has one stream."""
        if size is None:
            self._client = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
            assert self._client.stdin and self._client.stdout and self._client.stderr
            self.input = self._client.stdin.fileno()
            self.output, self.error = self._client.stdout.fileno(), self._client.stderr.fileno()
        else:
            self._terminal, theirs = pty.openpty()
            self.resize(*size)
            # A terminal of its own: Docker learns of its size by SIGWINCH.
            self._client = subprocess.Popen(
                ["setsid", "--ctty", "--wait", *command], stdin=theirs, stdout=theirs, stderr=theirs
            )
            os.close(theirs)
            self.input = self.output = self._terminal
        for descriptor in (self.input, self.output, *([self.error] if self.error is not None else [])):
            os.set_blocking(descriptor, False)

    def process(self) -> int:
        """Return a descriptor that is readable when the program has ended."""
        return os.pidfd_open(self._client.pid)

    def end_input(self) -> None:
        """Close its standard input; a terminal gets the character that says so."""
        with suppress(OSError):
            if self._terminal is None:
                assert self._client.stdin is not None
                self._client.stdin.close()
            else:
                os.write(self._terminal, b"\x04")

    def resize(self, rows: int, columns: int) -> None:
        """Tell its terminal's size."""
        if self._terminal is not None:
            fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def signal(self, number: int) -> None:
        """Send a signal to its process group in the container. Returns at once."""
        name = signal.Signals(number).name.removeprefix("SIG")
        argv = [*_SIGNALS, self._container.identity, "sh", "-c", _KILL, "sh", self._file, name]
        null = subprocess.DEVNULL
        kill = subprocess.Popen(argv, stdin=null, stdout=null, stderr=null, start_new_session=True)
        threading.Thread(target=kill.wait, daemon=True).start()

    def status(self) -> str | None:
        """Return how it ended (`exit N`, `signal N`); None while it runs."""
        code = self._client.poll()
        if code is None:
            return None
        return f"signal {code - 128}" if code > 128 else f"exit {code}"

    def close(self) -> None:
        """Let go of it: what still runs in the container is killed."""
        if self._client.poll() is None:
            self.signal(signal.SIGKILL)
            self._client.kill()
        self._client.wait()
        for stream in (self._client.stdin, self._client.stdout, self._client.stderr):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        if self._terminal is not None:
            os.close(self._terminal)
            self._terminal = None
