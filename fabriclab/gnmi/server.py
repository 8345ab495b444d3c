"""The gNMI server: Capabilities, Get and Subscribe for the nodes of a lab that is up, on loopback, for who has its
token."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import grpc
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from fabriclab.errors import FabriclabError
from fabriclab.gnmi.messages import ENCODINGS, BadPathError, capabilities, notification, path_of, text_of
from fabriclab.gnmi.tree import Leaf, Path, leaves, meant
from fabriclab.keys.wording import did_you_mean
from fabriclab.live.client import LiveError
from fabriclab.live.wire import decode
from fabriclab.page.lab import asked

LOOK_S = 0.05
"""How often a lab is looked into for who wants to know of changes."""
_SHORTEST_NS = 50_000_000
_USUAL_NS = 1_000_000_000
_MOST_STREAMS = 32


@dataclass(frozen=True)
class Wanted:
    """What a client subscribes to."""

    path: Path
    on_change: bool
    every_s: float


class Service(gnmi_pb2_grpc.gNMIServicer):  # type: ignore[misc]  # pygnmi has no types
    """Answers for one lab."""

    def __init__(self, lab: str, nodes: Sequence[str], token: str) -> None:
        """Take the lab's name among those that are up, its nodes, and the token of who may ask."""
        self._lab = lab
        self._nodes = nodes
        self._token = token
        self._streams = 0

    async def Capabilities(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's name
        """Return the models and encodings that there are."""
        await self._let_in(context)
        return capabilities()

    async def Get(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's name
        """Return the leaves at some paths, now."""
        await self._let_in(context)
        encoding = await self._encoding(request.encoding, context)
        paths = [await self._path(request.prefix, one, context) for one in request.path] or [()]
        node = await self._node([request.prefix, *request.path], context)
        now_ns, found = await self._look(node, context)
        told = []
        for path in paths:
            some = meant(path, found)
            if not some:
                await _refuse(context, grpc.StatusCode.NOT_FOUND, f"{text_of(path)}: {node} has nothing there")
            told.append(notification(some, node, now_ns, encoding))
        return gnmi_pb2.GetResponse(notification=told)

    async def Subscribe(self, requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:  # noqa: N802 - gRPC's
        """Send the leaves at some paths: once, or again and again."""
        await self._let_in(context)
        first = await anext(requests, None)
        if first is None or not first.HasField("subscribe"):
            await _refuse(context, grpc.StatusCode.INVALID_ARGUMENT, "the first message must be a subscription")
        asked_for = first.subscribe
        if asked_for.mode == gnmi_pb2.SubscriptionList.POLL:
            await _refuse(context, grpc.StatusCode.UNIMPLEMENTED, "mode POLL: write ONCE or STREAM")
        if self._streams >= _MOST_STREAMS:
            await _refuse(context, grpc.StatusCode.RESOURCE_EXHAUSTED, f"{_MOST_STREAMS} subscriptions are open")
        encoding = await self._encoding(asked_for.encoding, context)
        node = await self._node([asked_for.prefix, *(one.path for one in asked_for.subscription)], context)
        wanted = [await self._wanted(asked_for.prefix, one, context) for one in asked_for.subscription]
        self._streams += 1
        try:
            is_once = asked_for.mode == gnmi_pb2.SubscriptionList.ONCE
            async for answer in self._stream(node, wanted, encoding, is_once, asked_for.updates_only, context):
                yield answer
        finally:
            self._streams -= 1

    async def _stream(
        self, node: str, wanted: Sequence[Wanted], encoding: int, is_once: bool, updates_only: bool, context: Any
    ) -> AsyncIterator[Any]:
        """Yield what is there, then `sync_response`, then what each subscription is to be told."""
        loop = asyncio.get_running_loop()
        now_ns, found = await self._look(node, context)
        told: list[dict[Path, int | str]] = [{} for _ in wanted]
        due = [loop.time() + one.every_s for one in wanted]
        for one, last in zip(wanted, told, strict=True):
            some = meant(one.path, found)
            last.update(_by_path(some))
            if some and not updates_only:
                yield gnmi_pb2.SubscribeResponse(update=notification(some, node, now_ns, encoding))
        yield gnmi_pb2.SubscribeResponse(sync_response=True)
        while not is_once:
            await asyncio.sleep(min(LOOK_S, *(max(0.0, when - loop.time()) for when in due)) if due else LOOK_S)
            now_ns, found = await self._look(node, context)
            for number, one in enumerate(wanted):
                some = meant(one.path, found)
                if one.on_change:
                    some = [leaf for leaf in some if told[number].get(_key(leaf)) != leaf[1]]
                    told[number].update(_by_path(some))
                elif loop.time() < due[number]:
                    continue
                else:
                    due[number] = max(due[number] + one.every_s, loop.time())
                if some:
                    yield gnmi_pb2.SubscribeResponse(update=notification(some, node, now_ns, encoding))

    # -- What is asked for --------------------------------------------------------------------------------------------

    async def _wanted(self, prefix: Any, subscription: Any, context: Any) -> Wanted:
        every_ns = subscription.sample_interval or _USUAL_NS
        if every_ns < _SHORTEST_NS:
            text = f"sample_interval {every_ns} ns: the shortest is {_SHORTEST_NS} ns"
            await _refuse(context, grpc.StatusCode.INVALID_ARGUMENT, text)
        path = await self._path(prefix, subscription.path, context)
        return Wanted(path, subscription.mode == gnmi_pb2.ON_CHANGE, every_ns / 1e9)

    async def _let_in(self, context: Any) -> None:
        """Let in who has the token: as a bearer, or as the password of any user."""
        said: Mapping[str, str] = {key: value for key, value in context.invocation_metadata() if isinstance(value, str)}
        scheme, _, bearer = said.get("authorization", "").partition(" ")
        tokens = (bearer if scheme.lower() == "bearer" else "", said.get("password", ""))
        if not any(hmac.compare_digest(self._token.encode(), token.encode()) for token in tokens):
            await _refuse(context, grpc.StatusCode.UNAUTHENTICATED, "give the token as password or as bearer token")

    async def _encoding(self, encoding: int, context: Any) -> int:
        if encoding not in ENCODINGS:
            await _refuse(context, grpc.StatusCode.UNIMPLEMENTED, "encodings are JSON, JSON_IETF and PROTO")
        return encoding

    async def _path(self, prefix: Any, message: Any, context: Any) -> Path:
        try:
            return (*path_of(prefix), *path_of(message))
        except BadPathError as error:
            return await _refuse(context, grpc.StatusCode.INVALID_ARGUMENT, str(error))

    async def _node(self, paths: Sequence[Any], context: Any) -> str:
        """Return the node that is the target."""
        node = next((path.target for path in paths if path.target), None)
        if node is None:
            text = f"no target; name a node: {did_you_mean('', self._nodes)}"
            return await _refuse(context, grpc.StatusCode.INVALID_ARGUMENT, text)
        if node not in self._nodes:
            text = f"target {node!r}: the lab has no such node; {did_you_mean(node, self._nodes)}"
            return await _refuse(context, grpc.StatusCode.NOT_FOUND, text)
        return str(node)

    async def _look(self, node: str, context: Any) -> tuple[int, list[Leaf]]:
        try:
            look = decode(await asked(self._lab, {"do": "look", "ports": None, "packets": False}))
        except LiveError as error:
            return await _refuse(context, grpc.StatusCode.UNAVAILABLE, str(error))
        return look["now_ns"], leaves(look, node)


def _key(leaf: Leaf) -> Any:
    return text_of(leaf[0])


def _by_path(some: Sequence[Leaf]) -> dict[Any, int | str]:
    return {_key(leaf): leaf[1] for leaf in some}


async def _refuse(context: Any, code: Any, text: str) -> NoReturn:
    await context.abort(code, text)
    raise AssertionError("abort raises")


class GnmiError(FabriclabError):
    """The server can't listen; the text says why."""


class Gnmi:
    """The server of one lab, at a port of loopback."""

    def __init__(self, lab: str, nodes: Sequence[str], token: str) -> None:
        self._service = Service(lab, nodes, token)

    async def start(self, port: int) -> tuple[Any, int]:
        """Listen, and return the server with its port; 0 is any that is free. Raises GnmiError."""
        # Without this the port could be another server's as well, and each would have some of the clients.
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        gnmi_pb2_grpc.add_gNMIServicer_to_server(self._service, server)
        try:
            found = server.add_insecure_port(f"127.0.0.1:{port}")
        except RuntimeError:
            found = 0
        if not found:
            await server.stop(None)
            raise GnmiError(f"--port {port}: the port is in use")
        await server.start()
        return server, found
