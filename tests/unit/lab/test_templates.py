"""Jinja of strangers: what is looked up is found, and nothing else is let."""

from __future__ import annotations

import pytest

from fabriclab.lab.templates import LARGEST_TEXT, Condition, NoValueError, TemplateError, rendered

VALUES = {
    "stdout": "a line",
    "neighbors": [{"state": "OPERATIONAL", "up": True}, {"state": "NONE", "up": False}],
    "default": {"10.0.0.1": [{"nbrPriority": 200}]},
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("neighbors[0].state == 'OPERATIONAL'\n", True),
        ("neighbors[1].state == 'OPERATIONAL'", False),
        ('default["10.0.0.1"][0].nbrPriority == 200', True),
        ("'line' in stdout and 'x' not in stdout", True),
        ("len(neighbors) == 2", True),
        ("neighbors | selectattr('up') | list | length == 2", False),
        ("not stdout.rstrip()", False),
        ("stdout.rstrip() > '0'", True),
    ],
)
def test_conditions(text: str, holds: bool) -> None:
    assert Condition(text).holds(VALUES) is holds


@pytest.mark.parametrize(
    "text",
    [
        *("", "a }} {{ b", "{{ a }}", "1 if", "a b", "'a' * 99", "1 ** 9", "'a' ~ 'b'", "2 % 3"),
        *("range(9)", "lipsum()", "cycler(1)", "dict(a=1)", "stdout.center(99)", "stdout.format(1)", "open('x')"),
        *("neighbors | map('center', 999999999) | list", "neighbors | join('x')"),
        *("stdout | replace('a', 'b')", "stdout | indent(9)", "stdout | format", "neighbors[0:1]", "(" * 500),
        "x" * (LARGEST_TEXT + 1),
    ],
)
def test_what_is_no_condition(text: str) -> None:
    with pytest.raises(TemplateError):
        Condition(text)


@pytest.mark.parametrize(
    "text",
    [
        "nothing.there",
        "neighbors[7].state == 'x'",
        "neighbors[0].other == 1",
        "stdout < 3",
        "stdout.__class__",
        "neighbors.__class__.__mro__",
        "len.__globals__",
    ],
)
def test_what_has_no_value(text: str) -> None:
    with pytest.raises(NoValueError):
        Condition(text).holds(VALUES)


def test_a_template_with_loops() -> None:
    text = (
        "#!/bin/bash\n"
        "{% for one in interfaces if neighbor in one.neighbors|map(attribute='node',default='') %}\n"
        "ip link set {{ one.ifname }} {{ state|default('down') }}\n"
        "{% endfor %}\n"
    )
    interfaces = [
        {"ifname": "eth1", "neighbors": [{"node": "r1"}]},
        {"ifname": "eth2", "neighbors": [{"node": "r2"}, {}]},
    ]
    assert rendered(text, {"interfaces": interfaces, "neighbor": "r2"}, {}) == "#!/bin/bash\nip link set eth2 down\n"


def test_what_is_missing_is_empty_but_is_not_put_into_the_text() -> None:
    values = {"interfaces": [{"ifname": "eth1"}, {"ifname": "eth2", "gateway": {"protocol": "vrrp"}}]}
    chosen = "{{ (interfaces|selectattr('gateway.protocol','eq','vrrp')|first).ifname }}"
    assert rendered(chosen, values, {}) == "eth2"
    assert rendered("{% for one in interfaces if one.a.b|default(False) %}x{% endfor %}", values, {}) == ""
    with pytest.raises(NoValueError, match="nothing"):
        rendered("vrrp {{ interfaces[0].nothing.there }}", values, {})


def test_a_text_grows_no_further_than_a_template_may() -> None:
    with pytest.raises(NoValueError, match="more than 65536 characters"):
        rendered("{% for a in x %}{{ a }}{% endfor %}", {"x": ["y" * 1000] * 1000}, {})


@pytest.mark.parametrize(
    "text",
    [
        "{% set x = 1 %}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% macro m() %}{% endmacro %}",
        "{% for a in x %}" * 3 + "{% endfor %}" * 3,
        "{% for",
    ],
)
def test_what_a_template_may_not(text: str) -> None:
    with pytest.raises(TemplateError):
        rendered(text, {"x": [1]}, {})
