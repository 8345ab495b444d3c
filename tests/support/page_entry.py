"""How a browser enters the live page."""

from __future__ import annotations

import http.client
from collections.abc import Mapping

from fabriclab.page.serve import Page as Server


def get(
    server: Server, path: str, headers: Mapping[str, str] | None = None, method: str = "GET"
) -> tuple[int, http.client.HTTPMessage]:
    connection = http.client.HTTPConnection("127.0.0.1", server.keys.port)
    connection.request(method, path, headers=dict(headers or {}))
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.headers


def entered(server: Server) -> str:
    """Return the cookie that the token gives."""
    status, headers = get(server, server.keys.address().split(str(server.keys.port))[1])
    assert (status, headers["location"]) == (303, "/")
    cookie, *attributes = headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(attributes)
    return str(cookie)
