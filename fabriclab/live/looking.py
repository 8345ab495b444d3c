"""The questions `look` and `connections`: what stands in a live lab's ports, and its hosts' connections.

The kernel answers them, while nothing runs; nothing that happens later depends on it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from fabriclab.errors import ArgumentError
from fabriclab.formats.live import PAYLOAD_MAX, Request
from fabriclab.formats.live_look import EVERY_NODE, LOOK_FRAMES, PLACE
from fabriclab.keys.wording import did_you_mean
from fabriclab.live.clients import Refused
from fabriclab.live.connections import connections_of, flows_of
from fabriclab.live.machine import Seen
from fabriclab.live.packets import Ends, packet_answer
from fabriclab.live.records import Port, pools_answer, port_answer, ports_of
from fabriclab.live.running import Running
from fabriclab.live.server import Server

MOST_STANDING = 2000
"""So many packets are told in one answer at most; how many there are each queue says."""
_PLACE = struct.Struct(PLACE)
_PLACES = PAYLOAD_MAX // _PLACE.size

Place = tuple[str, str]
"""A node and an interface."""


class Looking:
    """The answers of one lab's server."""

    def __init__(self, server: Server, running: Running) -> None:
        """Take the questions of a server."""
        self._running = running
        plan = running.wanted.plan
        self._numbers = {node.name: number for number, node in enumerate(plan.nodes)}
        self._ports = {node.name: [port.interface for port in node.ports] for node in plan.nodes}
        self._every = [(node, interface) for node, interfaces in self._ports.items() for interface in interfaces]
        server.answer("look", self._look)
        server.answer("connections", self._connections)

    async def _look(self, asked: dict[str, Any]) -> dict[str, Any]:
        places, frames = self._places(asked.get("ports")), bool(asked.get("packets"))
        flows = flows_of((await self._see(Request.CONNECTIONS, EVERY_NODE, 1)).records) if frames else {}
        shown = _Shown(flows if frames else None)
        instant_ns = 0
        for first in range(0, len(places), _PLACES):
            some = places[first : first + _PLACES]
            payload = b"".join(_PLACE.pack(self._numbers[node], interface.encode()) for node, interface in some)
            seen = await self._see(Request.LOOK, LOOK_FRAMES if frames else 0, payload=payload)
            instant_ns = seen.instant_ns
            shown.add(some, seen.records)
        return {"now_ns": instant_ns - self._running.epoch_ns, "ports": shown.ports, "switches": shown.switches}

    async def _connections(self, asked: dict[str, Any]) -> dict[str, Any]:
        number = self._numbers[self._node(asked.get("node"))]
        seen = await self._see(Request.CONNECTIONS, number)
        found = sorted(connections_of(seen.records), key=lambda each: (each["state"] == "listen", each["local"]))
        return {"now_ns": seen.instant_ns - self._running.epoch_ns, "connections": found}

    async def _see(self, kind: Request, a: int = 0, b: int = 0, payload: bytes = b"") -> Seen:
        return await self._running.virtual_machine.look(kind, a, b, payload)

    # -- What is asked for --------------------------------------------------------------------------------------------

    def _places(self, asked: object) -> list[Place]:
        """Return the ports that are asked for; None: all. Raises ArgumentError, Refused."""
        if asked is None:
            return self._every
        if not isinstance(asked, list) or len(asked) > len(self._every):
            raise Refused("ports must be a list of [node, interface], each at most once, or null for all")
        return [self._place(each) for each in asked]

    def _place(self, asked: object) -> Place:
        if not isinstance(asked, list) or len(asked) != 2:
            raise Refused(f"{asked!r} is not a port; write [node, interface]")
        node, interface = self._node(asked[0]), str(asked[1])
        if interface not in self._ports[node]:
            text = "{0!r}: {1} has no such port; {2}"
            raise ArgumentError(text, interface, node, did_you_mean(interface, self._ports[node]))
        return node, interface

    def _node(self, asked: object) -> str:
        if asked not in self._numbers:
            text = "{0!r}: the lab has no such node; {1}"
            raise ArgumentError(text, asked, did_you_mean(str(asked), list(self._numbers)))
        return str(asked)


class _Shown:
    """What an answer has of ports and switches."""

    def __init__(self, flows: dict[Ends, int] | None) -> None:
        self._flows = flows
        self._left = MOST_STANDING
        self.ports: list[dict[str, Any]] = []
        self._pools: dict[str, list[dict[str, Any]]] = {}

    def add(self, places: Sequence[Place], records: bytes) -> None:
        """Take a look's records."""
        for (node, interface), port in zip(places, ports_of(records), strict=True):
            answer = {"node": node, "interface": interface, **port_answer(port)}
            self.ports.append(answer)
            self._pools.setdefault(node, pools_answer(port))
            for queue in answer["queues"]:
                handle = queue.pop("handle", queue["queue"])
                if self._flows is not None:
                    queue["standing"] = list(self._standing(port, handle, self._flows))

    def _standing(self, port: Port, handle: int, flows: dict[Ends, int]) -> Iterator[dict[str, Any]]:
        frames = port.frames.get(handle, [])[: self._left]
        self._left -= len(frames)
        return (packet_answer(raw, flows) for raw in frames)

    @property
    def switches(self) -> list[dict[str, Any]]:
        """Return the shared memory of each switch that has one."""
        return [
            {
                "node": node,
                "shared_bytes": sum(pool["used_bytes"] for pool in pools),
                "shared_limit_bytes": sum(pool["size_bytes"] - pool["reserved_bytes"] for pool in pools),
                "headroom_bytes": sum(pool["headroom_bytes"] for pool in pools),
                "pools": pools,
            }
            for node, pools in self._pools.items()
            if pools
        ]
