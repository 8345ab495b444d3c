"""Stories beside a lab: what is read, and what is said of mistakes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabriclab.api.lab import load_lab
from fabriclab.api.look import CheckedLab, check
from fabriclab.api.new_lab import new
from fabriclab.errors import ArgumentError
from fabriclab.lab import Lab, LabError
from fabriclab.stories import find_story, read_stories, story_files, story_name

SHIPPED = {"incast": "collapse", "pfc-storm": "storm", "link-failure": "cut"}
HEAD = "title: A story\nsteps:\n  - title: First\n    do:\n"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A copy of the in-cast lab, without stories."""
    new(tmp_path / "copy", origin="incast")
    (tmp_path / "copy" / "stories" / "collapse.yml").unlink()
    return load_lab(tmp_path / "copy").written


def story_of(lab: Lab, text: str) -> Path:
    path = lab.directory / "stories" / "mine.yml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(("lab_name", "story"), SHIPPED.items())
def test_the_shipped_stories_are_right_and_told(lab_name: str, story: str) -> None:
    shipped = load_lab(lab_name).written
    (read,) = read_stories(shipped)
    assert read.name == story and len(read.steps) > 5
    checked = check(shipped.directory)
    assert isinstance(checked, CheckedLab) and checked.stories == {story: len(read.steps)}
    assert story_name(shipped.directory, str(shipped.directory / "stories" / f"{story}.yml")) == story


def test_actions_become_questions_to_the_lab(lab: Lab) -> None:
    story_of(
        lab,
        "title: All\nup: {set: {senders: 4}, speed: 1/100, idle: yes}\nsteps:\n  - title: One\n"
        "    words: |\n      a\n\n      b\n    do:\n"
        "      - break: s1  drop\n      - until: 150 ms\n      - until: s1:eth49 queue > 10 KB\n      - clear\n"
        "      - {link: 'h1:eth1', loss: 1 %}\n      - {node: h1, action: down}\n      - continue\n      - pause\n"
        "      - {flow: h1, to: client, size: 1 MB, congestion_control: dctcp}\n      - stop: flow\n"
        "      - set: {switches.s1.buffer: 128 KB}\n      - choose: s1:eth49\n      - step: 10 us\n",
    )
    story = find_story(lab, "mine")
    (step,) = story.steps
    assert (story.speed, story.is_idle, step.words) == ("1/100", True, "a\n\nb")
    assert {name: value.text for name, value in story.settings.items()} == {"senders": "4"}
    assert [action.question for action in step.actions] == [
        {"do": "break", "condition": "s1 drop"},
        {"do": "until", "at_ns": 150_000_000},
        {"do": "until", "condition": "s1:eth49 queue > 10 KB"},
        {"do": "unbreak"},
        {"do": "link", "port": "h1:eth1", "action": "set", "settings": {"loss": "1 %"}},
        {"do": "node", "node": "h1", "action": "down"},
        {"do": "resume"},
        {"do": "pause"},
        {"do": "flow", "src": "h1", "dst": "client", "size_bytes": 10**6, "congestion_control": "dctcp"},
        {"do": "stop", "traffic": "flow"},
        {"do": "set", "settings": {"switches.s1.buffer": "128 KB"}},
        {"do": "choose", "place": "s1:eth49"},
        {"do": "step", "duration_ns": 10_000},
    ]
    assert step.actions[4].words == "link h1:eth1 loss='1 %'"
    assert story.as_data()["steps"][0]["choose"] == ["s1:eth49"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("brake: s1 drop", r"'brake' is no action; valid here: continue, pause, clear, break, until"),
        ("contniue", r"'contniue' is no action; did you mean 'continue'\?"),
        ("until: s1 drip", r"until: 's1 drip' is not a condition; write one of"),
        ("break: s9 drop", r"break: 's9 drop': the lab has no node 's9'"),
        ("step: soon", r"step: 'soon'"),
        ("speed: fast", r"speed: speed 'fast': write virtual seconds per second"),
        ("start: srv", r"start: 'srv' is not here; did you mean 'sru'\?"),
        ("choose: s1:eth99", r"choose: 's1:eth99' is not here; did you mean 's1:eth9'\?"),
        ("set: {switches.s1.bufer: 1 KB}", r"'switches.s1.bufer': 'bufer' is unknown; did you mean 'buffer'\?"),
        ("set: {switches.s1.buffer: much}", r"switches.s1.buffer: 'much'"),
        ("set: {limit: 5 s}", r"limit: the run's end is fixed when the lab begins; write it in up.set"),
        ("{link: 's1:eth99', action: down}", r"'s1:eth99' is not a port; did you mean"),
        ("{link: 's1:eth1', action: cut}", r"'cut'"),
        ("link: s1:eth1", r"nothing happens; write action: down, up, blackhole, or rate, delay, loss"),
        ("{node: h1, action: off}", r"action: 'off' is not here"),
        ("{node: h1}", r"action: missing; write action: down"),
        ("{flow: h1, to: h1, size: 1 MB}", r"to: 'h1' is the sender, too; a flow needs two different hosts"),
        ("{flow: h1, to: h2}", r"size: missing; write size: 1 MB"),
        ("{flow: h1, to: h2, size: 1 MB, congestion_control: cubik}", r"'cubik' is not known; did you mean 'cubic'\?"),
        ("{break: s1 drop, until: s1 drop}", r"an action has one of these words"),
    ],
)
def test_a_mistake_names_file_line_value_and_what_would_be_right(lab: Lab, line: str, said: str) -> None:
    path = story_of(lab, f"{HEAD}      - {line}\n")
    with pytest.raises(LabError) as error:
        read_stories(lab)
    (mistake,) = error.value.mistakes
    assert (mistake.file, mistake.line) == (str(path), 5)
    assert re.search(said, str(mistake)), str(mistake)


def test_what_is_missing_is_told_at_once(lab: Lab) -> None:
    path = story_of(lab, "titel: A story\nup: {speed: soon, set: {senders: many}}\nsteps: []\n")
    with pytest.raises(LabError) as error:
        check(lab.directory)
    told = "\n".join(map(str, error.value.mistakes))
    assert f"{path}:1: titel: unknown key; did you mean 'title'?" in told
    assert f"{path}:2: up.speed:" in told and f"{path}:2:" in told
    assert "'many'" in told
    assert f"{path}:3: steps: has no step" in told


def test_a_story_reads_nothing_outside_of_its_lab(lab: Lab, tmp_path: Path) -> None:
    secret = tmp_path / "secret.yml"
    secret.write_text("title: secret\n")
    (lab.directory / "stories" / "mine.yml").symlink_to(secret)
    with pytest.raises(LabError, match="lies outside"):
        read_stories(lab)


def test_a_name_that_is_no_story_is_told(lab: Lab) -> None:
    story_of(lab, f"{HEAD}      - continue\n")
    (lab.directory / "stories" / "other.yaml").write_text("")
    assert list(story_files(lab.directory)) == ["mine"]
    with pytest.raises(LabError, match=r"a story is a file NAME\.yml"):
        read_stories(lab)
    with pytest.raises(ArgumentError, match="did you mean 'mine'"):
        find_story(lab, "mime")
    with pytest.raises(LabError, match="no such file"):
        find_story(lab, "elsewhere.yml")
