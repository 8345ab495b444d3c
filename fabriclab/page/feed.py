"""What a browser is told of one lab: the lab itself, then how it gets on, as often as it shows what has changed.

Each browser has a loop of its own that asks the lab, sends what came, and only then asks again: one that reads slowly
is told less often, and nothing piles up for it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from fabriclab.errors import FabriclabError
from fabriclab.live import labs_up
from fabriclab.live.client import Gone, LiveError
from fabriclab.live.wire import decode, encode
from fabriclab.page.connections import within_reason
from fabriclab.page.drawing import drawn, plan_of
from fabriclab.page.flows import Flows
from fabriclab.page.lab import asked

LOOK_S = 0.05
_STATE_EVERY, _FLOWS_EVERY = 4, 8
"""So many looks apart."""
_REFUSED_FOR = 40
"""So many looks are left out after one that the lab refused: its engine has none, or a port is not there."""
_MOST_ASKED = 8
"""Questions of one browser that may wait for their answers."""
_LONGEST_MESSAGE = 1 << 16
QUESTIONS = (
    *("state", "pause", "resume", "step", "speed", "start", "stop", "flow"),
    *("look", "connections", "set", "link", "node", "adjustable", "break", "breaks", "unbreak"),
    *("stories", "story", "play", "loop"),
)
"""What a browser may ask a lab's server for."""


async def serve_feed(socket: WebSocket) -> None:
    """Tell a browser of the lab that it names, and answer what it asks, until one of the two goes."""
    await socket.accept()
    name = socket.query_params.get("lab") or None
    feed: Feed | None = None
    try:
        try:
            labs = labs_up.labs()
            feed = Feed(socket, chosen(labs, name))
            await feed.run(labs)
        except FabriclabError as error:
            await _say_gone(socket, str(error))
        except (OSError, ValueError) as error:
            await _say_gone(socket, f"the lab's run directory can't be read: {error}")
    except (WebSocketDisconnect, RuntimeError, TimeoutError):
        return
    finally:
        if feed is not None:
            await feed.stop()
    with suppress(WebSocketDisconnect, RuntimeError):
        await socket.close()


def chosen(labs: Mapping[str, Any], name: str | None) -> str:
    """Return the lab that is meant: the one named, else the first. Raises Gone."""
    if name is not None and name in labs:
        return name
    if name is None and labs:
        return min(labs)
    raise Gone("no lab is up; `fabriclab up LAB` starts one" if name is None else f"{name}: the lab is not up")


async def _say_gone(socket: WebSocket, message: str) -> None:
    await within_reason(socket.send_text(json.dumps({"kind": "gone", "body": {"message": message}})))


