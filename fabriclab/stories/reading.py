"""Reads a story: every mistake recorded with file, line, value and what would be right."""

from __future__ import annotations

from fabriclab.errors import ArgumentError
from fabriclab.formats.speed import parse_speed
from fabriclab.lab import Lab
from fabriclab.lab.reading.document import MappingValue, ScalarValue, Value
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section, Written, value_of, value_or
from fabriclab.stories.actions import ActionReader
from fabriclab.stories.keys import IDLE, SPEED, STEP, STORY, TITLE, UP, WORDS
from fabriclab.stories.settings import check_settings, read_settings
from fabriclab.stories.story import Action, Step, Story

MOST_STEPS = 200
MOST_WORDS = 4000


class StoryReader:
    """Reads the stories of one lab, and records what is wrong with them."""

    def __init__(self, lab: Lab, problems: Problems) -> None:
        self._lab = lab
        self._problems = problems

    def read(self, name: str, document: MappingValue) -> Story | None:
        """Return the story of a file; None after recording what is wrong."""
        before = len(self._problems)
        root = Section(document, "", self._problems, STORY.names)
        root.require("title", "steps")
        title = root.read(TITLE)
        up = root.section("up", UP.names)
        settings = {} if up is None else self._settings(up)
        speed = None if up is None else self._speed(up)
        is_idle = up is not None and value_or(up.read(IDLE), False)
        actions = ActionReader(self._lab, self._problems, settings)
        items = root.items("steps") or []
        if "steps" in root and not items:
            root.complain("steps", "has no step; write `- title: ...` with `words:` and `do:`")
        if len(items) > MOST_STEPS:
            root.complain("steps", f"has {len(items)} steps; a story has at most {MOST_STEPS}")
        steps = tuple(self._step(value, key, actions) for key, value in items[:MOST_STEPS])
        if len(self._problems) > before or title is None:
            return None
        return Story(name, title.value, steps, settings, value_of(speed), is_idle)

    def _settings(self, up: Section) -> dict[str, ScalarValue]:
        found = read_settings(up, "set") if "set" in up else {}
        return found if check_settings(self._lab, found, self._problems) else {}

    def _speed(self, up: Section) -> Written[str] | None:
        written = up.read(SPEED)
        if written is not None:
            try:
                parse_speed(written.value)
            except ArgumentError as error:
                written.complain(self._problems, error.spelled("{}".format))
        return written

    def _step(self, value: Value, key: str, actions: ActionReader) -> Step:
        section = Section(value, key, self._problems, STEP.names)
        section.require("title")
        title, words = section.read(TITLE), section.read(WORDS)
        if words is not None and len(words.value) > MOST_WORDS:
            section.complain("words", f"has {len(words.value)} characters; a step has at most {MOST_WORDS}")
        done: list[Action] = []
        for place, item in section.items("do") or []:
            action = actions.read(item, place)
            done += [] if action is None else [action]
        return Step("" if title is None else title.value, value_or(words, ""), tuple(done))
