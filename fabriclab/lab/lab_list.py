"""The labs of a directory, each with what it asks: enough to choose one by,
read from `experiment.yml` without checking the rest of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fabriclab.lab import experiment
from fabriclab.lab.network import topology
from fabriclab.lab.reading.document import ScalarValue, read_document
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import first_line


@dataclass(frozen=True)
class ListedLab:
    """What is told of a lab in a list. None: the lab does not say."""

    directory: Path
    question: str | None
    study: str | None
    minutes: float | None
    """How many minutes the first matrix takes one CPU, as measured; None: the lab does not say."""
    problem: str | None
    """Why nothing could be read."""


def is_lab(directory: Path) -> bool:
    """Return whether a directory holds a lab's topology."""
    return (directory / topology.FILE_NAME).is_file()


def labs_in(directory: Path) -> list[Path]:
    """Return the labs right below a directory, by name; none where it cannot be looked into."""
    try:
        return sorted(child for child in directory.iterdir() if is_lab(child))
    except OSError:
        return []


def list_lab(directory: Path) -> ListedLab:
    """Return what a lab says of itself; a file that cannot be read is told, not raised."""
    problems = Problems()
    document = read_document(directory / experiment.FILE_NAME, problems)
    if document is None:
        return ListedLab(directory, None, None, None, "; ".join(problem.message for problem in problems.found()))
    texts = {
        key: first_line(value.text)
        for key, value in document.entries.items()
        if isinstance(value, ScalarValue) and not value.is_null
    }
    return ListedLab(
        directory, texts.get("question", texts.get("title")), texts.get("study"), _minutes(texts.get("minutes")), None
    )


def _minutes(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None  # `check` says what is wrong with it
