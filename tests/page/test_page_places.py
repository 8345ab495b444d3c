"""What a click in the live page's picture leads to: a port's queues, a node's programs, a link's line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from fake_lab import FakeLab
from laid_out import fits
from playwright.sync_api import Page, expect

import fabriclab
from fabriclab.engine.artefacts import Artefacts

pytestmark = pytest.mark.xdist_group("page")


def click_port(page: Page, name: str) -> None:
    page.locator("#topology .port-grip", has_text=f"{name}: its queues").click()


def test_a_port_shows_its_queue_and_its_thresholds(fake: FakeLab, page: Page) -> None:
    expect(page.locator("#port-facts")).to_be_hidden()
    click_port(page, "s1:eth49")
    expect(page.locator("#port-name")).to_have_text("Port s1:eth49")
    expect(page.locator("#port-queues tbody tr")).to_have_count(1)
    expect(page.locator("#port-queues tbody td").nth(1)).to_have_text(re.compile(r"^[1-9]\d*$"))
    expect(page.locator("#port-groups")).to_be_hidden()
    expect(page.locator("#port-thresholds")).to_have_text("s1: buffer 64.0 KB, ECN threshold not set.")
    expect(page.locator("#links")).to_have_value("client:eth1 – s1:eth49")
    expect(page.locator("#nodes")).to_have_value("s1")
    page.click("#port-change")
    expect(page.locator("#knob-node")).to_be_focused()
    click_port(page, "h1:eth1")
    expect(page.locator("#port-thresholds")).to_have_text("This node has no thresholds that can be set.")
    expect(page.locator("#port-change")).to_be_hidden()
    page.click("#port-chart")
    expect(page.locator("#chosen .chip", has_text="h1:eth1")).to_have_count(1)
    page.set_viewport_size({"width": 400, "height": 800})
    fits(page, 400)
    page.click("#port-close")
    expect(page.locator("#port-facts")).to_be_hidden()


def test_a_node_says_why_it_has_no_router_console(fake: FakeLab, page: Page) -> None:
    page.locator("#topology .node", has_text=re.compile(r"^h3\b")).click()
    expect(page.locator("#nodes")).to_have_value("h3")
    expect(page.locator("#vtysh")).to_be_disabled()
    expect(page.locator("#vtysh-why")).to_have_text("vtysh: h3 is a host: it has no router console.")
    page.locator("#topology .node.tier1").click()
    expect(page.locator("#vtysh-why")).to_have_text(re.compile("^vtysh: s1 runs no FRR"))
    expect(page.locator("#topology .node.chosen")).to_have_count(1)


def test_a_capture_is_a_terminal_at_a_port_that_there_is(fake: FakeLab, page: Page) -> None:
    expect(page.locator("#terminals-section")).to_be_hidden()
    click_port(page, "s1:eth49")
    page.select_option("#capture-port", "eth49")
    page.click("#capture")
    expect(page.locator(".xterm-rows")).to_contain_text("s1 tcpdump -Z root -n -i eth49")
    expect(page.get_by_role("tab")).to_have_text(["s1 capture eth49"])
    page.evaluate("document.querySelector('#capture-port').append(new Option('eth77'))")
    page.select_option("#capture-port", "eth77")
    page.click("#capture")
    expect(page.locator(".screen:not([hidden]) .xterm-rows")).to_contain_text("s1 has no such port")
    for _ in range(2):
        page.locator("#tabs .close").last.click()
    expect(page.locator("#terminals-section")).to_be_hidden()


def test_a_link_gets_another_line_or_loses_every_packet(fake: FakeLab, page: Page) -> None:
    page.select_option("#links", "h2:eth1 – s1:eth2")
    expect(page.locator("#line-rate")).to_have_attribute("placeholder", "1.00 Gbps")
    page.click("#line-form button")
    expect(page.locator("#notice")).to_contain_text("Write a rate, a delay or a loss")
    page.fill("#line-loss", "0.1 %")
    page.fill("#line-delay", "1 ms")
    page.press("#line-delay", "Enter")
    expect(page.locator("#notice")).to_have_text("h2:eth1: set")
    page.click("#blackhole")
    expect(page.locator("#notice")).to_have_text("h2:eth1: blackhole")
    settings = {"delay": "1 ms", "loss": "0.1 %"}
    assert fake.asked == [
        {"do": "link", "port": "h2:eth1", "action": "set", "settings": settings},
        {"do": "link", "port": "h2:eth1", "action": "blackhole"},
    ]
    page.click("#link-b")
    expect(page.locator("#port-name")).to_have_text("Port s1:eth2")


@pytest.mark.vm
@pytest.mark.slow("a live lab with a shared buffer comes up")
def test_places_of_a_real_lab_do_what_they_say(
    artefacts: Artefacts, runtime: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with fabriclab.up("pfc-storm", idle=True, set={"variant": "pfc"}, out=tmp_path / "run") as live:
        page: Page = request.getfixturevalue("page")
        page.select_option("#links", "h5:eth1 – leaf2:eth1")
        page.click("#link-b")
        expect(page.locator("#port-queues tbody tr")).to_have_count(8)
        expect(page.locator("#port-groups tbody tr").first).to_be_visible()
        page.select_option("#capture-port", "eth1")
        page.click("#capture")
        expect(page.locator(".xterm-rows")).to_contain_text("listening on eth1")
        live.flow("h1", "h5", "20 KB")
        expect(page.locator(".xterm-rows")).to_contain_text(re.compile(r"10\.64\.0\.1\.\d+ > 10\.64\.1\.1\.\d+: Flags"))
        page.fill("#line-rate", "100 Mbps")
        page.press("#line-rate", "Enter")
        expect(page.locator("#notice")).to_contain_text("1 Gbps, 25 us -> up, 100 Mbps, 25 us")
        assert live.inspect("leaf2:eth1").ports[0].rate_bps == 100_000_000
