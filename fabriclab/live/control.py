"""What clients ask of a live lab besides processes in its nodes: the time, traffic, its end."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

from fabriclab.compile.frr import runs_frr
from fabriclab.errors import ArgumentError
from fabriclab.formats.live import LIVE_FILES
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.formats.run_directory import HOSTS_FILE
from fabriclab.formats.speed import format_speed, parse_speed
from fabriclab.keys.wording import did_you_mean
from fabriclab.live.changes_log import Done, Kind
from fabriclab.live.changing import NetworkChanges
from fabriclab.live.clients import Refused
from fabriclab.live.looping import TrafficLoop
from fabriclab.live.running import Running
from fabriclab.live.server import Server
from fabriclab.live.started_traffic import compile_start, names_of, one_flow, traffic_named
from fabriclab.resolve.interfaces import first_address
from fabriclab.scratch import open_plain, while_it_runs
from fabriclab.units import format_size

_LONGEST_STEP_NS = 10**18
_KINDS = ("exec", "connect")
"""What a client may let PID 1 open itself; all else is the server's."""


class Control:
    """The answers of one lab's server."""

    def __init__(self, server: Server, running: Running) -> None:
        """Take the questions of a server."""
        self._server = server
        self._running = running
        self._plan = running.wanted.plan
        self._network = NetworkChanges(server, running)
        self._starts = itertools.count(1)
        self._next_flow: int | None = None
        self._live_programs: dict[str, list[list[str]]] = {}
        self._starting = asyncio.Lock()
        self._loop = TrafficLoop(server, self.start)
        server.check_opening = self.check_opening
        answers = {
            **{"state": self._state, "pause": self._pause, "resume": self._resume, "step": self._step},
            **{"speed": self._speed, "start": self._start, "stop": self._stop, "flow": self._flow, "down": self._down},
            **{"started": self._started, "loop": self._set_loop},
        }
        for name, answer in answers.items():
            server.answer(name, answer)

    # -- What there is ------------------------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """Return what the registry says of the lab."""
        return {
            "lab": self._plan.lab,
            "directory": str(self._running.directory.absolute()),
            "nodes": [node.name for node in self._plan.nodes],
            "ports": {node.name: [port.interface for port in node.ports] for node in self._plan.nodes},
            "addresses": self._addresses(),
            "traffic": [traffic.name for traffic in self._plan.traffic],
            "routers": [node.name for node in self._plan.nodes if runs_frr(node, self._plan)],
            "idle": self._running.wanted.idle,
            "loop": self._running.wanted.loop,
            "speed": format_speed(self._running.wanted.speed),
        }

    def _addresses(self) -> dict[str, str]:
        """Return the hosts' addresses: the plan's, or those that were found as the nodes' own files made them."""
        if self._plan.configured is None:
            return {node.name: first_address(node) for node in self._plan.nodes if node.role == "host"}
        with open_plain(while_it_runs(self._running.directory, HOSTS_FILE)) as file:
            rows = file.read().decode(errors="replace").splitlines()[2:]
        return dict(row.split(",", 1) for row in rows if "," in row)

    def check_opening(self, body: dict[str, Any]) -> None:
        """Raise ArgumentError for a node that the lab has not, Refused for what no client may open."""
        if len(body) != 1 or next(iter(body)) not in _KINDS:
            raise Refused(f"a client can open one of {', '.join(_KINDS)}")
        asked = next(iter(body.values()))
        node = asked.get("node") if isinstance(asked, dict) else None
        if node is None and "exec" in body and isinstance(asked, dict):
            return
        check_node(self._plan, node)

    async def _state(self, _: dict[str, Any]) -> dict[str, Any]:
        machine = self._running.machine
        ratio = machine.ratio.value
        return {
            "now_ns": machine.now_ns() - self._running.epoch_ns,
            "paused": machine.is_stopped,
            "stopped": self._server.why_stopped(),
            "speed": format_speed(machine.speed),
            "ratio": None if machine.is_stopped or ratio is None else round(ratio, 6),
            "busy": [{"program": who, "node": node, "s": int(s)} for who, node, s in machine.busy.programs()],
            "directory": str(self._running.directory.absolute()),
            "stage": self._server.stage,
            "loop": self._loop.told(),
        }

    # -- Time ---------------------------------------------------------------------------------------------------------

    async def _pause(self, asked: dict[str, Any]) -> dict[str, Any]:
        await self._running.machine.stop()
        return await self._state(asked)

    async def _resume(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._running.machine.go_on()
        return await self._state(asked)

    async def _step(self, asked: dict[str, Any]) -> dict[str, Any]:
        duration = asked.get("duration_ns")
        if not isinstance(duration, int) or not 0 < duration <= _LONGEST_STEP_NS:
            raise Refused(f"a step takes from 1 ns to {_LONGEST_STEP_NS} ns of virtual time")
        await self._running.machine.step(duration)
        return await self._state(asked)

    async def _speed(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._running.machine.set_speed(parse_speed(str(asked.get("speed"))))
        return await self._state(asked)

    # -- Traffic ------------------------------------------------------------------------------------------------------

    async def _start(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = str(asked.get("traffic"))
        found = await self.start(name)
        if asked.get("loop"):
            self._loop.add(name)
        return {**found, "loop": self._loop.told()}

    async def start(self, name: str) -> dict[str, Any]:
        """Start a traffic of the lab now. Raises ArgumentError, Refused, MachineGone."""
        return await self._begin(traffic_named(self._plan, name), "start", f"start {name}", {"traffic": name})

    async def begin_loop(self) -> None:
        """Start all traffic of the lab, and again when it has ended. Raises what `start` raises."""
        for traffic in self._plan.traffic:
            self._loop.add(traffic.name)
            await self.start(traffic.name)

    async def _set_loop(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = traffic_named(self._plan, str(asked.get("traffic"))).name
        if asked.get("on"):
            self._loop.add(name)
        else:
            self._loop.remove(name)
        return await self._state(asked)

    async def _flow(self, asked: dict[str, Any]) -> dict[str, Any]:
        size, control = asked.get("size_bytes"), asked.get("congestion_control")
        if not isinstance(size, int):
            raise Refused("the request has no size for the flow")
        src, dst = str(asked.get("src")), str(asked.get("dst"))
        words = f"flow {src} {dst} --size '{format_size(size)}'" + (f" --cc {control}" if control is not None else "")
        flow = one_flow(self._plan, src, dst, size, None if control is None else str(control))
        return await self._begin(flow, "flow", words, {"src": src, "dst": dst, "size_bytes": size})

    async def _begin(self, traffic: Traffic, kind: Kind, words: str, details: dict[str, Any]) -> dict[str, Any]:
        async with self._starting:
            if self._next_flow is None:
                self._next_flow = await asyncio.to_thread(self._flows_of_the_lab)
            wanted = self._running.wanted
            number = next(self._starts)
            start = await asyncio.to_thread(
                compile_start, self._network.plan, wanted.lab_directory, traffic, number, self._next_flow
            )
            for part in start.parts:
                await self._server.opened(part)
            self._next_flow = start.next_flow
            names = names_of(start.programs)
            said = await self._server.begun(
                {"start": {"programs": start.programs, "role": "traffic"}}, lambda: self._over(traffic.name, names)
            )
            self._live_programs.setdefault(traffic.name, []).append(names)
            epoch_ns = int(said.get("epoch_ns") or 0)
            place = f"{LIVE_FILES}/{number}"
            more = {"directory": place, "congestion_controls": self._network.congestion_controls()}
            self._running.changes.add(Done(epoch_ns, kind, words, {**details, **more}))
        return {**await self._state({}), "flows": start.flows, "epoch_ns": said.get("epoch_ns")}

    def _over(self, traffic: str, names: list[str]) -> None:
        """Forget programs that have ended."""
        if names in self._live_programs.get(traffic, []):
            self._live_programs[traffic].remove(names)
        if not self._live_programs.get(traffic):
            self._loop.ended(traffic)

    def _flows_of_the_lab(self) -> int:
        """Return the first number that no flow of the lab's own trace has."""
        trace = self._running.directory / "traffic" / "trace.csv"
        highest = -1
        with trace.open(encoding="utf-8") as lines:
            for line in lines:
                number = line.partition(",")[0]
                if number.isdigit():
                    highest = max(highest, int(number))
        return highest + 1

    async def _started(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"started": self._running.started()}

    async def _stop(self, asked: dict[str, Any]) -> dict[str, Any]:
        name = str(asked.get("traffic"))
        traffic = [each.name for each in self._plan.traffic]
        names = [one for start in self._live_programs.get(name, []) for one in start]
        was_looped = self._loop.remove(name)
        if not names and was_looped:
            return await self._state(asked)
        if not names:
            if name not in traffic and name != "flow":
                raise ArgumentError("{0!r}: the lab has no such traffic; {1}", name, did_you_mean(name, traffic))
            raise Refused(
                f"{name}: no traffic of this name that was started by hand is running; the lab's own traffic ends "
                "with the lab "
                "(`fabriclab up LAB --idle` starts without it)"
            )
        said = await self._server.opened({"stop": {"names": names}})
        at_ns = int(said["t_ns"]) - self._running.epoch_ns
        self._running.changes.add(Done(at_ns, "stop", f"stop {name}", {"traffic": name, "programs": names}))
        return await self._state(asked)

    # -- The end ------------------------------------------------------------------------------------------------------

    async def _down(self, _: dict[str, Any]) -> dict[str, Any]:
        self._server.go_down()
        if self._server.result is None:
            raise Refused("the lab is not up")
        result = await asyncio.shield(self._server.result)
        return {
            "status": result.status,
            "message": result.message,
            "now_ns": result.virtual_ns,
            "directory": str(result.directory.absolute()),
        }


def check_node(plan: Plan, node: object) -> None:
    """Raise ArgumentError for a node that the lab has not."""
    names = [each.name for each in plan.nodes]
    if node not in names:
        raise ArgumentError("{0!r}: the lab has no such node; {1}", node, did_you_mean(str(node), names))
