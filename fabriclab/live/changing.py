"""Changes of a live lab's network: settings, links, nodes. What clients ask, checked as a lab is, and as PID 1 is told.

The lab's plan is resolved anew with all that was set, and compared with the one that runs: the difference goes to the
nodes, all of it or nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from fabriclab.compile.events import Timeline
from fabriclab.compile.link_state import LinkState, changing_ports
from fabriclab.compile.machine import machine_memory_bytes
from fabriclab.errors import ArgumentError
from fabriclab.formats.job import Step
from fabriclab.formats.plan.model import Event, Plan
from fabriclab.formats.where_clause import Scalar
from fabriclab.keys.wording import did_you_mean
from fabriclab.lab import AppliedSettings
from fabriclab.lab import Lab as WrittenLab
from fabriclab.lab.event_keys import LINK_ACTIONS
from fabriclab.lab.failures import read_link_event
from fabriclab.lab.reading.document import MappingValue, ScalarValue
from fabriclab.lab.reading.plain_data import scalar_text
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.settings import check_key, check_later, is_dotted, normalise, split_key
from fabriclab.lab.study_keys import VARIANT
from fabriclab.live.adjustable import adjustable
from fabriclab.live.changes_log import Done
from fabriclab.live.clients import Refused
from fabriclab.live.running import Running
from fabriclab.live.server import Server
from fabriclab.resolve.changed_nodes import UnchangeableError, changed_nodes
from fabriclab.resolve.events import resolve_event
from fabriclab.resolve.parameters import value_at
from fabriclab.resolve.resolver import Resolver
from fabriclab.runs.engines import has_stock_qdiscs_only
from fabriclab.units import format_duration, format_rate

_SPARE_BYTES = 128 << 20
"""Of the machine's memory, so much is never needed by what it was made for: a set may ask for that."""
_NODE_ACTIONS = ("down", "up")
_AGAIN = "bring the lab up with this value: `fabriclab up LAB -s KEY=VALUE`"


