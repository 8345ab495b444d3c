"""A process in a node on this terminal: streams, signals and the window's size are passed on, as is its status."""

from __future__ import annotations

import os
import select
import signal
import sys

from fabriclab.formats.live import Output
from fabriclab.live.client import Connection, Session, exit_status
from fabriclab.live.wire import DATA_MAX, window

TYPE_CHECKING = False  # `typing` takes as long to import as all else here
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType
    from typing import Any

_STDIN = 0
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
PROMPT = {"PS1": r"\u@\h:\w\$ "}
"""Whoever has shells in several nodes sees which is which, as on Debian."""
_PASSED_ON = ("TERM", "LANG", "LC_ALL", "LC_CTYPE", "COLORTERM")
_BROKEN_PIPE = 128 + signal.SIGPIPE


class Streams:
    """Where input comes from and output goes to, by their descriptors; an input of None is none."""

    def __init__(
        self,
        stdin: int | None = 0,
        stdout: int = 1,
        stderr: int = 2,
        convert: Callable[[bytes], bytes] = bytes,
    ) -> None:
        """Take the descriptors, and what standard output becomes on its way."""
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.convert = convert


def run_in_node(
    lab: str | None,
    node: str | None,
    argv: Sequence[str],
    *,
    terminal: bool = False,
    watches: bool = False,
    streams: Streams | None = None,
) -> int:
    """Run a program in a node with this process's streams; returns its exit status. Raises LiveError, LabsUpError.

    `terminal`: on a terminal of its own, which this one shows; needs standard input and output to be one. `watches`: it
    only looks, and moves nobody's random numbers.
    """
    with Connection(lab) as connection, _Signals(terminal) as signals, _Raw(terminal):
        session = Session(connection, {"open": {"exec": execution(node, argv, terminal=terminal, watches=watches)}})
        signals.session = session
        return relay(session, streams or Streams())


def execution(
    node: str | None, argv: Sequence[str], *, terminal: bool = False, watches: bool = False
) -> dict[str, Any]:
    """Return what PID 1 is asked for: a program in a node, or in the machine itself."""
    environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    size: dict[str, int] | None = None
    if terminal:
        environment |= PROMPT
        columns, rows = _size()
        size = {"rows": rows, "columns": columns}
    else:
        environment.pop("TERM", None)
    return {"node": node, "argv": list(argv), "environment": environment, "watches": watches, "terminal": size}


def relay(session: Session, streams: Streams) -> int:
    """Pass input and output on until the process has ended; returns its exit status. Raises LiveError."""
    stdin, descriptor = streams.stdin, session.connection.socket.fileno()
    if stdin is None:
        session.finish()
    while session.status is None:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if session.started and stdin is not None and session.room > 0:
            poll.register(stdin, select.POLLIN)
        ready = {number for number, _ in poll.poll()}
        if stdin in ready and stdin is not None and not _read_input(session, stdin):
            stdin = None
        if descriptor in ready:
            for kind, data in session.receive():
                target = streams.stdout if kind == Output.STDOUT else streams.stderr
                if not _write_all(target, streams.convert(data) if kind == Output.STDOUT else data):
                    session.signal(signal.SIGPIPE)
                    return _BROKEN_PIPE
                session.consumed(len(data))
    return exit_status(session.status)


def _read_input(session: Session, stdin: int) -> bool:
    """Send what there is of the input; returns whether there may be more."""
    try:
        data = os.read(stdin, min(session.room, DATA_MAX))
    except OSError:
        data = b""
    if data:
        session.send(data)
    else:
        session.finish()
    return bool(data)


def _write_all(descriptor: int, data: bytes) -> bool:
    """Write bytes; returns whether somebody takes them."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            select.select([], [descriptor], [])
        except OSError:
            return False
    return True


class _Signals:
    """Passes signals on to the process, and the window's size."""

    def __init__(self, terminal: bool) -> None:
        self.session: Session | None = None
        """Whose process it is; None: there is none yet."""
        self._terminal = terminal
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        numbers = (*_FORWARDED, signal.SIGWINCH) if self._terminal else _FORWARDED
        for number in numbers:
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGWINCH:
            columns, rows = _size()
            if self.session is not None:
                self.session.resize(window(rows, columns))
        elif self.session is None:
            sys.exit(128 + number)
        elif self.session.status is None:
            self.session.signal(number)
            if number in (signal.SIGTERM, signal.SIGHUP):
                # Whoever sends these wants this process to end, whatever becomes of the other.
                sys.exit(128 + number)


class _Raw:
    """Lets each key reach the process as it is typed; the terminal is as it was when this ends, however it ends."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._before: Any = None

    def __enter__(self) -> None:
        if not self._wanted:
            return
        import termios
        import tty

        self._before = termios.tcgetattr(_STDIN)
        tty.setraw(_STDIN, termios.TCSADRAIN)

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            import termios

            termios.tcsetattr(_STDIN, termios.TCSADRAIN, self._before)


def _size() -> tuple[int, int]:
    try:
        columns, rows = os.get_terminal_size(_STDIN)
    except OSError:
        return 80, 24
    return columns or 80, rows or 24
