"""A stand-in for a live lab's server: the lab `incast`, whose client's port has a queue that comes and goes by itself.

It answers what the page asks; its terminal says what it is sent.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from fabriclab.api.lab import load_lab
from fabriclab.formats.live import Input, Output
from fabriclab.formats.plan import Plan, plan_json
from fabriclab.live.adjustable import adjustable
from fabriclab.live.labs_up import Entry
from fabriclab.live.wire import client_frame, decode, encode, number, parse_client_head
from fabriclab.resolve import resolve_plan

TRACE = (
    "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,after\n0,0,h1,client,1000000,\n1,1000,h2,client,2000000,\n"
)
LOG = (
    "# fabriclab-flows-2\nflow,side,status,start_ns,end_ns,bytes,retransmits,timeouts\n"
    "0,src,complete,100,,1000000,3,0\n0,dst,complete,,9000100,1000000,,\n"
)


def plan(lab: str = "incast") -> Plan:
    """Return the plan of a lab."""
    return resolve_plan(load_lab(lab).written, {}, None)


class FakeLab:
    """One lab in the registry, served by a thread. Use as a context manager."""

    def __init__(self, directory: Path) -> None:
        self.plan = plan()
        self.directory = directory
        self.asked: list[dict[str, Any]] = []
        self.looks = 0
        self.refused: set[str] = set()
        self.paused = False
        self.down: set[str] = set()
        self.stories: list[dict[str, Any]] = []
        self.played = 0
        self.loop: dict[str, Any] = {"again": {}, "failed": ""}
        self._begun = time.monotonic_ns()
        self._stopped_ns = 0
        self.entry = Entry("fake")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))
        self._over = asyncio.Event()
        self._ready = threading.Event()
        self._writers: set[asyncio.StreamWriter] = set()

    def __enter__(self) -> FakeLab:
        for name, text in (
            ("plan.json", plan_json(self.plan)),
            ("traffic/trace.csv", TRACE),
            ("raw/flows/h1.csv", LOG),
        ):
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self._thread.start()
        self._ready.wait()
        nodes = [node.name for node in self.plan.nodes]
        facts: dict[str, Any] = {"lab": "incast", "directory": str(self.directory), "nodes": nodes, "traffic": ["sru"]}
        facts |= {
            "idle": False,
            "routers": [],
            "ports": {n.name: [p.interface for p in n.ports] for n in self.plan.nodes},
        }
        self.entry.fill(facts)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Go down."""
        if self._thread.is_alive():
            self.entry.close()
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join()
            self._loop.close()

    async def _serve(self) -> None:
        async with await asyncio.start_unix_server(self._accepted, self.entry.socket) as server:
            self._ready.set()
            await self._over.wait()
            # The socket's path is gone, so nobody new comes. Those that are just being accepted are taken, and
            # dropped as with a process, before the server closes: asyncio forgets one that it accepts after that,
            # and its client waits for ever (Server._attach of Python 3.11).
            turn = 0
            while turn < 10 or asyncio.all_tasks() - {asyncio.current_task()}:
                for writer in list(self._writers):
                    writer.transport.abort()
                await asyncio.sleep(0.01)
                turn += 1
            server.close()

    @property
    def now_ns(self) -> int:
        return self._stopped_ns if self.paused else time.monotonic_ns() - self._begun

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            length, _ = parse_client_head(await reader.readexactly(5))
            question = decode(await reader.readexactly(length))
            if question["do"] == "open":
                await self._terminal(question["open"]["exec"], reader, writer)
            else:
                writer.write(client_frame(*self._answer(question)))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            # Aborted with the lab until all is sent: else what is left keeps the connection open.
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self._writers.discard(writer)

    async def _terminal(
        self, opened: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        size = opened["terminal"]
        said = f"{opened['node']} {' '.join(opened['argv'])} {size['rows']}x{size['columns']}\r\n"
        writer.write(client_frame(Output.STARTED, b"{}"))
        writer.write(client_frame(Output.STDOUT, said.encode()))
        while True:
            length, kind = parse_client_head(await reader.readexactly(5))
            data = await reader.readexactly(length)
            if kind == Input.DATA:
                writer.write(client_frame(Output.STDOUT, data))
                writer.write(client_frame(Output.CREDIT, number(len(data))))
            if data == b"\x04":
                writer.write(client_frame(Output.ENDED, b'{"status":"exit 0"}'))
                return

    def _answer(self, question: dict[str, Any]) -> tuple[int, bytes]:
        if question["do"] not in ("look", "state", "started", "adjustable", "breaks", "stories", "story"):
            self.asked.append(question)
        match question["do"]:
            case refused if refused in self.refused:
                return Output.ERROR, json.dumps({"message": f"{refused}: not here"}).encode()
            case "pause" | "resume" | "state" | "speed" | "step":
                self._pace(question)
                body = {"now_ns": self.now_ns, "paused": self.paused, "speed": "1", "ratio": 1.0, "loop": self.loop}
            case "started" | "breaks" | "break" | "stories" | "story" | "play":
                body = self._told(question["do"])
            case "adjustable":
                body = {"adjustable": list(adjustable(self.plan))}
            case "look":
                body = self._look(question)
            case "link":
                (self.down.add if question["action"] == "down" else self.down.discard)(question["port"])
                body = {"changes": [f"{question['port']}: {question['action']}"], "changed": True}
            case "set":
                body = {"changes": ["switches.s1.buffer: 64 KB -> 70 KB"], "changed": True}
            case other:
                return Output.ERROR, json.dumps({"message": f"{other!r}: unknown request"}).encode()
        return Output.ANSWER, encode(body)

    def _told(self, do: str) -> dict[str, Any]:
        self.played += do == "play"
        breaks = {"breaks": [{"number": 1, "condition": "s1 drop"}], "number": 1}
        answers: dict[str, dict[str, Any]] = {
            **{"started": {"started": {}}, "breaks": breaks, "break": breaks},
            "stories": {"stories": self.stories, "chosen": None},
            "story": {"steps": {one["name"]: self.played for one in self.stories}, "playing": None},
            "play": {"told": ["time stands at 0.1 s"], "step": self.played},
        }
        return answers[do]

    def _pace(self, question: dict[str, Any]) -> None:
        if question["do"] == "pause":
            self._stopped_ns, self.paused = self.now_ns, True
        elif question["do"] == "resume" and self.paused:
            self._begun, self.paused = time.monotonic_ns() - self._stopped_ns, False
        elif question["do"] == "step":
            self._stopped_ns, self.paused = self.now_ns + question["duration_ns"], True

    def _look(self, question: dict[str, Any]) -> dict[str, Any]:
        self.looks += 1
        now_ns = self.now_ns
        wanted = question["ports"]
        every = [(node.name, port) for node in self.plan.nodes for port in node.ports]
        ports = [
            self._port(node, port.interface, port.rate_bps, now_ns, bool(question["packets"]))
            for node, port in every
            if wanted is None or [node, port.interface] in wanted
        ]
        return {"now_ns": now_ns, "ports": ports, "switches": []}

    def _port(self, node: str, interface: str, rate_bps: int | None, now_ns: int, packets: bool) -> dict[str, Any]:
        busy = (node, interface) == ("s1", "eth49")
        phase = now_ns // 1_000_000 % 1000
        queued = min(phase, 1000 - phase) * 120 if busy else 0
        sent = now_ns // 10 if busy else now_ns // 160 if node.startswith("h") else 0
        packet = {
            "src": "10.0.0.1:5000",
            "dst": "10.0.0.97:7000",
            "protocol": "tcp",
            "flow": 1,
            "bytes": 1514,
            "seq": 1,
        }
        standing = [{**packet, "ack": 1, "flags": "A", "ecn": "ECT(0)", "waited_ns": 12_000}] * (queued // 1514)
        queue = {"queue": 0, "bytes": queued, "packets": queued // 1514, "drops": phase if busy else 0, "marks": None}
        return {
            **{
                "node": node,
                "interface": interface,
                "up": f"{node}:{interface}" not in self.down,
                "rate_bps": rate_bps,
            },
            **{"paused": [3] if node == "h3" else [], "pausing": [], "tx_bytes": sent, "tx_packets": sent // 1500},
            **{"rx_bytes": 0, "rx_packets": 0, "drops": now_ns // 10**8 if busy else 0, "marks": None},
            **{"pauses_sent": 0, "pauses_received": 0, "queues": [queue | ({"standing": standing} if packets else {})]},
        }
