"""The page behind a proxy that knows who comes: a socket of this user's, and nothing that another site sends."""

from __future__ import annotations

import http.client
import socket
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from page_fixtures import serving

from fabriclab.page.serve import ProxiedPage

HUB = "hub.example:8000"
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


@pytest.fixture
def path(tmp_path: Path, runtime: Path) -> Iterator[Path]:
    """The socket of a page that serves."""
    place = tmp_path / "page.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
        left.bind(str(place))  # somebody left it there
    with serving(lambda: ProxiedPage(place)):
        yield place


def status(path: Path, target: str, headers: Mapping[str, str], method: str = "GET") -> int:
    connection = http.client.HTTPConnection(HUB)
    connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.sock.connect(str(path))
    connection.request(method, target, headers=dict(headers))
    answer = connection.getresponse()
    connection.close()
    return answer.status


def test_the_socket_is_this_users_alone(path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_proxy_lets_in(path: Path) -> None:
    assert status(path, "/", {}) == 200
    assert status(path, "/page.js", {"Origin": f"https://{HUB}"}) == 200
    assert status(path, "/feed", {**UPGRADE, "Origin": f"http://{HUB}"}) == 101


def test_what_another_site_sends_is_refused(path: Path) -> None:
    assert status(path, "/", {"Origin": "https://elsewhere.example"}) == 403
    assert status(path, "/", {}, "POST") == 403
    assert status(path, "/feed", {**UPGRADE, "Origin": "https://elsewhere.example"}) == 403
    assert status(path, "/feed", UPGRADE) == 403
