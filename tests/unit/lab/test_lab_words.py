"""Ranges, values in their normal form, and the nearest of the known words."""

from __future__ import annotations

import pytest

from fabriclab.keys.wording import nearest
from fabriclab.lab.reading.document import parse_document
from fabriclab.lab.reading.names import expand_range
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.settings import normalise, split_key


@pytest.mark.parametrize(
    ("text", "names"),
    [("h1..h3", ["h1", "h2", "h3"]), ("h08..h10", ["h08", "h09", "h10"]), ("h1", None), ("r2h9..r2h9", ["r2h9"])],
)
def test_ranges(text: str, names: list[str] | None) -> None:
    assert expand_range(text) == names


@pytest.mark.parametrize("text", ["h1..", "h1..g2", "h3..h1", "h1..h999999999", ".."])
def test_bad_ranges(text: str) -> None:
    with pytest.raises(ValueError, match=text.replace(".", r"\.")):
        expand_range(text)


def test_a_range_is_one_word_of_a_key() -> None:
    assert split_key("hosts.h1..h4.rto_min") == ["hosts", "h1..h4", "rto_min"]


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("traffic.a.senders", "8", 8),
        ("traffic.a.senders", "h1..h4", "h1..h4"),
        ("hosts.default.rto_min", "0.2 s", "200 ms"),
        ("hosts.default.delayed_ack", "off", False),
        ("hosts.default.window_limit", "none", "none"),
        ("links.rate", "1000 Mbps", "1 Gbps"),
        ("links.rate", "fast", "fast"),
    ],
)
def test_normal_forms(key: str, text: str, value: object) -> None:
    document = parse_document("traffic: {a: {kind: flows}}", "experiment.yml", Problems())
    assert document is not None
    assert normalise(key, text, document) == value


def test_nearest_is_quick_on_hostile_words() -> None:
    assert nearest("x" * 10**6, ["buffer"]) is None