class Feed:
    """One browser that shows one lab."""

    def __init__(self, socket: WebSocket, name: str) -> None:
        self._socket = socket
        self._name = name
        self._sending = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ports: list[list[str]] | None = []
        self._packets = False
        self._told: dict[str, bytes] = {}
        self._flows: Flows | None = None

    async def run(self, labs: Mapping[str, Mapping[str, Any]]) -> None:
        """Tell of the lab until it has gone down.

        Raises Gone, OSError and ValueError for a run directory that is none, WebSocketDisconnect, TimeoutError.
        """
        try:
            await self._introduce(labs)
            loops = [asyncio.create_task(one) for one in (self._listen(), self._watch())]
            self._tasks.update(loops)
            done, _ = await asyncio.wait(loops, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except Gone:
            # Also before the first look: it was up when the browser was told of it.
            raise Gone(f"{self._name}: the lab has gone down") from None

    async def stop(self) -> None:
        """Give up what is under way."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _introduce(self, labs: Mapping[str, Mapping[str, Any]]) -> None:
        facts = dict(labs[self._name])
        directory = Path(facts["directory"])
        plan = await asyncio.to_thread(plan_of, directory)
        self._flows = await asyncio.to_thread(lambda: Flows(directory, idle=bool(facts.get("idle"))))
        drawing = await asyncio.to_thread(drawn, plan)
        about = {"drawing": drawing, "labs": sorted(labs), "title": plan.title}
        await self._send("lab", {**{key: facts[key] for key in ("name", "lab", "traffic", "routers")}, **about})
        await self._tell("stories", {"do": "stories"})

    async def _send(self, kind: str, body: dict[str, Any]) -> None:
        await self._send_raw(kind, encode(body))

    async def _send_raw(self, kind: str, body: bytes) -> None:
        text = f'{{"kind":"{kind}","body":{body.decode(errors="replace")}}}'
        async with self._sending:
            await within_reason(self._socket.send_text(text))

    # -- What the browser says ----------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        while True:
            text = await self._socket.receive_text()
            try:
                said = decode(text.encode()) if len(text) <= _LONGEST_MESSAGE else {}
            except ValueError:
                said = {}
            if "show" in said:
                self._show(said["show"])
            elif "ask" in said:
                await self._take(said)

    def _show(self, shown: object) -> None:
        """Take note of the ports that the browser shows: null is all."""
        wanted = shown if isinstance(shown, dict) else {}
        ports = wanted.get("ports")
        self._ports = ports if ports is None or isinstance(ports, list) else []
        self._packets = bool(wanted.get("packets"))
        self._told.pop("look", None)

    async def _take(self, said: dict[str, Any]) -> None:
        number = said.get("id")
        if len(self._tasks) > _MOST_ASKED + 2:
            await self._send("error", {"id": number, "message": "there are too many requests at once"})
            return
        task = asyncio.create_task(self._answer(number, said["ask"]))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, number: object, question: object) -> None:
        do = question.get("do") if isinstance(question, dict) else None
        try:
            if not isinstance(question, dict) or do not in QUESTIONS:
                raise LiveError(f"{do!r}: the page has no such request")
            answer = decode(await asked(self._name, question))
        except LiveError as error:
            await self._send("error", {"id": number, "message": str(error)})
            return
        await self._send("answer", {"id": number, "answer": answer})

    # -- What it is told ----------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        turn, look_again, next_s = 0, 0, loop.time()
        while True:
            if self._ports != [] and turn >= look_again:
                question = {"do": "look", "ports": self._ports, "packets": self._packets}
                if await self._tell("look", question) is None:
                    look_again = turn + _REFUSED_FOR
            if turn % _STATE_EVERY == 0:
                state = await self._tell("state", {"do": "state"})
                if turn % _FLOWS_EVERY == 0:
                    await self._tell_flows(decode(state or b"{}").get("now_ns", 0))
                    for kind in ("adjustable", "breaks", "story"):
                        await self._tell(kind, {"do": kind})
            turn += 1
            next_s = max(next_s + LOOK_S, loop.time())
            await asyncio.sleep(next_s - loop.time())

    async def _tell(self, kind: str, question: dict[str, Any]) -> bytes | None:
        """Ask the lab and tell the browser what has changed; returns the answer. Raises Gone.

        What the lab refuses is told, once; then there is no answer.
        """
        try:
            body = await asked(self._name, question)
        except Gone:
            raise
        except LiveError as error:
            await self._send_changed(f"no {kind}", encode({"message": str(error)}))
            return None
        await self._send_changed(kind, body)
        return body

    async def _send_changed(self, kind: str, body: bytes) -> None:
        if self._told.get(kind) != body:
            self._told[kind] = body
            await self._send_raw(kind, body)

    async def _tell_flows(self, now_ns: int) -> None:
        assert self._flows is not None
        try:
            started = decode(await asked(self._name, {"do": "started"}))["started"]
        except Gone:
            raise
        except LiveError:
            started = {}
        told = await asyncio.to_thread(self._flows.look, now_ns, started)
        body = encode(told)
        if told["ended"]:
            self._told.pop("flows", None)
        await self._send_changed("flows", body)
