"""The live page in a browser, with a stand-in for its lab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fake_lab import FakeLab
from laid_out import fits
from patience import wait_until
from playwright.sync_api import BrowserContext, Page, expect

from fabriclab.page.serve import Page as Server

pytestmark = pytest.mark.xdist_group("page")


def test_it_shows_the_lab_and_its_queue(fake: FakeLab, page: Page) -> None:
    expect(page.locator("#title")).to_have_text("fake")
    assert page.url.endswith("/")
    expect(page.locator("#topology .node")).to_have_count(50)
    # The port with the queue comes by itself.
    expect(page.locator("#chosen-table tbody th")).to_have_text(["s1:eth49"])
    expect(page.locator("#chosen-table tbody td").nth(1)).to_have_text(re.compile("Mbps"))
    expect(page.locator("#strips canvas")).to_have_count(4)
    disc = page.locator("#topology .queue:not([r='0'])").first
    before = disc.get_attribute("r")
    expect(disc).not_to_have_attribute("r", str(before))
    expect(page.locator("#topology .pause", has_text="‖")).to_have_count(1)


def test_flows_are_listed_with_their_completion_times(fake: FakeLab, page: Page) -> None:
    expect(page.locator("#flow-counts")).to_have_text(re.compile("^1 running .*, 1 ended before."))
    expect(page.locator("#flows tr[data-key='1']")).to_contain_text("running")
    expect(page.locator("#flows tr[data-key='0']")).to_have_text("0h1client1.00 MB0.000000 s9.00 ms3complete")


def test_traffic_that_has_ended_is_told_and_sent_again(fake: FakeLab, page: Page) -> None:
    expect(page.locator("#flow-counts")).to_have_text(re.compile("^1 running"))
    page.check("#repeat")
    first = (fake.directory / "raw" / "flows" / "h1.csv").read_text()
    second = first.replace("\n0,src", "\n1,src").replace("\n0,dst", "\n1,dst")
    (fake.directory / "raw" / "flows" / "h2.csv").write_text(second)
    expect(page.locator("#flow-counts")).to_have_text("All 2 flows have ended. Start sends traffic again.")
    wait_until(
        lambda: {"do": "start", "traffic": "sru", "loop": True} in fake.asked, what="the traffic is started again"
    )


def test_traffic_that_starts_again_is_told_and_ended(fake: FakeLab, page: Page) -> None:
    expect(page.locator("#loop-said")).to_be_hidden()
    fake.loop = {"again": {"sru": 2}, "failed": ""}
    expect(page.locator("#loop-said")).to_have_text(
        "sru starts again when it has ended (2 times so far). Stop ends that."
    )
    expect(page.locator("#repeat")).to_be_checked()
    page.uncheck("#repeat")
    wait_until(lambda: {"do": "loop", "traffic": "sru", "on": False} in fake.asked, what="it is to end")
    fake.loop = {"again": {}, "failed": "sru does not start again: no port is left"}
    expect(page.locator("#loop-said")).to_have_text("sru does not start again: no port is left.")


def test_pause_freezes_and_shows_what_stands_in_the_queue(fake: FakeLab, page: Page) -> None:
    # A button is there before the page knows its lab.
    expect(page.locator("#pace")).to_have_text(re.compile("^speed 1"))
    page.click("#pause")
    expect(page.locator("#pause")).to_have_text("Resume")
    page.select_option("#packet-port", "s1:eth49")
    # What stands in the queue is told when time stands still, and so is the instant.
    expect(page.locator("#packets-hint")).to_have_text(re.compile(r"^\d+ packets, "))
    now = page.locator("#now").text_content()
    page.fill("#step", "5 ms")
    page.press("#step", "Enter")
    expect(page.locator("#now")).not_to_have_text(str(now))
    assert {"do": "step", "duration_ns": 5_000_000} in fake.asked
    page.click("#pause")
    expect(page.locator("#pace")).to_have_text(re.compile("^speed 1"))


def test_a_link_is_cut_by_a_click_and_mended(fake: FakeLab, page: Page) -> None:
    page.select_option("#links", "h2:eth1 – s1:eth2")
    page.click("#cut")
    expect(page.locator("#cut")).to_have_text("Mend")
    page.click("#cut")
    expect(page.locator("#cut")).to_have_text("Cut")


def test_a_slider_asks_in_the_words_of_the_language(fake: FakeLab, page: Page) -> None:
    page.focus("#knob-switches\\.s1\\.buffer")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#set-said")).to_have_text("switches.s1.buffer: 64 KB -> 70 KB")
    (asked,) = fake.asked
    assert asked == {"do": "set", "settings": {"switches.s1.buffer": "70000 B"}}


def test_a_terminal_echoes_and_ends(fake: FakeLab, page: Page) -> None:
    page.select_option("#nodes", "h1")
    expect(page.locator("#vtysh")).to_be_disabled()
    page.click("#shell")
    rows = page.locator(".xterm-rows")
    expect(rows).to_contain_text("h1 bash -l")
    expect(page.locator(".xterm-rows.xterm-focus")).to_have_count(1)
    page.keyboard.type("hello")
    expect(rows).to_contain_text("hello")
    page.keyboard.press("Control+Shift+E")
    expect(page.get_by_role("tab")).to_be_focused()
    page.get_by_role("tab").press("Enter")
    page.keyboard.press("Control+D")
    expect(rows).to_contain_text("[exit 0]")


def test_every_control_is_reached_by_the_keyboard(fake: FakeLab, page: Page) -> None:
    expect(page.locator("#chosen .chip")).to_have_count(1)
    expect(page.locator("#breaks .chip")).to_have_count(1)
    expect(page.locator("#knobs input")).to_have_count(2)
    controls = "button:enabled, input, select, summary"
    word = "document.activeElement.matches(c) && [...document.querySelectorAll(c)].indexOf(document.activeElement)"

    def all_are_reached() -> bool:
        """Go through the page once; a control that came meanwhile makes it another page."""
        wanted = page.locator(controls).locator("visible=true").count()
        page.locator("#title").click()
        reached = set()
        for _ in range(wanted + 10):
            page.keyboard.press("Tab")
            reached.add(page.evaluate(f"c => {word}", controls))
        return len(reached - {False}) == wanted

    wait_until(all_are_reached, what="all are reached")


def test_a_lab_that_can_not_look_is_shown_all_the_same(fake: FakeLab, server: Server, context: BrowserContext) -> None:
    fake.refused = {"look", "started", "adjustable", "breaks"}
    page = context.new_page()
    page.goto(server.keys.address())
    expect(page.locator("#notice")).to_have_text("Queues and links can't be shown: look: not here")
    expect(page.locator("#flows tr[data-key='0']")).to_contain_text("complete")
    expect(page.locator("#pace")).to_have_text(re.compile("^speed 1"))


def test_a_lab_that_goes_down_is_told(fake: FakeLab, page: Page) -> None:
    expect(page.locator("#title")).to_have_text("fake")
    fake.stop()
    expect(page.locator("#notice")).to_have_text("fake: the lab has gone down")


def test_a_lab_that_goes_down_before_its_first_answer_is_told_too(fake: FakeLab, page: Page) -> None:
    Path(fake.entry.socket).unlink()
    page.reload()
    expect(page.locator("#title")).to_have_text("fake")
    expect(page.locator("#notice")).to_have_text("fake: the lab has gone down")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.slow("the browser lays out a page anew in both colours; the last one waits for the browser's end")
def test_a_small_screen_needs_no_sideways_scrolling(
    scheme: str, fake: FakeLab, server: Server, context: BrowserContext
) -> None:
    page = context.new_page()
    page.set_viewport_size({"width": 400, "height": 800})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(server.keys.address())
    expect(page.locator("#chosen-table tbody th")).to_have_text(["s1:eth49"])
    fits(page, 400)
