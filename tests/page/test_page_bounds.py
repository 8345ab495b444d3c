"""What browsers can do to the page's server: read slowly, vanish, say nonsense."""

from __future__ import annotations

import json
import socket

import pytest
from fake_lab import FakeLab
from page_bounds import browser, stands
from patience import wait_until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from fabriclab.page.serve import Page as Server


def test_one_that_does_not_read_is_dropped(fake: FakeLab, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriclab.page.connections.PATIENCE_S", 0.3)
    monkeypatch.setattr("fabriclab.page.feed.LOOK_S", 0.001)
    with browser(server, receive_buffer=1 << 16) as feed:
        feed.send(json.dumps({"show": {"ports": None}}))
        wait_until(lambda: fake.looks > 20)
        wait_until(lambda: stands(fake))
        with pytest.raises(ConnectionClosed):
            while True:
                feed.recv()


def test_one_that_vanishes_asks_no_more(fake: FakeLab, server: Server) -> None:
    with browser(server) as feed:
        feed.send(json.dumps({"show": {"ports": None}}))
        wait_until(lambda: fake.looks > 3)
        feed.socket.shutdown(socket.SHUT_RDWR)
        wait_until(lambda: stands(fake))


def answer_to(feed: ClientConnection, said: object) -> dict[str, object]:
    feed.send(json.dumps(said) if not isinstance(said, str) else said)
    while True:
        message = json.loads(feed.recv())
        if message["kind"] in ("answer", "error"):
            return dict(message["body"])


@pytest.mark.parametrize(
    "question", [{"do": "down"}, {"do": "open", "open": {"exec": {}}}, {"do": "files"}, {}, None, "pause", ["pause"]]
)
def test_what_the_page_never_asks_is_refused(question: object, fake: FakeLab, server: Server) -> None:
    with browser(server) as feed:
        assert "the page has no such request" in str(answer_to(feed, {"id": 1, "ask": question})["message"])
    assert fake.asked == []


@pytest.mark.parametrize("nonsense", ["", "[]", "{", "null", '{"show": 1}', '{"show": {"ports": 7}}', "x" * 70_000])
def test_nonsense_leaves_the_feed_as_it_is(nonsense: str, fake: FakeLab, server: Server) -> None:
    with browser(server) as feed:
        feed.send(nonsense)
        assert answer_to(feed, {"id": 5, "ask": {"do": "pause"}})["id"] == 5


def test_a_lab_that_is_not_up_is_told(fake: FakeLab, server: Server) -> None:
    with browser(server, "feed?lab=none") as feed:
        assert json.loads(feed.recv()) == {"kind": "gone", "body": {"message": "none: the lab is not up"}}
    with browser(server, "terminal?lab=none&node=h1") as terminal:
        assert json.loads(terminal.recv()) == {"ended": "none: the lab is not up"}
