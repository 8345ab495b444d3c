"""The files of a lab's stories: `stories/NAME.yml` beside the lab's two files.

A folder and not one file: a lab may have several stories, and runs keep what lies beside a lab's two files, so a file
there would make another run of the same lab.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from fabriclab.errors import ArgumentError
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab import Lab
from fabriclab.lab.reading.document import read_document
from fabriclab.lab.reading.files import MissingError, UnreadableError, list_lab_directory
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.stories.reading import StoryReader
from fabriclab.stories.story import Story

DIRECTORY = "stories"
_ENDING = ".yml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")


def story_files(lab: Path, problems: Problems | None = None) -> dict[str, Path]:
    """Return the files of a lab's stories by their names; what lies there and is none is recorded."""
    found: dict[str, Path] = {}
    problems = Problems() if problems is None else problems
    try:
        names = list_lab_directory(lab, DIRECTORY)
    except MissingError:
        return found
    except UnreadableError as error:
        problems.add(Place(str(lab / DIRECTORY)), "", str(error))
        return found
    for name in names:
        path = lab / DIRECTORY / name
        stem, ending = path.stem, path.suffix
        if ending == ".yaml" or (ending == _ENDING and not _NAME.fullmatch(stem)):
            message = "a story is a file NAME.yml, its name of letters, digits, '-' and '_'; rename it"
            problems.add(Place(str(path)), "", message, name)
        elif ending == _ENDING:
            found[stem] = path
    return found


def read_stories(lab: Lab) -> list[Story]:
    """Return a lab's stories. Raises LabError with everything that is wrong in them."""
    problems = Problems()
    stories = [_read(lab, name, path, problems) for name, path in story_files(lab.directory, problems).items()]
    problems.raise_if_any()
    return [story for story in stories if story is not None]


def find_story(lab: Lab, name: str) -> Story:
    """Return the story of this name, or of this file, wherever it lies.

    Raises ArgumentError where there is none, LabError with everything that is wrong in it.
    """
    problems = Problems()
    own: Mapping[str, Path] = story_files(lab.directory)
    path = own.get(name)
    if path is None and not name.endswith((_ENDING, ".yaml")):
        hint = did_you_mean(name, own) if own else f"{shown(str(lab.directory))} has no stories; name a file"
        raise ArgumentError("{story} {0!r}: the lab has no such story; {1}", name, hint)
    story = _read(lab, Path(name).stem, path or Path(name), problems, named=path is None)
    problems.raise_if_any()
    assert story is not None, "a file that cannot be read leaves a problem"
    return story


def story_name(lab: Path, given: str) -> str:
    """Return the name of a lab's own story for its file's path; anything else as it is given."""
    path = Path(given).resolve()
    return next((name for name, own in story_files(lab).items() if own.resolve() == path), given)


def _read(lab: Lab, name: str, path: Path, problems: Problems, *, named: bool = False) -> Story | None:
    document = read_document(path, problems, named=named)
    return None if document is None else StoryReader(lab, problems).read(name, document)
