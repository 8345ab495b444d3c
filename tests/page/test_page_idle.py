"""Connections that ask for nothing do not keep the page from its user."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection

import pytest
from fake_lab import FakeLab
from page_bounds import browser, stands
from page_entry import entered
from patience import patient, wait_until

from fabriclab.page.connections import MOST_CONNECTIONS
from fabriclab.page.serve import Page as Server


@contextmanager
def idle(server: Server, count: int, said: bytes = b"") -> Iterator[list[socket.socket]]:
    """Open connections that say this, one after the other, and then nothing."""
    with ExitStack() as stack:
        found = []
        for _ in range(count):
            end = stack.enter_context(socket.create_connection(("127.0.0.1", server.keys.port), timeout=patient(30)))
            end.sendall(said)
            found.append(end)
        yield found


def status(server: Server, cookie: str) -> int:
    connection = HTTPConnection("127.0.0.1", server.keys.port, timeout=patient(30))
    try:
        connection.request("GET", "/", headers={"Cookie": cookie})
        return connection.getresponse().status
    finally:
        connection.close()


def is_closed(end: socket.socket) -> bool:
    end.setblocking(False)
    try:
        while end.recv(4096):
            pass  # what it was answered before
        return True
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


BEGUN = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize("said", [b"", BEGUN, BEGUN + b"\r\n"], ids=["nothing", "half a request", "a request"])
@pytest.mark.slow("eighty connections, until the server has closed the oldest")
def test_a_user_gets_through_eighty_idle_connections(server: Server, said: bytes) -> None:
    cookie = entered(server)
    assert status(server, cookie) == 200
    with idle(server, 80, said) as ends:
        assert [status(server, cookie) for _ in range(5)] == [200] * 5
        # The oldest have made room, and no more of them than needed.
        wait_until(lambda: is_closed(ends[0]))
        if not said:
            assert sum(map(is_closed, ends)) <= 80 - MOST_CONNECTIONS + 8


def test_one_that_asks_for_nothing_is_closed_after_a_while(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriclab.page.connections.FIRST_REQUEST_S", 0.3)
    with idle(server, 3) as silent, idle(server, 3, BEGUN) as begun:
        wait_until(lambda: all(map(is_closed, [*silent, *begun])))


def test_a_feed_lasts_through_idle_connections(fake: FakeLab, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a browser watches is not an idle connection, however little it says."""
    # The feed's own first request must come within this time.
    monkeypatch.setattr("fabriclab.page.connections.FIRST_REQUEST_S", patient(0.3))
    with browser(server) as feed:
        feed.send('{"show": {"ports": null}}')
        wait_until(lambda: fake.looks > 3)
        with idle(server, 80):
            wait_until(lambda: not stands(fake))
            assert feed.recv()
