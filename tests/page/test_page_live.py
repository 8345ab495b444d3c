"""The live page of a lab on the virtual machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from laid_out import comes_to
from playwright.sync_api import Page, expect

import fabriclab
from fabriclab.api.lab import Settings
from fabriclab.engine.artefacts import Artefacts
from fabriclab.live.lab import Live

pytestmark = [pytest.mark.vm, pytest.mark.xdist_group("page")]


@pytest.fixture
def live(artefacts: Artefacts, runtime: Path, tmp_path: Path) -> Iterator[Live]:
    """An in-cast with ECN, without its traffic, slow enough to see its queue."""
    variant: Settings = {"variant": "dctcp", "senders": 8}
    with fabriclab.up("incast", set=variant, idle=True, speed="1/10", out=tmp_path / "run") as found:
        yield found


def cells(page: Page) -> dict[str, str]:
    """Return what the table says of the port that comes by itself."""
    names = page.locator("#chosen-table thead th").all_text_contents()
    return dict(zip(names, page.locator("#chosen-table tbody tr > *").all_text_contents(), strict=True))


@pytest.mark.slow("a live lab at a tenth of real time")
def test_an_in_cast_is_seen_frozen_and_told_as_tc_tells_it(live: Live, page: Page) -> None:
    expect(page.locator("#title")).to_have_text("incast")
    page.click("#traffic-form button")
    expect(page.locator("#notice")).to_have_text("sru: 320 flows")
    expect(page.locator("#chosen-table tbody th")).to_have_text(["s1:eth49"])
    page.select_option("#packet-port", "s1:eth1")
    page.fill("#break", "s1:eth49 queue > 20 KB")
    page.press("#break", "Enter")
    expect(page.locator("#pace")).to_contain_text("queue is")
    expect(page.locator("#pause")).to_have_text("Resume")
    expect(page.locator("#packet-port")).to_have_value("s1:eth49")
    expect(page.locator("#now")).to_have_text(f"{live.now / 1e9:.6f} s")
    told = json.loads(live.exec("s1", ["tc", "-s", "-j", "qdisc", "show", "dev", "eth49"]).stdout)
    (red,) = (one for one in told if one["kind"] == "red")
    assert red["qlen"] > 0
    (link,) = json.loads(live.exec("s1", ["ip", "-s", "-j", "link", "show", "dev", "eth49"]).stdout)
    sent = link["stats64"]["tx"]  # the last that left the queue may be on the line still
    counts = {"Packets": red["qlen"], "Drops": red["drops"], "Marks": red["marked"]}
    wanted = {**{name: str(count) for name, count in counts.items()}, "Sent": f"{sent['packets']} ({sent['bytes']} B)"}
    comes_to(page, lambda: wanted.items() <= cells(page).items(), lambda: (cells(page), wanted))
    expect(page.locator("#packets tbody tr")).to_have_count(red["qlen"])
    page.focus("#knob-switches\\.s1\\.ecn_threshold")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#set-said")).to_have_text("switches.s1.ecn_threshold: 30 KB -> 28 KB")
    assert "min 28000b" in live.exec("s1", ["tc", "qdisc", "show", "dev", "eth49"]).stdout
    page.select_option("#nodes", "client")
    page.click("#shell")
    # Keys that come before the terminal has the focus, or before its shell reads, go elsewhere.
    expect(page.locator(".xterm-rows.xterm-focus")).to_contain_text("root@client:/")
    page.keyboard.type("echo $((6 * 7)) $(uname -n)\n")
    expect(page.locator(".xterm-rows")).to_contain_text("42 client")
    page.click("#breaks button")
    expect(page.locator("#breaks button")).to_have_count(0)
    page.select_option("#packet-port", "s1:eth1")
    page.fill("#break", "mark")
    page.press("#break", "Enter")
    # Else time goes on before the lab knows of it, and may pass the last mark.
    expect(page.locator("#breaks button")).to_have_count(1)
    page.click("#pause")
    expect(page.locator("#notice")).to_have_text(re.compile(r"the lab: \d+ marks?, at s1:eth49"))
    expect(page.locator("#packet-port")).to_have_value("s1:eth49")
    page.click("#breaks button")
    expect(page.locator("#breaks button")).to_have_count(0)
    page.click("#pause")
    expect(page.locator("#flow-counts")).to_contain_text("running")


@pytest.mark.slow("a fabric with FRR comes up in the machine and converges")
def test_a_link_cut_by_a_click_reroutes(
    artefacts: Artefacts, runtime: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with fabriclab.up("link-failure", idle=True, out=tmp_path / "run") as live:
        page: Page = request.getfixturevalue("page")
        link = page.locator("#topology .link", has_text="leaf2:eth3 to spine1:eth2")
        link.click()
        page.click("#cut")
        expect(page.locator("#notice")).to_contain_text("leaf2:eth3 - spine1:eth2: up")
        expect(page.locator("#cut")).to_have_text("Mend")
        expect(link.locator(".half.down")).to_have_count(2)
        for src, dst in (("h3", "h7"), ("h7", "h3")):
            page.select_option("#flow-src", src)
            page.select_option("#flow-dst", dst)
            page.click("#flow-form button")
        expect(page.locator("#flows tbody tr", has_text="complete")).to_have_count(2)
        expect(page.locator("#flow-counts")).to_have_text("All 2 flows have ended. Start sends traffic again.")
        routes = live.exec("leaf2", ["ip", "route", "show", "proto", "bgp"]).stdout
        assert "dev eth4" in routes and "dev eth3" not in routes
