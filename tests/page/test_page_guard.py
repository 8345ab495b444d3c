"""Whom the page's server lets in, byte by byte as a browser or a stranger would ask."""

from __future__ import annotations

import socket

import pytest
from page_entry import entered, get
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from fabriclab.page.serve import Page as Server

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def test_the_token_becomes_a_cookie_and_leaves_the_address(server: Server) -> None:
    cookie = entered(server)
    status, headers = get(server, "/", {"Cookie": cookie})
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self';" in policy
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/", "/page.js", "/page.css", "/feed", "/?token=", "/?token=wrong", "/none"])
def test_without_a_token_nothing_is_shown(server: Server, path: str) -> None:
    assert get(server, path)[0] == 403
    assert get(server, path, {"Cookie": f"{server.keys.cookie_name}=wrong"})[0] == 403


def test_a_ticket_lets_in_once(server: Server) -> None:
    path = server.keys.address_once("/?lab=a").split(str(server.keys.port))[1]
    status, headers = get(server, path)
    assert (status, headers["location"]) == (303, "/?lab=a")
    assert get(server, path)[0] == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "127.0.0.1", "", "[::1]:{port}"]
)
def test_another_name_is_refused_with_token_and_cookie(server: Server, host: str) -> None:
    name = host.format(port=server.keys.port)
    assert get(server, "/", {"Host": name, "Cookie": entered(server)})[0] == 403
    assert get(server, server.keys.address().split(str(server.keys.port))[1], {"Host": name})[0] == 403


def test_a_form_of_another_site_is_refused(server: Server) -> None:
    cookie = {"Cookie": entered(server)}
    for origin in ("https://evil.example", "null", f"http://127.0.0.1:{server.keys.port + 1}"):
        assert get(server, "/", {**cookie, **FORM, "Origin": origin}, "POST")[0] == 403
        assert get(server, "/", {**cookie, "Origin": origin})[0] == 403
    assert get(server, "/", {**cookie, **FORM}, "POST")[0] == 403


@pytest.mark.parametrize("path", ["feed", "terminal?node=h1"])
@pytest.mark.parametrize("origin", ["https://evil.example", None, "null", "http://127.0.0.1:1"])
def test_a_websocket_of_another_site_is_refused(server: Server, path: str, origin: str | None) -> None:
    cookie = {"Cookie": entered(server)}
    headers = cookie if origin is None else {**cookie, "Origin": origin}
    with pytest.raises(InvalidStatus, match="403"):
        connect(f"ws://127.0.0.1:{server.keys.port}/{path}", additional_headers=headers)


def test_a_websocket_needs_the_cookie(server: Server) -> None:
    address = f"ws://127.0.0.1:{server.keys.port}/feed"
    origin = {"Origin": f"http://127.0.0.1:{server.keys.port}"}
    with pytest.raises(InvalidStatus, match="403"):
        connect(address, additional_headers=origin)
    with connect(address, additional_headers={**origin, "Cookie": entered(server)}) as feed:
        assert '"gone"' in str(feed.recv())


def test_it_listens_on_loopback_alone(server: Server) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", server.keys.port))
