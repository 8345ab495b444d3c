"""The text of a device's configuration: its bytes as lines, and a command with the commands below it."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.lab.reading.problems import LabError, Place, Problems

LARGEST_BYTES = 8 * 2**20


@dataclass(frozen=True)
class Command:
    """One line, and what is below it."""

    line: int
    words: tuple[str, ...]
    below: tuple[Command, ...] = ()
    size: int = 1
    """Lines, with all that is below."""

    @property
    def text(self) -> str:
        """Return the command without its indentation."""
        return " ".join(self.words)

    def rest(self, *head: str) -> tuple[str, ...] | None:
        """Return the words after `head`; None for another command."""
        return self.words[len(head) :] if self.words[: len(head)] == head else None


def decoded(data: bytes, file: str, source: str) -> str:
    """Return a file's bytes as text; `source` says what it should hold. Raises LabError if it is not text, or too
    large."""
    problems = Problems()
    if len(data) > LARGEST_BYTES:
        problems.add(Place(file), "", f"more than {LARGEST_BYTES >> 20} MiB; a switch's configuration is smaller")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.add(
            Place(file, line), "", f"byte {data[error.start]:#04x} is not UTF-8; give the output of {source} as a text"
        )
        text = ""
    if not problems and not text.strip():
        problems.add(Place(file, 1), "", f"the file is empty; give the output of {source}")
    if problems:
        raise LabError(problems.found())
    return text
