"""The recording of a live lab: `session.jsonl` in its run directory.

The first line says what ran (`Header`). Then there is a line for each input, written when the machine has taken it and
before the next is sent: its place (`events`, `t_ns`), session, kind, data, and a digest of all that the machine wrote
before. Kind `nap` is not an input: a program that never slept was made to. The last line says how far the recording
goes. A server that was killed leaves no such line, and the others are valid.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fabriclab.errors import FabriclabError
from fabriclab.files import naming
from fabriclab.formats.live import SESSION_FILE, SESSION_FORMAT, Input
from fabriclab.live.wire import Frame

_LONGEST_LINE = 1 << 20
_NAP = "nap"


class RecordingError(FabriclabError):
    """A recording can't be used; the text says why."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a recording was made with: another run of the same can take its inputs."""

    format: str = SESSION_FORMAT
    version: str
    """fabriclab's."""
    lab: str
    lab_directory: str
    seed: int
    idle: bool
    """Whether the lab's own traffic was left out."""
    artefacts: Mapping[str, str]
    """The hash of what each artefact was made from."""
    plan_sha256: str
    """Of the run directory's plan.json."""


@dataclass(frozen=True)
class Taken:
    """An input that the machine took: after how many timer events, and at which instant since it was switched on."""

    events: int
    t_ns: int
    frame: Frame
    outputs: str
    """The digest of all that the machine wrote before."""


@dataclass(frozen=True)
class Nap:
    """A program that never slept was made to: at its place, which is that of an input and `calls`."""

    events: int
    t_ns: int
    calls: int
    """How often a program had gone on in user mode since the machine was last idle."""
    length_ns: int
    ticks: int
    """For how many of the machine's ticks, tenths of a second, it had computed since then."""
    program: str
    node: str
    outputs: str
    """The digest of all that the machine wrote before."""


@dataclass
class Outputs:
    """A digest of what a machine wrote, and how many bytes that was."""

    size: int = 0
    _hash: Any = field(default_factory=hashlib.sha256, repr=False)

    def add(self, payload: bytes) -> None:
        """Take an output."""
        self._hash.update(len(payload).to_bytes(4, "little"))
        self._hash.update(payload)
        self.size += len(payload)

    @property
    def digest(self) -> str:
        """The digest of all so far."""
        return str(self._hash.hexdigest()[:16])


def is_down(frame: Frame) -> bool:
    """Return whether an input ends the lab."""
    return frame.kind == Input.OPEN and frame.data.startswith(b'{"down"')


class Recorder:
    """Writes a recording. Every line is with the system before the next input is sent, whoever is killed then."""

    def __init__(self, directory: Path, header: Header) -> None:
        """Begin it. Raises OSError that names the file."""
        self._path = directory / SESSION_FILE
        with naming(self._path):
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
            self._write(asdict(header))

    def took(self, taken: Taken) -> None:
        """Write an input down. Raises OSError that names the file."""
        session, kind, data = taken.frame
        text: dict[str, Any] = {"events": taken.events, "t_ns": taken.t_ns, "outputs": taken.outputs}
        text |= {"session": session, "kind": Input(kind).name.lower()}
        try:
            text["text"] = data.decode("utf-8")
        except UnicodeDecodeError:
            text["base64"] = base64.b64encode(data).decode()
        with naming(self._path):
            self._write(text)

    def napped(self, nap: Nap) -> None:
        """Write down that a program was made to sleep. Raises OSError that names the file."""
        with naming(self._path):
            self._write({"kind": _NAP, **asdict(nap)})

    def end(self, outputs: Outputs) -> None:
        """Write down how far the recording goes. Raises OSError that names the file."""
        with naming(self._path):
            self._write({"end": True, "outputs": outputs.digest, "size": outputs.size})

    def close(self) -> None:
        """Close the file; more cannot be written."""
        os.close(self._file)

    def _write(self, data: Mapping[str, Any]) -> None:
        view = memoryview(json.dumps(data, ensure_ascii=False).encode(errors="surrogateescape") + b"\n")
        while view:
            view = view[os.write(self._file, view) :]


@dataclass(frozen=True)
class Recording:
    """A recording that was read."""

    header: Header
    history: tuple[Taken | Nap, ...]
    outputs: str | None
    """The digest of all that the machine wrote; None where the recording has no end."""

    @property
    def inputs(self) -> tuple[Taken, ...]:
        """What the machine took."""
        return tuple(each for each in self.history if isinstance(each, Taken))


def read_recording(directory: Path) -> Recording:
    """Return the recording of a run directory; a last line that was cut is left out.

    Raises RecordingError that names file and line, OSError.
    """
    path = directory / SESSION_FILE
    if not path.is_file():
        raise RecordingError(f"{directory} has no {SESSION_FILE}; name the run directory of a lab that was up")
    lines = _lines(path)
    try:
        _, first = next(lines)
    except StopIteration:
        raise RecordingError(f"{path}: is empty: the lab was never up") from None
    header = _header(path, first)
    history: list[Taken | Nap] = []
    outputs = None
    for number, line in lines:
        if line.get("end"):
            outputs = str(line.get("outputs"))
            break
        history.append(_entry(path, number, line))
    return Recording(header, tuple(history), outputs)


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            if not line.endswith(b"\n"):
                if len(line) == _LONGEST_LINE:
                    raise RecordingError(f"{path}:{number}: the line has more than {_LONGEST_LINE} bytes")
                return
            try:
                found = json.loads(line)
            except ValueError as error:
                raise RecordingError(f"{path}:{number}: is not JSON: {error}") from None
            if not isinstance(found, dict):
                raise RecordingError(f"{path}:{number}: is not an object")
            yield number, found


def _header(path: Path, line: Mapping[str, Any]) -> Header:
    if line.get("format") != SESSION_FORMAT:
        raise RecordingError(f"{path}:1: the format is {line.get('format')!r}; this version reads {SESSION_FORMAT}")
    try:
        return Header(**line)
    except TypeError as error:
        raise RecordingError(f"{path}:1: {error}") from None


def _entry(path: Path, number: int, line: Mapping[str, Any]) -> Taken | Nap:
    try:
        if line["kind"] == _NAP:
            names = ("events", "t_ns", "calls", "length_ns", "ticks")
            events, t_ns, calls, length_ns, ticks = (int(line[name]) for name in names)
            program, node, outputs = (str(line[name]) for name in ("program", "node", "outputs"))
            return Nap(events, t_ns, calls, length_ns, ticks, program, node, outputs)
        kind = Input[str(line["kind"]).upper()]
        data = str(line["text"]).encode() if "text" in line else base64.b64decode(line["base64"], validate=True)
        return Taken(
            int(line["events"]), int(line["t_ns"]), Frame(int(line["session"]), kind, data), str(line["outputs"])
        )
    except (KeyError, ValueError, TypeError) as error:
        raise RecordingError(f"{path}:{number}: the line is not an input: {type(error).__name__}: {error}") from None
