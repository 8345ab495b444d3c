"""Break points of a live lab: the questions `break`, `breaks`, `unbreak`, and what stopped the clock."""

from __future__ import annotations

from typing import Any

from fabriclab.errors import ArgumentError
from fabriclab.formats.break_conditions import Condition, parse_condition
from fabriclab.formats.live_break import CONDITIONS
from fabriclab.live.clients import Refused
from fabriclab.live.machine import Broke
from fabriclab.live.running import Running
from fabriclab.live.server import Server


class Breaks:
    """The break points of one lab."""

    def __init__(self, server: Server, running: Running) -> None:
        """Take the questions of a server, and what it says of why time stands still."""
        self._machine = running.machine
        plan = running.wanted.plan
        self._numbers = {node.name: number for number, node in enumerate(plan.nodes)}
        self._ports = {node.name: [port.interface for port in node.ports] for node in plan.nodes}
        self._set: dict[int, Condition] = {}
        self._told: tuple[Broke, str] | None = None
        server.answer("break", self._break)
        server.answer("breaks", self._list)
        server.answer("unbreak", self._clear)
        server.why_stopped = self.why_stopped

    def why_stopped(self) -> str | None:
        """Return which condition stopped the clock, in words; None: none did, or time goes on."""
        broke = self._machine.broke
        if broke is None:
            return None
        if self._told is None or self._told[0] is not broke:
            condition = self._set.get(broke.number)
            self._told = (
                broke,
                f"break point {broke.number}" if condition is None else condition.came_true(broke.value),
            )
        return self._told[1]

    def add(self, condition: Condition) -> int:
        """Set a break point; returns its number. Raises Refused, MachineGone."""
        number = next((one for one in range(1, CONDITIONS) if one not in self._set), None)
        if number is None:
            raise Refused(
                f"{CONDITIONS - 1} break points are set, which is the most that a lab can have; `fabriclab break "
                "--clear` removes them"
            )
        self._machine.set_condition(number, condition.packed(self._numbers))
        self._set[number] = condition
        return number

    def parse(self, text: str) -> Condition:
        """Return a condition of this lab. Raises ArgumentError."""
        return parse_condition(text, self._ports)

    def remove(self, number: int) -> None:
        """Take a break point back; what it stopped stays explained. Raises MachineGone."""
        if number in self._set:
            self.why_stopped()  # in the words of a condition that is gone then
            self._machine.set_condition(number, b"")
            del self._set[number]

    async def _break(self, asked: dict[str, Any]) -> dict[str, Any]:
        number = self.add(self.parse(str(asked.get("condition"))))
        return {"number": number, "condition": self._set[number].text}

    async def _list(self, _: dict[str, Any]) -> dict[str, Any]:
        breaks = [{"number": number, "condition": condition.text} for number, condition in sorted(self._set.items())]
        return {"breaks": breaks, "stopped": self.why_stopped()}

    async def _clear(self, asked: dict[str, Any]) -> dict[str, Any]:
        number = asked.get("number")
        if number is not None and number not in self._set:
            numbers = ", ".join(map(str, sorted(self._set))) or "none"
            raise ArgumentError("{0}: there is no such break point; break points that are set: {1}", number, numbers)
        for one in list(self._set) if number is None else [number]:
            self.remove(one)
        return await self._list(asked)
