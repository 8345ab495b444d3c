"""The page's web server: three files, and two kinds of WebSocket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from fabriclab.page.assets import FILES, PAGE
from fabriclab.page.feed import serve_feed
from fabriclab.page.guard import Guard, Keys, ProxyGuard, TokenGuard
from fabriclab.page.terminals import serve_terminal


def application(keys: Keys | None) -> Guard:
    """Return the application, guarded: by these keys, or by a proxy alone. Raises PageError where its files are not
    built.
    """
    routes: list[Route | WebSocketRoute] = [
        Route("/" if name == "index.html" else f"/{name}", _file(data, FILES[name]))
        for name, data in PAGE.load().items()
    ]
    routes += [WebSocketRoute("/feed", serve_feed), WebSocketRoute("/terminal", serve_terminal)]
    app = Starlette(routes=routes)
    return ProxyGuard(app) if keys is None else TokenGuard(app, keys)


def _file(data: bytes, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_: Request) -> Response:
        return Response(data, media_type=media_type)

    return answer
