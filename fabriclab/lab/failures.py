"""The `events` section of an experiment: links and nodes that go down and come back, rates, delays and losses that
change, hosts whose broken NICs pause their switch, at set times.

    events:
      spine-dies: {at: 1 s, node: spine1, action: down}
      cut:        {at: 2 s, link: 'leaf1:eth5', action: blackhole}
      slower:     {at: 3 s, link: 'leaf2:eth5', rate: 100 Mbps, loss: 0.1 %}
      storm:      {at: 4 s, node: h3, action: pause-storm, priorities: [3], until: 5 s}
      marks:      {at: 5 s, set: {switches.s1.ecn_threshold: 30 KB}}

A list of the same mappings does as well; its events are called 1, 2 and so on, and no setting reaches them.

An event with `enabled: false` does not happen, so that a variant or a matrix can choose among several. What it says is
checked all the same; how it fits the rest of the run, its limit and who takes pauses, where it does happen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from fabriclab.formats.names import NODE_NAME
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab import event_keys as keys
from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.reading.section import Section, Written, value_of
from fabriclab.lab.switch.pfc import read_priorities
from fabriclab.units import format_duration

T = TypeVar("T")
_STORM_KEYS = ("priorities", "until")
_SET = "set"
_CHANGES = ("rate", "delay", "loss")


@dataclass(frozen=True)
class WrittenEvent:
    """An event as written: one of `link` (one of its ports) and `node`, with an action or changes; or settings."""

    name: str
    at_ns: int
    link: str | None
    node: str | None
    action: str | None
    rate_bps: int | None
    delay_ns: int | None
    loss_ppm: int | None
    settings: Mapping[str, ScalarValue] = field(default_factory=dict)
    """What the experiment says otherwise from then on, by dotted key."""


@dataclass(frozen=True)
class WrittenPauseStorm:
    """A host that pauses its switch from one time to another."""

    name: str
    at_ns: int
    until_ns: int
    host: str
    priorities: Written[tuple[int, ...]]


@dataclass(frozen=True)
class WrittenEvents:
    """The events that happen, in the order of time."""

    changes: tuple[WrittenEvent, ...]
    pause_storms: tuple[WrittenPauseStorm, ...]


def read_events(root: Section, names: Names, limit_ns: int) -> WrittenEvents:
    """Return the events; what is wrong is recorded."""
    changes: list[WrittenEvent] = []
    storms: list[WrittenPauseStorm] = []
    for name, key, value in _named(root):
        if not NODE_NAME.is_in(name):
            root.problems.add(
                value.place, key, f"{shown(name)} cannot name an event; write letters, digits, '-' and '_'", name
            )
        section = Section(value, key, root.problems, keys.EVENT_KEYS)
        enabled = section.read(keys.ENABLED)
        happens = enabled is None or enabled.value
        event = _read_event(name, section, names, limit_ns if happens else None)
        if not happens:
            continue
        if isinstance(event, WrittenPauseStorm):
            storms.append(event)
        elif event is not None:
            changes.append(event)
    return WrittenEvents(tuple(sorted(changes, key=_time)), tuple(sorted(storms, key=_time)))


def read_link_event(port: str, words: Mapping[str, ScalarValue], names: Names) -> WrittenEvent:
    """Return what is to happen at once to a link, as an event says it: `action`, or `rate`, `delay`, `loss`.

    Raises LabError.
    """
    problems = Problems()
    place = next((value.place for value in words.values()), Place(f"link {port}"))
    entries = {"at": ScalarValue("0 s", place), "link": ScalarValue(port, place), **words}
    section = Section(MappingValue(entries, {}, place), f"link {port}", problems, keys.EVENT_KEYS)
    event = _read_event("link", section, names, None)
    problems.raise_if_any()
    assert isinstance(event, WrittenEvent)
    return event


def _time(event: WrittenEvent | WrittenPauseStorm) -> int:
    return event.at_ns


def _named(root: Section) -> Iterator[tuple[str, str, Value]]:
    value = root.get("events")
    if isinstance(value, SequenceValue):
        for number, item in enumerate(value.items, 1):
            yield str(number), f"events[{number - 1}]", item
    elif value is not None:
        section = Section(value, "events", root.problems, None)
        for name, entry in section.mapping.entries.items():
            yield name, section.path(name), entry


def _read_event(
    name: str, section: Section, names: Names, limit_ns: int | None
) -> WrittenEvent | WrittenPauseStorm | None:
    """Return an event; None after recording what is wrong. `limit_ns` is None for one that does not happen."""
    section.require("at", example="at: 1 s")
    at = section.read(keys.AT)
    if at is not None and limit_ns is not None and at.value >= limit_ns:
        at.complain(
            section.problems,
            f"{shown(at.text)} is not before the limit of the run, {format_duration(limit_ns)}; it would not happen",
        )
    if _SET in section:
        return _read_settings(name, section, at)
    link, node = _place(section, names)
    if "link" in section and _text(section, "action") == keys.PAUSE_STORM:
        section.complain("action", "a host starts a pause storm; write node: instead of link:")
        return None
    action = section.value("action", keys.NODE_ACTIONS if node is not None else keys.LINK_ACTIONS)
    rate = section.read(keys.RATE_FROM_THEN)
    delay = section.read(keys.DELAY_FROM_THEN)
    loss = section.read(keys.LOSS)
    _check_effect(section)
    if action is not None and action.value == keys.PAUSE_STORM:
        return None if at is None or node is None else _read_storm(name, section, at, node, names, limit_ns)
    for key in _STORM_KEYS:
        if key in section:
            section.complain(key, f"belongs to a pause storm; write action: {keys.PAUSE_STORM}, or leave it out")
    if at is None or (link is None and node is None):
        return None
    return WrittenEvent(
        name=name,
        at_ns=at.value,
        link=value_of(link),
        node=value_of(node),
        action=value_of(action),
        rate_bps=value_of(rate),
        delay_ns=value_of(delay),
        loss_ppm=value_of(loss),
    )


def _read_settings(name: str, section: Section, at: Written[int] | None) -> WrittenEvent | None:
    """Return an event of settings; None after recording what is wrong. What they lead to is read later."""
    for key in section.names():
        if key in keys.EVENT_KEYS and key not in ("at", "enabled", _SET):
            section.complain(key, "conflicts with set; write two events")
    below = section.section(_SET, None)
    if below is None:
        return None
    settings: dict[str, ScalarValue] = {}
    for key, value in below.mapping.entries.items():
        if isinstance(value, ScalarValue) and not value.is_null:
            settings[key] = value
        else:
            below.complain(
                key, "write one value, as on a command line; separate the words of a list with commas: '3, 4'"
            )
    if not below.mapping.entries:
        section.complain(_SET, "nothing is set; write keys with their values: {switches.s1.ecn_threshold: 30 KB}")
    if at is None or not settings:
        return None
    return WrittenEvent(name, at.value, None, None, None, None, None, None, settings)


def _read_storm(
    name: str, section: Section, at: Written[int], node: Written[str], names: Names, limit_ns: int | None
) -> WrittenPauseStorm | None:
    """Return a pause storm; None after recording what is wrong."""
    section.require("priorities", example="priorities: [3]")
    section.require("until", example="until: when it ends, such as 600 ms")
    priorities = read_priorities(section)
    until = section.read(keys.UNTIL)
    if node.value not in names.hosts:
        node.complain(section.problems, f"{shown(node.value)} is not a host; {did_you_mean(node.value, names.hosts)}")
    if until is not None and until.value <= at.value:
        until.complain(section.problems, f"{shown(until.text)} is not after the start, {at.text}")
    elif until is not None and limit_ns is not None and until.value > limit_ns:
        until.complain(
            section.problems, f"{shown(until.text)} is after the limit of the run, {format_duration(limit_ns)}"
        )
    if priorities is None or until is None or node.value not in names.hosts:
        return None
    return WrittenPauseStorm(name, at.value, until.value, node.value, priorities)


def _place(section: Section, names: Names) -> tuple[Written[str] | None, Written[str] | None]:
    """Return what the event is of: a link, by one of its ports, or a node."""
    if ("link" in section) == ("node" in section):
        section.problems.add(
            section.place,
            section.key,
            "an event is about a link, a node or settings: write one of link: 'leaf1:eth3', node: spine1, set: {...}",
        )
    nodes = (*names.switches, *names.hosts)

    def port(text: str) -> str:
        if names.complete and text not in names.ports:
            raise ValueError(f"{shown(text)} is not a port; {did_you_mean(text, names.ports)}")
        return text

    def node(text: str) -> str:
        if text not in nodes:
            raise ValueError(f"{shown(text)} is not a node; {did_you_mean(text, nodes)}")
        return text

    return section.convert("link", "one of the link's ports, such as leaf1:eth3", port), section.convert(
        "node", "a node's name", node
    )


def _check_effect(section: Section) -> None:
    changes = [key for key in _CHANGES if key in section]
    if "action" not in section and not changes:
        section.problems.add(
            section.place, section.key, f"nothing happens; write action: down, or one of {', '.join(_CHANGES)}"
        )
    if "node" in section and changes:
        section.complain(changes[0], "a node has no rate, delay or loss; name a link")
    if "action" in section and changes:
        section.complain(changes[0], "conflicts with an action; write two events")


def _text(section: Section, name: str) -> str:
    value = section.get(name)
    return value.text.strip() if isinstance(value, ScalarValue) else ""
