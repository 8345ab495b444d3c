"""Stories of a live lab: the questions `stories`, `story`, `play` and `until`.

The server keeps the place in each story, so that whoever shows it, the page or a terminal, goes on from the same step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabriclab.errors import FabriclabError
from fabriclab.files import explain
from fabriclab.lab import Lab as WrittenLab
from fabriclab.live.breaks import Breaks
from fabriclab.live.clients import Refused
from fabriclab.live.running import Running
from fabriclab.live.server import Server
from fabriclab.stories import Action, Story, find_story, story_files
from fabriclab.units import format_count


@dataclass
class _Place:
    """How far a story has been played."""

    step: int = 0
    action: int = 0
    """So many actions of the step are done: where one was refused, the next try begins with it."""


class Storytelling:
    """The stories of one lab."""

    def __init__(self, server: Server, running: Running, breaks: Breaks) -> None:
        """Take the questions of a server."""
        self._server = server
        self._running = running
        self._breaks = breaks
        self._places: dict[str, _Place] = {}
        self._played: str | None = None
        """The story of which a step is being played."""
        answers = {"stories": self._stories, "story": self._story, "play": self._play, "until": self._until}
        for name, answer in answers.items():
            server.answer(name, answer)

    # -- What there is ------------------------------------------------------------------------------------------------

    async def _stories(self, _: dict[str, Any]) -> dict[str, Any]:
        return await asyncio.to_thread(self._read_all)

    def _read_all(self) -> dict[str, Any]:
        """Return every story as its file is now, so that its author need not bring the lab up again."""
        chosen = self._running.wanted.story
        names = list(story_files(self._lab.directory))
        names += [chosen] if chosen is not None and chosen not in names else []
        return {"stories": [self._told(name) for name in names], "chosen": chosen}

    def _told(self, name: str) -> dict[str, Any]:
        try:
            return {**self._find(name).as_data(), "name": name, "problem": None}
        except (FabriclabError, OSError) as error:
            problem = explain(error) if isinstance(error, OSError) else str(error)
            return {"name": name, "title": name, "steps": [], "problem": problem}

    def _find(self, name: str) -> Story:
        return find_story(self._lab, name)

    @property
    def _lab(self) -> WrittenLab:
        lab = self._running.wanted.lab
        assert lab is not None, "a replay has no clients"
        return lab.written

    async def _story(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"steps": {name: place.step for name, place in self._places.items()}, "playing": self._played}

    # -- A step -------------------------------------------------------------------------------------------------------

    async def _play(self, asked: dict[str, Any]) -> dict[str, Any]:
        name, number = str(asked.get("story")), asked.get("step")
        if self._played is not None:
            raise Refused(f"a step of the story {self._played} is being played; `pause` ends it")
        story = await asyncio.to_thread(self._find_known, name)
        place = self._places.setdefault(name, _Place())
        if number != place.step or place.step >= len(story.steps):
            at = f"step {place.step + 1} is next" if place.step < len(story.steps) else "the story is at its end"
            raise Refused(f"{story.title}: {at}")
        self._played = name
        try:
            told = [
                line
                for action in story.steps[place.step].actions[place.action :]
                for line in await self._do(action, place)
            ]
        finally:
            self._played = None
        place.step, place.action = place.step + 1, 0
        return {"told": told, "step": place.step, **await self._server.ask({"do": "state"})}

    def _find_known(self, name: str) -> Story:
        """Return a story of the lab's own, or that which it came up with: no other file is opened for a client."""
        if name not in story_files(self._lab.directory) and name != self._running.wanted.story:
            raise Refused(f"{name!r}: the lab has no such story")
        return self._find(name)

    async def _do(self, action: Action, place: _Place) -> list[str]:
        if action.chosen is None:
            try:
                answer = await self._server.ask(action.question)
            except FabriclabError as error:
                raise Refused(f"`{action.words}`: {error}") from None
        place.action += 1
        return [] if action.chosen is not None else _told_of(action, answer)

    # -- Until --------------------------------------------------------------------------------------------------------

    async def _until(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Let time go on until a condition is true or until a virtual time, and stop there."""
        at_ns = asked.get("at_ns")
        if isinstance(at_ns, int):
            await self._until_time(at_ns)
        else:
            await self._until_condition(str(asked.get("condition")))
        return await self._server.ask({"do": "state"})

    async def _until_time(self, at_ns: int) -> None:
        machine = self._running.virtual_machine
        left_ns = at_ns - (await machine.stop() - self._running.epoch_ns)
        if left_ns <= 0:
            raise Refused(f"{at_ns / 1e9:g} s is over: it is {(at_ns - left_ns) / 1e9:g} s")
        await machine.step(left_ns)

    async def _until_condition(self, condition: str) -> None:
        machine = self._running.virtual_machine
        number = self._breaks.add(self._breaks.parse(condition))
        try:
            await machine.go_on_until_stopped()
            if self._breaks.why_stopped() is None:
                raise Refused("time was paused before this was true")
        finally:
            self._breaks.remove(number)


def _told_of(action: Action, answer: Mapping[str, Any]) -> list[str]:
    """Return what came of an action, a line each."""
    if "changes" in answer:
        return list(answer["changes"])
    if action.question["do"] in ("until", "step", "pause"):
        why = f": {answer['stopped']}" if answer.get("stopped") else ""
        return [f"time stands at {answer['now_ns'] / 1e9:.9f} s{why}"]
    if "flows" in answer:
        return [f"{action.words}: {format_count(answer['flows'], 'flow')}"]
    return [action.words]
