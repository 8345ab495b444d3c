"""The way from one version of a fabric to the next: one switch after the other, each state in between judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from fabriclab.cli.host.failure import BadInputError
from fabriclab.keys.wording import did_you_mean, listed
from fabriclab.lab import LabError
from fabriclab.units import format_count
from fabriclab.vendors.sonic.fabric import judge_files
from fabriclab.vendors.sonic.fabric.reach import Reach
from fabriclab.vendors.sonic.fabric.routing import routings
from fabriclab.vendors.sonic.fabric.view import View, read_view
from fabriclab.vendors.sonic.fabric.vrf_view import by_vrf, switch_of
from fabriclab.vendors.sonic.lab.cabling import Cable

_MOST_SHOWN = 3


class Pair(NamedTuple):
    """A switch, and a network of hosts that it should reach."""

    source: str
    network: str
    owner: str


class Contradiction(NamedTuple):
    """An error between the files of a state."""

    switch: str
    rule: str
    where: str
    text: str


@dataclass(frozen=True)
class Step:
    """A switch that gets its new file, and what is wrong then that is wrong neither before all nor after all."""

    switch: str
    what: str
    """changed, added or removed."""
    errors: tuple[str, ...]
    lost: tuple[Pair, ...]
    """Pairs that reach each other in both versions, and not after this step."""
    meanwhile: tuple[Pair, ...]
    """Pairs of other switches that do not while the switch is down, as `config reload` has it."""

    @property
    def is_safe(self) -> bool:
        """Whether nothing is worse after it than in both versions."""
        return not (self.errors or self.lost)


@dataclass(frozen=True, eq=False)
class _State:
    """A mixture of both versions."""

    files: Mapping[str, Path]
    cables: Sequence[Cable]

    @cached_property
    def view(self) -> View | str:
        """The fabric, or why there is none."""
        try:
            return by_vrf(read_view(list(self.files.values()), self.cables))
        except LabError as error:
            return str(error.mistakes[0]) if error.mistakes else str(error)

    @cached_property
    def contradictions(self) -> dict[tuple[str, str, str], str]:
        names = {str(path): name for name, path in self.files.items()}
        found = judge_files(list(self.files.values()), (), self.cables).findings
        every = (
            Contradiction(names[file], one.rule, one.where, one.sentence)
            for file, findings in found.items()
            for one in findings
            if one.severity == "error"
        )
        return {(one.switch, one.rule, one.where): f"{one.switch}: {one.rule}: {one.text}" for one in every}

    @cached_property
    def reached(self) -> frozenset[Pair]:
        return self.reached_without("")

    def reached_without(self, switch: str) -> frozenset[Pair]:
        """Return the pairs all of whose paths arrive while a switch is down; its own are left out."""
        if isinstance(self.view, str):
            return frozenset()
        dead = frozenset(end for link in self.view.links for end in link.ends if switch_of(end.switch) == switch)
        both = frozenset(end for link in self.view.links if any(one in dead for one in link.ends) for end in link.ends)
        reach = Reach(routings(self.view, both))
        with_hosts = {(one.owner, one.network.version) for one in reach.destinations if not one.is_loopback}
        return frozenset(
            Pair(way.source, str(way.destination.network), way.destination.owner)
            for way in reach.ways()
            if (way.source, way.destination.network.version) in with_hosts
            if not way.destination.is_loopback and way.fate.lost is None
            if switch not in (switch_of(way.source), switch_of(way.destination.owner))
        )


@dataclass(frozen=True, eq=False)
class Rollout:
    """The states between two versions of a fabric, whose files are given by the hostnames of switches."""

    old: Mapping[str, Path]
    new: Mapping[str, Path]
    changed: Sequence[str]
    """The switches whose files differ, that are added or removed."""
    cables: Sequence[Cable] = ()

    @cached_property
    def _ends(self) -> tuple[_State, _State]:
        return self._state(self.old), self._state(self.new)

    @cached_property
    def _known(self) -> dict[frozenset[tuple[str, Path]], _State]:
        return {}

    def _state(self, files: Mapping[str, Path]) -> _State:
        """Return a state, the same one each time that it is asked for: the state after a step is the one before the
        next."""
        return self._known.setdefault(frozenset(files.items()), _State(files, self.cables))

    def in_order(self, words: Sequence[str]) -> tuple[Step, ...]:
        """Return the steps in an order; switches that it does not name come last. Raises BadInputError."""
        for word in words:
            if word not in self.changed:
                raise BadInputError(f"--order {word!r}: no switch that changes; {did_you_mean(word, self.changed)}")
        order = dict.fromkeys([*words, *self.changed])
        files, steps = dict(self.old), []
        for name in order:
            step, files = self._step(files, name)
            steps.append(step)
        return tuple(steps)

    def found(self) -> tuple[Step, ...]:
        """Return steps in an order that is found: at each state the first switch with which nothing is worse."""
        files, left, steps = dict(self.old), list(self.changed), []
        while left:
            step, files = self._next(files, left)
            left.remove(step.switch)
            steps.append(step)
        return tuple(steps)

    def _next(self, files: Mapping[str, Path], left: Sequence[str]) -> tuple[Step, dict[str, Path]]:
        """Return the first safe step with the files after it; without one, the first that loses nothing; else the
        first."""
        tried = []
        for name in left:
            tried.append(self._step(files, name))
            if tried[-1][0].is_safe:
                return tried[-1]
        return next((one for one in tried if not one[0].lost), tried[0])

    def _step(self, files: Mapping[str, Path], name: str) -> tuple[Step, dict[str, Path]]:
        following = {one: path for one, path in files.items() if one != name}
        if name in self.new:
            following[name] = self.new[name]
        before, after = self._ends
        state = self._state(following)
        errors = [] if not isinstance(state.view, str) or isinstance(after.view, str) else [state.view]
        known = before.contradictions.keys() | after.contradictions.keys()
        errors += [text for key, text in state.contradictions.items() if key not in known]
        both = before.reached & after.reached
        lost = both - state.reached
        was = self._state(files)
        others = frozenset(pair for pair in both & was.reached if name not in map(switch_of, (pair.source, pair.owner)))
        meanwhile = others - was.reached_without(name)
        what = "changed" if name in files and name in self.new else "added" if name in self.new else "removed"
        return Step(name, what, tuple(errors), tuple(sorted(lost)), tuple(sorted(meanwhile))), following


def rollout_lines(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the steps, each with what is wrong after it."""
    bad = [step for step in steps if not step.is_safe]
    found = "each state in between is sound" if not bad else f"{format_count(len(bad), 'state')} in between not sound"
    yield f"rollout: {format_count(len(steps), 'step')}, {found}"
    for number, step in enumerate(steps, start=1):
        yield f"  {number}. {step.switch} ({step.what}): {'sound' if step.is_safe else 'not sound'}"
        yield from (f"       {error}" for error in step.errors[:_MOST_SHOWN])
        if step.lost:
            yield f"       lost: {pairs_text(step.lost)}"
        if step.meanwhile:
            yield f"       lost while {step.switch} is down: {pairs_text(step.meanwhile)}"


def pairs_text(pairs: Sequence[Pair]) -> str:
    """Return a few pairs in words, and how many there are."""
    more = f" and {len(pairs) - _MOST_SHOWN} more" if len(pairs) > _MOST_SHOWN else ""
    return listed(f"{one.source} to {one.network} ({one.owner})" for one in pairs[:_MOST_SHOWN]) + more
