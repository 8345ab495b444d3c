"""Reads what a step does: one action a line, with the words that commands of a live lab have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fabriclab.errors import ArgumentError
from fabriclab.formats.break_conditions import parse_condition
from fabriclab.formats.speed import parse_speed
from fabriclab.keys.values import Text
from fabriclab.keys.wording import did_you_mean, listed, shown
from fabriclab.lab import Lab, LabError
from fabriclab.lab.event_keys import LINK_ACTIONS
from fabriclab.lab.failures import read_link_event
from fabriclab.lab.hosts.keys import CONGESTION_CONTROLS
from fabriclab.lab.reading.document import MappingValue, ScalarValue, Value
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.reading.section import Section
from fabriclab.stories.keys import BARE, CHOOSE, MORE_KEYS, NODE_ACTIONS, SIZE_OF_FLOW, STEP_OF_TIME
from fabriclab.stories.settings import Settings, check_settings, check_settings_later, read_settings
from fabriclab.stories.story import Action
from fabriclab.units import UnitError, parse_duration


class ActionReader:
    """Reads the actions of one story, in their order: settings add up."""

    def __init__(self, lab: Lab, problems: Problems, settings: Settings) -> None:
        """Take what the lab comes up with."""
        self._lab = lab
        self._problems = problems
        self._settings = dict(settings)
        self._ports: dict[str, list[str]] = {node.name: [] for node in lab.topology.nodes}
        for port in lab.names.ports:
            node, _, interface = port.partition(":")
            self._ports[node].append(interface)
        self._readers: dict[str, Callable[[Section], Action | None]] = {
            **{"break": self._break, "until": self._until, "step": self._step, "speed": self._speed},
            **{"set": self._set, "start": self._traffic, "stop": self._traffic, CHOOSE: self._choose},
            **{"link": self._link, "node": self._node, "flow": self._flow},
        }

    def read(self, value: Value, key: str) -> Action | None:
        """Return an action; None after recording what is wrong."""
        if isinstance(value, ScalarValue) and value.text.strip() in BARE:
            return Action(value.text.strip(), BARE[value.text.strip()])
        if not isinstance(value, MappingValue):
            text = value.text if isinstance(value, ScalarValue) else ""
            hint = did_you_mean(text, (*BARE, *MORE_KEYS))
            self._problems.add(value.place, key, f"{shown(text)} is no action; {hint}", text)
            return None
        kinds = [name for name in value.entries if name in MORE_KEYS]
        if len(kinds) != 1:
            known = listed((*BARE, *MORE_KEYS))
            first = next(iter(value.entries), "")
            said = "an action has one of these words" if kinds else f"{shown(first)} is no action"
            self._problems.add(value.place, key, f"{said}; valid here: {known}", first)
            return None
        section = Section(value, key, self._problems, (kinds[0], *MORE_KEYS[kinds[0]]))
        return self._readers[kinds[0]](section)

    # -- Time ---------------------------------------------------------------------------------------------------------

    def _condition(self, text: str) -> str:
        try:
            return parse_condition(text, self._ports).text
        except ArgumentError as error:
            raise ValueError(str(error)) from None

    def _break(self, section: Section) -> Action | None:
        found = section.convert("break", "a condition, such as s1 drop", self._condition)
        return None if found is None else Action(f"break {found.value}", {"do": "break", "condition": found.value})

    def _until(self, section: Section) -> Action | None:
        def convert(text: str) -> Mapping[str, object]:
            try:
                return {"at_ns": parse_duration(text)}
            except UnitError:
                return {"condition": self._condition(text)}

        found = section.convert("until", "a condition, such as s1 drop, or a virtual time, such as 150 ms", convert)
        return None if found is None else Action(f"until {found.text}", {"do": "until", **found.value})

    def _step(self, section: Section) -> Action | None:
        found = section.value("step", STEP_OF_TIME)
        return None if found is None else Action(f"step {found.text}", {"do": "step", "duration_ns": found.value})

    def _speed(self, section: Section) -> Action | None:
        def convert(text: str) -> str:
            try:
                parse_speed(text)
            except ArgumentError as error:
                raise ValueError(error.spelled("{}".format)) from None
            return text

        found = section.convert("speed", "virtual seconds per second, such as 1/100", convert)
        return None if found is None else Action(f"speed {found.value}", {"do": "speed", "speed": found.value})

    # -- The network --------------------------------------------------------------------------------------------------

    def _set(self, section: Section) -> Action | None:
        found = read_settings(section, "set")
        if not found or not check_settings(self._lab, {**self._settings, **found}, self._problems):
            return None
        check_settings_later(self._lab, found, self._problems)
        self._settings.update(found)
        texts = {name: value.text.strip() for name, value in found.items()}
        words = " ".join(f"{name}={text!r}" for name, text in texts.items())
        return Action(f"set {words}", {"do": "set", "settings": texts})

    def _link(self, section: Section) -> Action | None:
        """Read an action of a link, which is written as an event of a lab is."""
        port = section.scalar("link", "one of the link's ports, such as leaf1:eth3")
        words = {name: value for name in MORE_KEYS["link"] if isinstance(value := section.get(name), ScalarValue)}
        if port is None:
            return None
        if not words:
            section.complain(
                "link", f"nothing happens; write action: {listed(LINK_ACTIONS.words)}, or rate, delay, loss"
            )
            return None
        try:
            read_link_event(port.value, words, self._lab.names)
        except LabError as error:
            for mistake in error.mistakes:
                where = port.place if mistake.value == port.text else Place(mistake.file, mistake.line)
                self._problems.add(where, mistake.key, mistake.message, mistake.value)
            return None
        texts = {name: value.text.strip() for name, value in words.items()}
        action = texts.get("action", "set")
        told = action if action != "set" else " ".join(f"{name}={text!r}" for name, text in texts.items())
        question = {"do": "link", "port": port.value, "action": action, "settings": texts if action == "set" else {}}
        return Action(f"link {port.value} {told}", question)

    def _node(self, section: Section) -> Action | None:
        section.require("action", example="action: down")
        name = section.convert("node", "a node's name", self._known_node)
        action = section.convert("action", "down or up", lambda text: _one_of(text, NODE_ACTIONS.words))
        if name is None or action is None:
            return None
        return Action(f"node {name.value} {action.value}", {"do": "node", "node": name.value, "action": action.value})

    def _known_node(self, text: str) -> str:
        return _one_of(text, list(self._ports))

    # -- Traffic ------------------------------------------------------------------------------------------------------

    def _traffic(self, section: Section) -> Action | None:
        traffic = self._lab.document.entries.get("traffic")
        names = list(traffic.entries) if isinstance(traffic, MappingValue) else []
        verb = "start" if "start" in section else "stop"
        others = [*names, "flow"] if verb == "stop" else names
        found = section.convert(verb, "a traffic of the lab", lambda text: _one_of(text, others))
        return None if found is None else Action(f"{verb} {found.value}", {"do": verb, "traffic": found.value})

    def _flow(self, section: Section) -> Action | None:
        section.require("to", example="to: h2")
        section.require("size", example="size: 1 MB")

        hosts = self._lab.names.hosts
        src = section.convert("flow", "the host that sends", lambda text: _one_of(text, hosts))
        dst = section.convert("to", "the host that receives", lambda text: _one_of(text, hosts))
        size = section.value("size", SIZE_OF_FLOW)
        control = section.value("congestion_control", Text("a congestion control"))
        if control is not None and control.value not in CONGESTION_CONTROLS:
            known = list(CONGESTION_CONTROLS)
            control.complain(
                self._problems, f"{shown(control.value)} is not known; {did_you_mean(control.value, known)}"
            )
        if src is None or dst is None or size is None:
            return None
        if src.value == dst.value:
            dst.complain(self._problems, f"{shown(dst.value)} is the sender, too; a flow needs two different hosts")
            return None
        more = {"congestion_control": None if control is None else control.value}
        question = {"do": "flow", "src": src.value, "dst": dst.value, "size_bytes": size.value, **more}
        return Action(f"flow {src.value} {dst.value} --size {size.text!r}", question)

    # -- What is looked at --------------------------------------------------------------------------------------------

    def _choose(self, section: Section) -> Action | None:
        places = [*self._ports, *self._lab.names.ports]
        found = section.convert(CHOOSE, "a port or a node", lambda text: _one_of(text, places))
        return None if found is None else Action(f"choose {found.value}", {"do": CHOOSE, "place": found.value})


def _one_of(text: str, words: Sequence[str]) -> str:
    if text not in words:
        raise ValueError(f"{shown(text)} is not here; {did_you_mean(text, words)}")
    return text
