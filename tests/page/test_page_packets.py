"""Packets in the live page's picture: dots while they are few, and rates that are the line's however slow time goes."""

from __future__ import annotations

import re

import pytest
from fake_lab import FakeLab
from page_fixtures import new_context
from patience import wait_until
from playwright.sync_api import Browser, Page, expect

from fabriclab.page.serve import Page as Server

pytestmark = pytest.mark.xdist_group("page")

WATCH = """() => {
  window.flown = { packet: 0, dropped: 0 };
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) for (const node of addedNodes) window.flown[node.classList[0]]++;
  }).observe(document.querySelector("#topology .packets"), { childList: true });
}"""


def step(page: Page, duration: str) -> None:
    """Let time go on by so much, and wait until the page shows the look that follows."""
    before = page.locator("#now").inner_text()
    page.fill("#step", duration)
    page.click("#step-form button")
    expect(page.locator("#now")).not_to_have_text(before)


def flown(page: Page, kind: str) -> int:
    return int(page.evaluate(f"window.flown.{kind}"))


def watched(fake: FakeLab, page: Page) -> None:
    """Let time stand, between two drops, and watch what flies from when the page shows that time."""
    fake.paused, fake._stopped_ns = True, 250_010_000
    expect(page.locator("#now")).to_have_text("0.250010 s")
    expect(page.locator("#pace")).to_have_text("paused")
    expect(page.locator("#topology .packets > *")).to_have_count(0)
    page.evaluate(WATCH)


def test_few_packets_are_dots_and_many_are_none(fake: FakeLab, page: Page) -> None:
    watched(fake, page)
    # The port to the client sends a packet of 1,500 bytes each 15 us, and drops one each 100 ms.
    step(page, "45 us")
    wait_until(lambda: flown(page, "packet") >= 3, what="dots fly")
    some = flown(page, "packet")
    assert flown(page, "dropped") == 0
    step(page, "100 ms")
    wait_until(lambda: flown(page, "dropped") == 1, what="a drop is shown")
    assert flown(page, "packet") == some, "thousands of packets are not drawn one by one"
    # They go by themselves.
    expect(page.locator("#topology .packets > *")).to_have_count(0)


def test_who_wants_no_motion_sees_none(fake: FakeLab, browser: Browser, server: Server) -> None:
    context = new_context(browser, reduced_motion="reduce")
    try:
        page = context.new_page()
        page.goto(server.keys.address_once())
        expect(page.locator("#title")).to_have_text("fake")
        watched(fake, page)
        step(page, "45 us")
        step(page, "100 ms")
        assert flown(page, "packet") == flown(page, "dropped") == 0
    finally:
        context.close()


def test_a_rate_is_that_of_the_line_between_two_packets(fake: FakeLab, page: Page) -> None:
    watched(fake, page)
    rate = page.locator("#chosen-table tbody td").nth(1)
    for _ in range(24):
        step(page, "16 us")
    # 800 Mbps; from one look to the next it would be 750 or 1,500.
    expect(rate).to_have_text(re.compile(r"^(79\d|80\d|81\d) Mbps"))
