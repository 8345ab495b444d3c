"""A story as it was read: what the lab comes up with, and the steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabriclab.lab.reading.document import ScalarValue
from fabriclab.stories.keys import CHOOSE


@dataclass(frozen=True)
class Action:
    """One thing that a step does."""

    words: str
    """As it is shown, such as `start sru`."""
    question: Mapping[str, Any]
    """What a live lab's server is asked for."""

    @property
    def chosen(self) -> str | None:
        """The port or node that is looked at; None for an action of the lab."""
        return str(self.question["place"]) if self.question["do"] == CHOOSE else None


@dataclass(frozen=True)
class Step:
    """A step: what is said, then what is done."""

    title: str
    words: str
    actions: tuple[Action, ...]


@dataclass(frozen=True)
class Story:
    """A story. Time stands still at the lab's start until the first step lets it go."""

    name: str
    title: str
    steps: tuple[Step, ...]
    settings: Mapping[str, ScalarValue] = field(default_factory=dict)
    """What is set when the lab comes up, each with its place."""
    speed: str | None = None
    is_idle: bool = False
    """Whether the lab's own traffic is left out."""

    def as_data(self) -> dict[str, Any]:
        """Return the story as plain data, for whoever shows it."""
        return {
            "name": self.name,
            "title": self.title,
            "steps": [
                {
                    "title": step.title,
                    "words": step.words,
                    "do": [action.words for action in step.actions],
                    "choose": [action.chosen for action in step.actions if action.chosen is not None],
                }
                for step in self.steps
            ],
        }
