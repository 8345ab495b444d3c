"""A client of a live lab's server: one connection for one question, or for one process in a node."""

from __future__ import annotations

import _socket  # what `socket` is made of: half of what a client imports would be `selectors` and names of families

from fabriclab.errors import FabriclabError
from fabriclab.formats.live import INPUT_CREDIT, OUTPUT_CREDIT, Input, Output
from fabriclab.live import labs_up
from fabriclab.live.wire import (
    FRAME_BYTES,
    WireError,
    client_frame,
    decode,
    encode,
    number,
    parse_client_head,
    parse_number,
)

TYPE_CHECKING = False  # `typing` takes as long to import as all else here
if TYPE_CHECKING:
    from typing import Any


_READ_BYTES = 1 << 16
CREDIT_STEP = OUTPUT_CREDIT // 2
"""So many bytes are consumed before the process is told: half of what it may send ahead."""


class LiveError(FabriclabError):
    """A live lab refused a request; the text says why. The lab continues."""


class Gone(LiveError):  # noqa: N818 - it says what happened
    """The lab went down, or was killed, while it was asked."""


class Connection:
    """A connection to a lab's server. Use as a context manager."""

    def __init__(self, name: str | None) -> None:
        """Connect to the lab of that name, or to the only one. Raises LabsUpError, LiveError."""
        self.lab = labs_up.chosen(name)
        self.socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            self.socket.connect(labs_up.socket_path(self.lab))
        except OSError as error:
            self.socket.close()
            raise LiveError(f"{self.lab}: the lab does not answer: {error.strerror}") from None
        self._buffer = bytearray()
        self._waiting: list[bytes] = []
        self._sending = False

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, kind: int, data: bytes = b"") -> None:
        """Send a frame. A signal's handler may do so, too: it never comes in between.

        Where nobody takes it any more, what the server said last is still to be read: `receive` tells that it has gone.
        """
        self._waiting.append(client_frame(kind, data))
        if self._sending:
            return
        self._sending = True
        try:
            while self._waiting:
                self.socket.sendall(self._waiting.pop(0))
        except OSError:
            self._waiting.clear()
        finally:
            self._sending = False

    def receive(self) -> list[tuple[int, bytes]]:
        """Wait for frames, and return all that have come. Raises Gone at the end."""
        try:
            data = self.socket.recv(_READ_BYTES)
        except OSError:
            data = b""
        if not data:
            raise Gone(f"{self.lab}: the lab has gone down")
        self._buffer += data
        found = []
        while len(self._buffer) >= FRAME_BYTES:
            try:
                length, kind = parse_client_head(bytes(self._buffer[:FRAME_BYTES]))
            except WireError as error:
                raise LiveError(f"{self.lab}: the lab's server does not follow the protocol: {error}") from None
            end = FRAME_BYTES + length
            if len(self._buffer) < end:
                break
            found.append((kind, bytes(self._buffer[FRAME_BYTES:end])))
            del self._buffer[:end]
        return found


def ask(lab: str | None, question: dict[str, Any]) -> dict[str, Any]:
    """Ask a lab's server, wait for its answer and return it. Raises LiveError with the reason where it refuses."""
    with Connection(lab) as connection:
        connection.send(Input.OPEN, encode(question))
        while True:
            for kind, data in connection.receive():
                if kind == Output.ANSWER:
                    return {"lab": connection.lab, **decode(data)}
                if kind == Output.ERROR:
                    raise LiveError(failure_text(decode(data)))


def failure_text(error: dict[str, Any]) -> str:
    """Return an error's words, with the place in a file where there is one."""
    place = ":".join(str(error[key]) for key in ("file", "line") if error.get(key) is not None)
    words = " ".join(str(part) for part in (error.get("node"), place) if part)
    tried = f" `{error['text']}`" if error.get("text") else ""
    return f"{words}{tried}: {error.get('message', '')}" if words or tried else str(error.get("message", ""))


class Session:
    """A process, or a connection, in a node: what it is sent, what comes of it, and how it ends."""

    def __init__(self, connection: Connection, opening: dict[str, Any]) -> None:
        """Open it. Errors come with the first events."""
        self.connection = connection
        self.started = False
        self.status: str | None = None
        """How it ended, such as `exit 0`; None while it lasts."""
        self.room = 0
        """How many bytes it may be sent now; none before it has started."""
        self._consumed = 0
        connection.send(Input.OPEN, encode({"do": "open", **opening}))

    def send(self, data: bytes) -> None:
        """Send bytes for its standard input, no more than there is room for."""
        self.room -= len(data)
        self.connection.send(Input.DATA, data)

    def finish(self) -> None:
        """End its standard input."""
        self.connection.send(Input.EOF)

    def signal(self, signal_number: int) -> None:
        """Send a signal to the process group in the foreground."""
        self.connection.send(Input.SIGNAL, bytes([signal_number]))

    def resize(self, size: bytes) -> None:
        """Tell its terminal's size (`wire.window`)."""
        self.connection.send(Input.RESIZE, size)

    def receive(self) -> list[tuple[int, bytes]]:
        """Wait for output and return it: pairs of STDOUT or STDERR and bytes. Raises LiveError, Gone.

        `status` tells whether it was the last.
        """
        found = []
        for kind, data in self.connection.receive():
            if kind in (Output.STDOUT, Output.STDERR):
                found.append((kind, data))
            elif kind == Output.CREDIT:
                self.room += parse_number(data)
            elif kind == Output.STARTED:
                self.started, self.room = True, INPUT_CREDIT
            elif kind == Output.ENDED:
                self.status = str(decode(data).get("status", ""))
            elif kind == Output.ERROR:
                raise LiveError(failure_text(decode(data)))
        return found

    def consumed(self, length: int) -> None:
        """Say that so many bytes of output are done with: then it may send as many more."""
        self._consumed += length
        if self._consumed >= CREDIT_STEP and self.status is None:
            self.connection.send(Input.CREDIT, number(self._consumed))
            self._consumed = 0


def exit_status(status: str) -> int:
    """Return the exit status of a shell for how a process ended: `exit 3` is 3, `signal 9` is 137."""
    word, _, value = status.partition(" ")
    code = int(value.split()[0]) if value.split() and value.split()[0].isdigit() else 1
    return code if word == "exit" else 128 + code
