"""Stories in the live page: the panel with a stand-in for its lab, and the project's three stories on the machine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fake_lab import FakeLab
from laid_out import fits
from playwright.sync_api import BrowserContext, Page, expect

import fabriclab
from fabriclab.api.lab import load_lab
from fabriclab.engine.artefacts import Artefacts
from fabriclab.live.lab import Live
from fabriclab.page.serve import Page as Server
from fabriclab.stories import find_story

pytestmark = pytest.mark.xdist_group("page")

WORDS = "Say **this** and `that`.\nOne line.\n\n- one <img src=x onerror=alert(1)>\n- *two*\n\n<b>bold</b>"


def told(name: str, **more: Any) -> dict[str, Any]:
    step = {"title": "First", "words": WORDS, "do": ["start sru", "until s1 drop"], "choose": ["s1:eth1", "h3"]}
    last = {"title": "Last", "words": "", "do": [], "choose": []}
    return {"name": name, "title": f"Story {name}", "steps": [step, last], "problem": None, **more}


def test_next_does_a_step_and_words_are_never_html(fake: FakeLab, server: Server, context: BrowserContext) -> None:
    fake.stories = [told("one")]
    page = context.new_page()
    page.goto(server.keys.address())
    words = page.locator("#story-words")
    # The lab did not come up for a story: it is offered.
    expect(page.locator("#story-heading")).to_be_hidden()
    page.click("#story-open")
    expect(page.locator("#story-heading")).to_have_text("First")
    expect(page.locator("#story-place")).to_have_text("step 1 of 2")
    expect(words.locator("strong")).to_have_text("this")
    expect(words.locator("code")).to_have_text("that")
    expect(words.locator("li")).to_have_text(["one <img src=x onerror=alert(1)>", "two"])
    expect(words.locator("img, b")).to_have_count(0)
    expect(words.locator("p").last).to_have_text("<b>bold</b>")
    expect(page.locator("#story-do code")).to_have_text(["start sru", "until s1 drop"])
    expect(page.locator("#stories-label")).to_be_hidden()
    page.click("#story-next")
    expect(page.locator("#story-heading")).to_have_text("Last")
    expect(page.locator("#story-said")).to_have_text("time stands at 0.1 s")
    assert {"do": "play", "story": "one", "step": 0} in fake.asked
    expect(page.locator("#chosen .chip")).to_contain_text(["s1:eth1"])
    expect(page.locator("#nodes")).to_have_value("h3")
    page.click("#story-next")
    expect(page.locator("#story-heading")).to_have_text("The end")
    expect(page.locator("#story-next")).to_be_disabled()


def test_a_story_with_mistakes_says_them_and_a_lab_without_stories_shows_none(
    fake: FakeLab, server: Server, context: BrowserContext
) -> None:
    page = context.new_page()
    page.goto(server.keys.address())
    expect(page.locator("#title")).to_have_text("fake")
    expect(page.locator("#story-section")).to_be_hidden()
    mistake = "stories/two.yml:5: steps[0].do[0]: 'srv' is not here; did you mean 'sru'?"
    fake.stories = [told("one"), told("two", steps=[], problem=mistake)]
    page.reload()
    page.click("#story-open")
    page.select_option("#stories", "two")
    expect(page.locator("#story-words")).to_have_text(mistake)
    expect(page.locator("#story-next")).to_be_disabled()
    page.set_viewport_size({"width": 400, "height": 800})
    fits(page, 400)


def uses_spine1(live: Live) -> bool:
    """Return whether leaf2 sends to h1 over spine1, too."""
    return "dev eth3" in live.exec("leaf2", ["ip", "route", "show", "10.64.0.0/31"]).stdout


# What each step is to come to, by the number of the step from 1 on; the words of the stories promise it.
COMES_TO = {
    "incast": {
        2: r"queue is \d+(\.\d+)? KB$",
        3: r"s1: \d+ drops?$",
        4: r"time stands at 0\.2\d+ s: the lab: \d+ TCP timeouts?$",
        5: r"ecn_threshold: none -> 30 KB",
        6: r"s1: \d+ marks?$",
    },
    "pfc-storm": {
        2: r"time stands at 0\.100\d+ s: leaf2:eth1: \d+ PFC frames?$",
        3: r"leaf2:eth5: \d+ PFC frames?$",
        4: r"spine1:eth1: \d+ PFC frames?$",
        5: r"time stands at 0\.10[0-4]\d+ s: leaf1:eth4: \d+ PFC frames?$",
        7: r"time stands at 0\.1[67]\d+ s: the lab: \d+ drops$",
    },
    "link-failure": {2: r"leaf1:eth3 - spine1:eth1: up.* -> down", 5: r"leaf1:eth3 - spine1:eth1: down.* -> up"},
}


@pytest.mark.vm
@pytest.mark.parametrize(("lab", "name"), [("incast", "collapse"), ("pfc-storm", "storm"), ("link-failure", "cut")])
@pytest.mark.slow("a story is played from its first step to its last at the pace at which a room sees it")
def test_the_stories_are_played_to_their_ends(
    lab: str, name: str, artefacts: Artefacts, runtime: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    story = find_story(load_lab(lab).written, name)
    with fabriclab.up(lab, story=name, out=tmp_path / "run") as live:
        assert live.now == 0
        page: Page = request.getfixturevalue("page")
        for number, step in enumerate(story.steps, 1):
            expect(page.locator("#story-heading")).to_have_text(step.title)
            page.click("#story-next")
            expect(page.locator("#story-place")).to_have_text(
                f"step {min(number + 1, len(story.steps))} of {len(story.steps)}"
            )
            expect(page.locator("#story-next")).to_be_enabled() if number < len(story.steps) else None
            if number in COMES_TO[lab]:
                expect(page.locator("#story-said")).to_have_text(re.compile(COMES_TO[lab][number]))
            if lab == "link-failure" and number in (2, 3, 5):
                # A millisecond after the cut the other leaves still use both spines, 200 ms later they do not; and they
                # do again when the link has been mended.
                assert uses_spine1(live) is (number != 3)
        expect(page.locator("#story-heading")).to_have_text("The end")
        expect(page.locator("#pause")).to_have_text("Pause")
