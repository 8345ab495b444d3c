"""A browser's page, and what is waited for on it."""

from __future__ import annotations

import socket
import time

from fake_lab import FakeLab
from page_entry import entered
from websockets.sync.client import ClientConnection, connect

from fabriclab.page.serve import Page as Server


def browser(server: Server, path: str = "feed", receive_buffer: int = 1 << 20) -> ClientConnection:
    address = ("127.0.0.1", server.keys.port)
    end = socket.socket()
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    end.connect(address)
    headers = {"Origin": f"http://127.0.0.1:{server.keys.port}", "Cookie": entered(server)}
    place = f"ws://127.0.0.1:{server.keys.port}/{path}"
    return connect(place, sock=end, additional_headers=headers, max_queue=1, close_timeout=0.1)


def stands(fake: FakeLab) -> bool:
    """Return whether nobody looks any more."""
    before = fake.looks
    time.sleep(0.5)
    return fake.looks == before