class NetworkChanges:
    """The network of one live lab as it is now, and the answers that change it."""

    def __init__(self, server: Server, running: Running) -> None:
        """Begin with the lab as it came up."""
        self._server = server
        self._running = running
        self._in_containers = has_stock_qdiscs_only(running.wanted.engine)
        plan = running.wanted.plan
        changing = changing_ports(plan) if self._in_containers else None
        self._state = Timeline(plan, changing, stock=self._in_containers)
        self._later: dict[str, ScalarValue] = {}
        """What was set, by key; the last one last."""
        self._happened = 0
        self._changing = asyncio.Lock()
        self._memory_bytes = machine_memory_bytes(plan)
        answers = {"set": self._set, "link": self._link, "node": self._node, "adjustable": self._adjustable}
        for name, answer in answers.items():
            server.answer(name, answer)

    def congestion_controls(self) -> dict[str, str]:
        """Return the congestion control of each host that has another one than when the lab came up."""
        pairs = [(node, self.plan.node(node.name)) for node in self._running.wanted.plan.nodes if node.transport]
        return {
            new.name: new.transport.congestion_control
            for old, new in pairs
            if old.transport is not None
            and new.transport is not None
            and old.transport.congestion_control != new.transport.congestion_control
        }

    @property
    def plan(self) -> Plan:
        """The plan as settings have made it."""
        return self._state.plan

    # -- Settings -----------------------------------------------------------------------------------------------------

    async def _set(self, asked: dict[str, Any]) -> dict[str, Any]:
        settings = asked.get("settings")
        if not isinstance(settings, dict) or not settings or not all(isinstance(v, str) for v in settings.values()):
            raise Refused("no setting is given; write KEY=VALUE, such as switches.s1.ecn_threshold='30 KB'")
        async with self._changing:
            self._pass_events()
            told, keys, event = await asyncio.to_thread(self._wanted, settings)
            later = self._with(keys)
            done = await self._do(event) if event is not None else None
            document = self._lab().document
            # It says what others will be that are set later.
            if done is None and _compared(later, document) != _compared(self._later, document):
                done = self._running.machine.now_ns() - self._running.epoch_ns
                told.append("(this changes no node)")
            self._later = later
            words = " ".join(f"{key}={value!r}" for key, value in settings.items())
            new = {key: value.text for key, value in keys.items()}
            return self._told("set", told, done, words, {"settings": dict(settings), "keys": new})

    def _wanted(self, settings: Mapping[str, str]) -> tuple[list[str], dict[str, ScalarValue], Event | None]:
        """Return what is told, the keys that are set, and the event that makes it so; None where all is so already.

        Raises LabError, Refused.
        """
        lab = self._lab()
        keys = _keys(
            lab, {key: ScalarValue(text, Place(f"set {key}={text}"), quoted=True) for key, text in settings.items()}
        )
        before, after = (self._applied(lab, found) for found in (self._later, self._with(keys)))
        plan = Resolver(lab).resolve_applied(after)
        _refuse_not_loaded(plan, self._running.wanted.plan)
        told = [_replaced(lab, key, (before, self.plan), (after, plan)) for key in keys]
        event = self._event(plan)
        begun = [node for node in event.nodes if node.transport and node.transport.congestion_control == "dctcp"]
        if any(self._control(node.name) != "dctcp" for node in begun):
            told.append(
                "(programs that listen already do so without ECN; only traffic started from now on uses all of DCTCP)"
            )
        if not event.nodes and event.bgp is None:
            return told, keys, None
        return told, keys, event

    def _with(self, keys: Mapping[str, ScalarValue]) -> dict[str, ScalarValue]:
        """Return all that is set with these, which have the last word."""
        return {**{key: value for key, value in self._later.items() if key not in keys}, **keys}

    def _control(self, host: str) -> str:
        transport = self.plan.node(host).transport
        return "" if transport is None else transport.congestion_control

    def _lab(self) -> WrittenLab:
        lab = self._running.wanted.lab
        assert lab is not None, "a replay has no clients"
        return lab.written

    def _applied(self, lab: WrittenLab, later: Mapping[str, ScalarValue]) -> AppliedSettings:
        # What was set when the lab came up may be set again: the last word is the later one's.
        base = {key: value for key, value in self._running.wanted.settings.items() if key not in later}
        return lab.apply({**base, **later}, self._running.wanted.plan.seed)

    def _event(self, plan: Plan) -> Event:
        try:
            nodes = changed_nodes(self.plan, plan)
        except UnchangeableError as error:
            raise Refused(f"{error}: this can't be done while the lab is up; {_AGAIN}") from None
        changed = self.plan.model_copy(update={"nodes": plan.nodes, "bgp": plan.bgp})
        need = machine_memory_bytes(changed)
        if need > self._memory_bytes + _SPARE_BYTES:
            raise Refused(
                f"such buffers would need {need >> 20} MiB of memory, and the virtual machine has "
                f"{self._memory_bytes >> 20}; {_AGAIN}"
            )
        bgp = plan.bgp if plan.bgp != self.plan.bgp else None
        return Event(name="set", at_ns=0, links=(), action="set", nodes=nodes, bgp=bgp)

    async def _adjustable(self, _: dict[str, Any]) -> dict[str, Any]:
        if not self._changing.locked():
            self._pass_events()
        return {"adjustable": list(adjustable(self.plan))}

    # -- Links and nodes ----------------------------------------------------------------------------------------------

    async def _link(self, asked: dict[str, Any]) -> dict[str, Any]:
        # The page says `up`, and whether.
        action = (
            {True: "up", False: "down"}[asked["up"]] if isinstance(asked.get("up"), bool) else str(asked.get("action"))
        )
        port, settings = str(asked.get("port")), asked.get("settings") or {}
        if action not in (*LINK_ACTIONS.words, "set"):
            raise ArgumentError(
                "{0!r} is not an action of a link; {1}", action, did_you_mean(action, (*LINK_ACTIONS.words, "set"))
            )
        if action == "set" and self._in_containers:
            raise Refused(
                "in containers a link can go up and down, but its rate, delay and loss can't change; they can in the "
                "virtual machine (`fabriclab up LAB`)"
            )
        texts = {str(key): str(value) for key, value in settings.items()} if action == "set" else {"action": action}
        words = {key: ScalarValue(text, Place(f"link {port} {key}={text}"), quoted=True) for key, text in texts.items()}
        lab = self._lab()
        event = resolve_event(read_link_event(port, words, lab.names), lab.topology)
        async with self._changing:
            self._pass_events()
            (link,) = event.links
            before, after = (_link_words(state, link) for state in (self._state, self._state.after(event)))
            is_so = before == after
            told = [f"{' - '.join(link)} is {after} already" if is_so else f"{' - '.join(link)}: {before} -> {after}"]
            done = None if is_so else await self._do(event)
            more = "".join(f" {key}={value!r}" for key, value in texts.items() if action == "set")
            return self._told(
                "link", told, done, f"{action} {port}{more}", {"port": port, "action": action, "settings": texts}
            )

    async def _node(self, asked: dict[str, Any]) -> dict[str, Any]:
        name, action = str(asked.get("node")), str(asked.get("action"))
        names = [node.name for node in self.plan.nodes]
        if name not in names:
            raise ArgumentError("{0!r}: the lab has no such node; {1}", name, did_you_mean(name, names))
        if action not in _NODE_ACTIONS:
            raise ArgumentError("{0!r} is not an action of a node; {1}", action, did_you_mean(action, _NODE_ACTIONS))
        links = tuple(
            (link.a.port, link.b.port) for link in self._lab().topology.links if name in (link.a.node, link.b.node)
        )
        event = Event(name=name, at_ns=0, links=links, node=name, action="down" if action == "down" else "up")
        async with self._changing:
            self._pass_events()
            is_so = (name in self._state.dead) == (action == "down")
            done = None if is_so else await self._do(event)
            told = [
                f"{name} is {action} already"
                if is_so
                else f"{name}: {'up -> down' if action == 'down' else 'down -> up'}"
            ]
            return self._told("node", told, done, f"{action} {name}", {"node": name, "action": action})

    # -- What happens -------------------------------------------------------------------------------------------------

    def _pass_events(self) -> None:
        """Take note of the lab's own events that have happened by now."""
        running = self._running
        now_ns = running.machine.now_ns() - running.epoch_ns
        events = running.wanted.plan.events
        while self._happened < len(events) and events[self._happened].at_ns <= now_ns:
            event = events[self._happened]
            self._state = self._state.after(event)
            for key, value in event.settings.items():
                self._later.pop(key, None)
                self._later[key] = ScalarValue(scalar_text(value) or "", Place(f"events.{event.name}"), quoted=True)
            self._happened += 1

    async def _do(self, event: Event) -> int:
        """Let an event happen; returns the instant, from the lab's epoch. Raises Refused: nothing has changed then."""
        entry, after = self._state.compile(event)
        body: dict[str, Any] = {key: entry[key] for key in ("name", "steps", "down", "up") if key in entry}
        if event.action == "set":
            body["undo"] = self._undoing(event, after)
        try:
            said = await self._server.opened({"change": body})
        except Refused as error:
            undone = "nothing was changed: " if event.action == "set" else ""
            raise Refused(f"{undone}{error}") from None
        self._state = after
        return int(said["t_ns"]) - self._running.epoch_ns

    def _undoing(self, event: Event, after: Timeline) -> Sequence[Step]:
        old = tuple(self.plan.node(node.name) for node in event.nodes)
        return after.compile(event.model_copy(update={"nodes": old, "bgp": self.plan.bgp}))[0]["steps"]

    def _told(
        self, kind: Any, told: list[str], at_ns: int | None, words: str, details: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Write down what was done, if it was, and return the answer."""
        if at_ns is not None:
            self._running.changes.add(Done(at_ns, kind, f"{kind} {words}", details))
        now_ns = self._running.machine.now_ns() - self._running.epoch_ns
        return {"changes": told, "changed": at_ns is not None, "now_ns": now_ns if at_ns is None else at_ns}


def _refuse_not_loaded(plan: Plan, begun: Plan) -> None:
    """Raise Refused where a plan has an own algorithm that the machine did not begin with."""
    loaded = {algorithm.module for algorithm in begun.algorithms}
    files = sorted(algorithm.file for algorithm in plan.algorithms if algorithm.module not in loaded)
    if files:
        raise Refused(f"{', '.join(files)}: your own algorithms are loaded when the virtual machine starts; {_AGAIN}")


def _keys(lab: WrittenLab, settings: Mapping[str, ScalarValue]) -> dict[str, ScalarValue]:
    """Return settings by the keys that parameters and variants stand for.

    Raises LabError for what is not a setting, and for what can't be set now.
    """
    keys: dict[str, ScalarValue] = {}
    problems = Problems()
    for name, value in settings.items():
        found: Mapping[str, Any] = {name: value}
        if name in lab.parameters:
            found = dict.fromkeys(lab.parameters[name], value)
        elif name == VARIANT and value.text.strip() in lab.study.variants:
            found = lab.study.variants[value.text.strip()].values
        elif not is_dotted(name):
            lab.apply({name: value})  # which says what is wrong with it
        for key, one in found.items():
            try:
                check_key(key, lab.document, lab.names)
                check_later(key)
            except ValueError as error:
                problems.add(value.place, key if key != name else "", _with_hint(key, str(error)), value.text)
                continue
            if not isinstance(one, ScalarValue):
                problems.add(value.place, key, "a list can't be set while the lab is up", value.text)
                continue
            keys.pop(key, None)
            keys[key] = one
    problems.raise_if_any()
    return keys


def _with_hint(key: str, message: str) -> str:
    """Return why a key can't be set, with what does what it would do, if something does."""
    now = {
        "traffic": "`fabriclab flow` and `start` send more",
        "events": "`fabriclab link`, `node` and `set` do it now",
        "limit": "`fabriclab down` ends it",
        "groups": f"`fabriclab up LAB -s {key}=VALUE` brings the lab up with it",
    }
    hint = now.get(split_key(key)[0])
    return message if hint is None or ";" in message else f"{message}; {hint}"


def _compared(settings: Mapping[str, ScalarValue], document: MappingValue) -> dict[str, Any]:
    return {key: normalise(key, value.text, document) for key, value in settings.items()}


def _replaced(
    lab: WrittenLab, key: str, before: tuple[AppliedSettings, Plan], after: tuple[AppliedSettings, Plan]
) -> str:
    """Return what a key was and is."""
    old, new = (value_at(key, applied, plan.nodes) for applied, plan in (before, after))
    if old == new:
        return f"{key} is {_shown(new)} already"
    return f"{key}: {_shown(old)} -> {_shown(new)}"


def _shown(value: Scalar | None) -> str:
    """Return a value as a lab's file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "(not written)" if value is None else str(value)


def _link_words(state: Timeline, link: tuple[str, str]) -> str:
    """Return what state a link is in."""
    node, _, interface = link[0].partition(":")
    port = next(port for port in state.plan.node(node).ports if port.interface == interface)
    found = state.links.get(link, LinkState())
    line = found.line(port)
    loss = f", loss {line.loss_ppm / 10_000:g} %" if line.loss_ppm and not found.is_blackhole else ""
    carries = "blackhole" if found.is_blackhole else "up"
    return f"{carries if found.is_up else 'down'}, {format_rate(line.rate_bps)}, {format_duration(line.delay_ns)}{loss}"
