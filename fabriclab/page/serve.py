"""The process of the page's server: in the foreground (`fabriclab ui`), or `python -m fabriclab.page.serve`, which
`up --open` starts and which ends with its lab.

It serves three files, metrics, and two kinds of WebSocket."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from fabriclab.engine.detached import CHANNEL
from fabriclab.errors import FabriclabError
from fabriclab.files import explain
from fabriclab.live import labs_up
from fabriclab.page.assets import FILES, PAGE
from fabriclab.page.connections import MOST_REQUESTS, Connection
from fabriclab.page.feed import serve_feed
from fabriclab.page.guard import Guard, Keys, ProxyGuard, TokenGuard
from fabriclab.page.metrics import PATH as METRICS
from fabriclab.page.metrics import Metrics
from fabriclab.page.terminals import serve_terminal


def application(keys: Keys | None) -> Guard:
    """Return the application, guarded: by these keys, or by a proxy alone. Raises PageError where its files are not
    built.
    """
    routes: list[Route | WebSocketRoute] = [
        Route("/" if name == "index.html" else f"/{name}", _file(data, FILES[name]))
        for name, data in PAGE.load().items()
    ]
    routes.append(Route(METRICS, Metrics().answer))
    routes += [WebSocketRoute("/feed", serve_feed), WebSocketRoute("/terminal", serve_terminal)]
    app = Starlette(routes=routes)
    return ProxyGuard(app) if keys is None else TokenGuard(app, keys)


def _file(data: bytes, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_: Request) -> Response:
        return Response(data, media_type=media_type)

    return answer


_LOOPBACK = "127.0.0.1"
_LARGEST_MESSAGE = 1 << 18
_LAST_WORDS_S = 3.0
"""How long browsers may learn that the lab has gone down."""


class Server:
    """Serves the page on a socket."""

    def __init__(self, listening: socket.socket, keys: Keys | None) -> None:
        """Take the socket, and what lets a browser in; None: who reaches the socket is let in. Raises PageError."""
        self._socket = listening
        config = uvicorn.Config(
            application(keys),
            lifespan="off",
            log_level="error",
            access_log=False,
            server_header=False,
            http=Connection,
            limit_concurrency=MOST_REQUESTS,
            timeout_graceful_shutdown=1,
            ws="websockets-sansio",
            ws_max_size=_LARGEST_MESSAGE,
            # It stays on this computer: to pack it would only take time.
            ws_per_message_deflate=False,
        )
        self._server = uvicorn.Server(config)

    def stop(self) -> None:
        """End serving; any thread may ask for it."""
        self._server.should_exit = True

    def serve(self, lab: str | None = None) -> None:
        """Serve until SIGINT or SIGTERM, or until that lab has gone down."""
        asyncio.run(self._serve(lab))

    async def _serve(self, lab: str | None) -> None:
        serving = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        while lab is not None and not serving.done():
            await asyncio.wait((serving,), timeout=1.0)
            if lab not in labs_up.labs():
                await asyncio.wait((serving,), timeout=_LAST_WORDS_S)
                break
        if lab is not None:
            self._server.should_exit = True
        await serving


class Page(Server):
    """The page at a port of loopback, for whoever has its keys."""

    def __init__(self, port: int) -> None:
        """Take a port; 0 is any that is free. Raises OSError, PageError."""
        listening = socket.create_server((_LOOPBACK, port))
        self.keys = Keys(listening.getsockname()[1])
        super().__init__(listening, self.keys)


class ProxiedPage(Server):
    """The page at a Unix socket of this user's alone, for a proxy that knows who comes."""

    def __init__(self, path: Path) -> None:
        """Make the socket; one that somebody left there is replaced. Raises OSError, PageError."""
        if path.is_socket():
            path.unlink()
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            listening.bind(str(path))
        finally:
            os.umask(before)
        listening.listen()
        super().__init__(listening, None)


def path_of(lab: str | None) -> str:
    """Return where the page shows a lab."""
    from urllib.parse import urlencode

    return "/" if lab is None else f"/?{urlencode({'lab': lab})}"


def main() -> None:
    """Serve the page of a lab until that goes down: the whole of a process. It says its address on its channel."""
    os.set_inheritable(CHANNEL, False)
    lab = sys.argv[1]
    with socket.socket(fileno=CHANNEL) as channel:
        try:
            page = Page(0)
            said = {"once": page.keys.address_once(path_of(lab)), "address": page.keys.address(path_of(lab))}
        except OSError as error:
            said = {"failed": explain(error)}
        except FabriclabError as error:
            said = {"failed": str(error)}
        with suppress(OSError):
            channel.sendall(json.dumps(said).encode())
    if "failed" not in said:
        page.serve(lab)


if __name__ == "__main__":
    main()
