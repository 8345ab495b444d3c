"""Reading the QoS commands of an EOS configuration: global maps, QoS profiles, interfaces; the rest is counted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from fabriclab.formats.classes import QUEUES
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.vendors.arista.profile.config_text import ConfigText
from fabriclab.vendors.arista.profile.qos import EosQos, Ledger, PortQos, TxQueue, Watchdog
from fabriclab.vendors.arista.profile.tx_queue import number, read_tx_queue
from fabriclab.vendors.common.command_text import Command

_LARGEST_DSCP = 63
_NS_PER_S = 10**9
_SECONDS = re.compile(r"[0-9]{1,3}(\.[0-9]{1,9})?")
_NUMBERS = re.compile(r"([0-9]{1,2})(?:-([0-9]{1,2}))?")
_REWRITES = "a profile's switch does not rewrite headers"
_NO_TAGS = "frames in a lab have no VLAN tag, so no CoS"
_NO_POLICIES = "a profile classifies by DSCP alone"
_OF_PORTS = (
    "priority-flow-control",
    "tx-queue",
    "uc-tx-queue",
    "mc-tx-queue",
    "service-profile",
    "service-policy",
    "shape",
    "qos",
)


class QosReader:
    """Reads the QoS part of one configuration; what is wrong is recorded with its line."""

    def __init__(self, config: ConfigText) -> None:
        """Start with nothing read."""
        self._config = config
        self._ledger = Ledger()
        self._maps: dict[str, dict[int, tuple[int, Command]]] = {
            "traffic-class": {},
            "tx-queue": {},
            "priority-group": {},
        }
        self._timers: dict[str, tuple[int, Command]] = {}
        self._hostname = ""

    def read(self) -> EosQos:
        """Return what is said. Raises LabError."""
        profiles = self._profiles()
        ports: dict[str, PortQos] = {}
        silent = 0
        for command in self._config.commands:
            interface = command.rest("interface")
            if interface == ():
                self._config.complain(command, "an interface has a name; write interface Ethernet1, or as EOS shows it")
            elif interface is not None:
                qos = self._interface(command, profiles)
                if qos is None:
                    silent += command.words[1].startswith("Ethernet") if len(interface) == 1 else 0
                else:
                    ports[interface[0]] = qos
            elif command.rest("qos", "profile") is None:
                self._global(command)
        watchdog = self._watchdog()
        self._config.problems.raise_if_any()
        maps = self._maps
        return EosQos(
            hostname=self._hostname,
            dscp_to_tc=maps["traffic-class"],
            tc_to_queue=maps["tx-queue"],
            tc_to_group=maps["priority-group"],
            ports=ports,
            silent=silent,
            watchdog=watchdog,
            left_out=self._ledger.entries(),
        )

    def _profiles(self) -> dict[str, PortQos]:
        profiles = {}
        for command in self._config.commands:
            name = command.rest("qos", "profile")
            if name is not None and len(name) == 1:
                profiles[name[0]] = self._port(command, PortQos())
            elif name is not None:
                self._config.complain(command, "a QoS profile has one name; write qos profile NAME")
        return profiles

    def _interface(self, section: Command, profiles: Mapping[str, PortQos]) -> PortQos | None:
        """Return what an interface says over its profile; None if it says nothing."""
        said = [
            command
            for command in section.below
            if command.words[0] in _OF_PORTS or command.words[:2] == ("no", "priority-flow-control")
        ]
        self._rest(section, section.size - sum(command.size for command in said))
        if not said:
            return None
        qos = PortQos()
        for command in said:
            name = command.rest("service-profile")
            if name is not None and len(name) == 1 and name[0] in profiles:
                qos = profiles[name[0]]
            elif name is not None:
                wanted = " ".join(name)
                self._config.complain(
                    command, f"{shown(wanted)} is not a qos profile; {did_you_mean(wanted, profiles)}", wanted
                )
        return self._port(replace(section, below=tuple(said)), qos)

    def _port(self, section: Command, qos: PortQos) -> PortQos:
        for command in section.below:
            qos = self._port_command(command, qos)
        return qos

    def _port_command(self, command: Command, qos: PortQos) -> PortQos:
        words = command.words
        if words in (("priority-flow-control", "on"), ("priority-flow-control", "mode", "on")):
            return replace(qos, pfc=command)
        if words in (
            ("no", "priority-flow-control"),
            ("priority-flow-control", "off"),
            ("no", "priority-flow-control", "mode", "on"),
        ):
            return replace(qos, pfc=None)
        if words[:2] == ("priority-flow-control", "priority"):
            return self._no_drop(command, qos)
        if words[0] in ("tx-queue", "uc-tx-queue"):
            index = number(self._config, command, words[1] if len(words) == 2 else None, "the queue", 0, QUEUES - 1)
            if index is None:
                return qos
            queue = read_tx_queue(self._config, command, qos.queues.get(index, TxQueue()), self._ledger)
            return replace(qos, queues={**qos.queues, index: queue})
        if words[0] != "service-profile":
            self._leave_out(command)
        return qos

    def _no_drop(self, command: Command, qos: PortQos) -> PortQos:
        words = command.words
        priority = number(self._config, command, words[2] if len(words) > 2 else None, "the priority", 0, QUEUES - 1)
        action = words[3:]
        if action not in (("no-drop",), ("drop",)):
            self._config.complain(command, f"{shown(' '.join(action))}: write no-drop or drop", " ".join(action))
        elif priority is not None:
            others = {index: one for index, one in qos.no_drop.items() if index != priority}
            return replace(qos, no_drop={**others, priority: command} if action == ("no-drop",) else others)
        return qos

    def _leave_out(self, command: Command) -> None:
        """Count a command of a port that a profile has no word for."""
        head = command.words[0]
        reasons = {
            "mc-tx-queue": "there is no multicast in a lab",
            "service-policy": _NO_POLICIES,
            "shape": "a port's rate is its link's",
            "qos": _NO_TAGS if "cos" in command.words else "every port trusts the DSCP",
        }
        self._ledger.add(" ".join(command.words[:2]), reasons.get(head, "a profile has no key for it"))

    def _global(self, command: Command) -> None:
        words = command.words
        if words[0] == "hostname" and len(words) == 2:
            self._hostname = words[1]
        elif words[:2] == ("qos", "map"):
            self._map(command)
        elif words[:3] == ("priority-flow-control", "pause", "watchdog"):
            self._watchdog_command(command)
        elif words[0] in ("qos", "priority-flow-control"):
            self._ledger.add(" ".join(words[:2]), _REWRITES if "rewrite" in words else "a profile has no key for it")
        else:
            self._rest(command, command.size)

    def _map(self, command: Command) -> None:
        """Read `qos map dscp 0 1 2-7 to traffic-class 1` and `qos map traffic-class 1 to tx-queue 1`."""
        words = command.words
        source = words[2] if len(words) > 2 else ""
        if "to" not in words:
            self._config.complain(command, "no `to`; write such as qos map dscp 0 to traffic-class 1")
            return
        at = words.index("to")
        target = words[at + 1] if at + 1 < len(words) else ""
        pairs = {("dscp", "traffic-class"), ("traffic-class", "tx-queue"), ("traffic-class", "priority-group")}
        if (source, target) not in pairs:
            why = (
                _NO_TAGS
                if "cos" in (source, target)
                else _REWRITES
                if source == "traffic-class"
                else "a profile has no key for it"
            )
            self._ledger.add(f"qos map {source} to {target}", why)
            return
        high = _LARGEST_DSCP if source == "dscp" else QUEUES - 1
        values = self._numbers(command, words[3:at], source, high)
        to = number(self._config, command, words[at + 2] if at + 2 < len(words) else None, target, 0, QUEUES - 1)
        if to is not None:
            self._maps[target].update(dict.fromkeys(values, (to, command)))
        if words[at + 3 : at + 4] == ("drop-precedence",):
            self._ledger.add("drop-precedence", "frames in a lab have no colour")

    def _numbers(self, command: Command, words: tuple[str, ...], what: str, high: int) -> list[int]:
        """Return numbers and ranges: `0 1 2-7`, `0,1`."""
        found: list[int] = []
        for word in " ".join(words).replace(",", " ").split():
            match = _NUMBERS.fullmatch(word)
            first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
            if first > last or last > high:
                self._config.complain(
                    command, f"{what} {shown(word)}: must be numbers from 0 to {high}, or ranges such as 0-7", word
                )
            else:
                found += range(first, last + 1)
        if not words:
            self._config.complain(command, f"no {what} before `to`; write a number from 0 to {high}")
        return found

    def _watchdog_command(self, command: Command) -> None:
        """Read `priority-flow-control pause watchdog default timeout 0.2 [recovery-time 0.4]
        [polling-interval 0.1]`."""
        words = command.words[3:]
        if words[:1] != ("default",):
            if words != ("action", "drop"):
                self._ledger.add(
                    "priority-flow-control pause watchdog " + " ".join(words[:2]),
                    "a profile's watchdog drops, or forwards",
                )
            return
        for name, text in zip(words[1::2], (*words[2::2], ""), strict=False):
            if name in ("timeout", "recovery-time"):
                if _SECONDS.fullmatch(text) is None or not 0 < Fraction(text) <= 60:
                    self._config.complain(
                        command, f"{name} {shown(text)}: must be at most 60 seconds, such as 0.2", text
                    )
                else:
                    self._timers[name] = int(Fraction(text) * _NS_PER_S), command
            elif name == "polling-interval":
                self._ledger.add("polling-interval", "the lab's watchdog is exact and does not poll")

    def _watchdog(self) -> Watchdog | None:
        if "timeout" not in self._timers:
            return None
        timeout, command = self._timers["timeout"]
        return Watchdog(timeout, self._timers["recovery-time"][0] if "recovery-time" in self._timers else None, command)

    def _rest(self, section: Command, count: int) -> None:
        if count:
            self._ledger.add(section.words[0], "not QoS", count)
