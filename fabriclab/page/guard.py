"""Whom the page lets in: the browser that came with the token, and nothing that another site makes it send.

A page on the Internet can make a browser send requests to this computer, and by DNS rebinding read the answers under a
name of its own. So the name that is asked for (Host) must be loopback's, what is not a plain page load must say that it
comes from this page (Origin), and all must carry a cookie that only the token gives.
"""

from __future__ import annotations

import hmac
import secrets
from abc import ABC, abstractmethod
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        # xterm.js writes the rules of its rows and colours into a style element.
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_MOST_TICKETS = 16
_REFUSED = "This page opens by its address with the token, which `fabriclab ui` prints.\n"


class Keys:
    """What lets a browser in: a token for whoever sees the terminal, tickets for one use, the cookie that both give."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookie_name = f"fabriclab-{port}"
        """Cookies know no ports: each server has a name of its own."""
        self._token = secrets.token_urlsafe(32)
        self._cookie = secrets.token_urlsafe(32)
        self._tickets: list[str] = []

    def address(self, path: str = "/") -> str:
        """Return the page's address with the token."""
        return self._address(path, self._token)

    def address_once(self, path: str = "/") -> str:
        """Return an address that lets in once: a browser is started by it, and others can read its command line."""
        self._tickets = [*self._tickets[1 - _MOST_TICKETS :], secrets.token_urlsafe(32)]
        return self._address(path, self._tickets[-1])

    def _address(self, path: str, token: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}{'&' if '?' in path else '?'}token={token}"

    def takes(self, token: str) -> bool:
        """Return whether a token lets in; a ticket does not a second time."""
        for ticket in self._tickets:
            if _same(ticket, token):
                self._tickets.remove(ticket)
                return True
        return _same(self._token, token)

    def knows(self, headers: Headers) -> bool:
        """Return whether a request has the cookie."""
        try:
            morsel = SimpleCookie(headers.get("cookie", "")).get(self.cookie_name)
        except CookieError:
            return False
        return morsel is not None and _same(self._cookie, morsel.value)

    def bears(self, headers: Headers) -> bool:
        """Return whether a request has the token itself, as a scraper sends it: browsers do so for no other site."""
        scheme, _, token = headers.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and _same(self._token, token.strip())

    @property
    def token(self) -> str:
        """The token."""
        return self._token

    def give(self, response: Response) -> None:
        """Put the cookie into a response."""
        response.set_cookie(self.cookie_name, self._cookie, path="/", httponly=True, samesite="strict")


class Guard(ABC):
    """Stands before an application, and passes on what may come in."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    @abstractmethod
    def answer(self, scope: Scope, headers: Headers, is_page_load: bool) -> Response | None:
        """Return the answer to a request that is not passed on, None for one that is."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it."""
        if scope["type"] not in ("http", "websocket"):
            return
        is_page_load = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        answer = self.answer(scope, Headers(scope=scope), is_page_load)
        if scope["type"] == "websocket":
            await (self._close(send) if answer else self._app(scope, receive, send))
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        await (answer or self._app)(scope, receive, send_with_headers)

    async def _close(self, send: Send) -> None:
        await send({"type": "websocket.close", "code": 1008, "reason": ""})


class ProxyGuard(Guard):
    """Behind a proxy that knows who comes, on a socket of this user's: refuses what another site sends."""

    def answer(self, scope: Scope, headers: Headers, is_page_load: bool) -> Response | None:
        """Let a page load in, and what comes from a page of the name that is asked for."""
        origin, host = headers.get("origin"), headers.get("host")
        same = origin in (f"http://{host}", f"https://{host}")
        return None if same or (is_page_load and origin is None) else _elsewhere()


class TokenGuard(Guard):
    """On a port of loopback: lets in who has the token."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        super().__init__(app)
        self._keys = keys
        self._hosts = {f"{name}:{keys.port}" for name in ("127.0.0.1", "localhost")}
        self._origins = {f"http://{host}" for host in self._hosts}

    def answer(self, scope: Scope, headers: Headers, is_page_load: bool) -> Response | None:
        """Let in what has the cookie, and give it to what has the token."""
        answer = self._refusal(headers, is_page_load)
        if answer is None and is_page_load:
            answer = self._entrance(scope)
        if answer is None and not self._keys.knows(headers) and not (is_page_load and self._keys.bears(headers)):
            answer = PlainTextResponse(_REFUSED, 403)
        return answer

    def _refusal(self, headers: Headers, is_page_load: bool) -> Response | None:
        if headers.get("host") not in self._hosts or len(headers.getlist("host")) != 1:
            return PlainTextResponse("This server answers by the name 127.0.0.1 or localhost only.\n", 403)
        origin = headers.get("origin")
        if origin not in self._origins and not (is_page_load and origin is None):
            return _elsewhere()
        return None

    def _entrance(self, scope: Scope) -> Response | None:
        """Return the answer to an address with a token: the cookie, and the same address without the token."""
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        tokens = asked.pop("token", [])
        if not tokens:
            return None
        if not self._keys.takes(tokens[0]):
            return PlainTextResponse(_REFUSED, 403)
        rest = urlencode(asked, doseq=True)
        # Never `//`: that would be another server's address.
        answer = RedirectResponse("/" + scope["path"].lstrip("/\\") + (f"?{rest}" if rest else ""), 303)
        self._keys.give(answer)
        return answer


def _elsewhere() -> Response:
    return PlainTextResponse("Only this server's own page may send that.\n", 403)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode(errors="replace"))
