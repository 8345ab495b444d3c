"""Indented JSON is what the standard library writes, to the last byte."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabriclab.formats.indented import indented_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES)
def test_it_is_what_the_standard_library_writes(data: object) -> None:
    assert indented_json(data) == json.dumps(data, indent=2, ensure_ascii=False)


@pytest.mark.parametrize("number", [1e-5, 1.5e-5, 1e-4, 1e15, 1e16, 1e17, 1.25e300, -0.0, float("nan"), float("-inf")])
@pytest.mark.parametrize("form", [lambda n: n, lambda n: [n], lambda n: {"a": n, "b": [1, {"c": -n}]}])
def test_numbers_are_written_alike(number: float, form: Callable[[float], object]) -> None:
    data = form(number)
    assert indented_json(data) == json.dumps(data, indent=2, ensure_ascii=False)


def test_half_of_a_surrogate_pair_stays_what_it_was() -> None:
    assert indented_json(["\ud800"]) == json.dumps(["\ud800"], indent=2, ensure_ascii=False)


def test_hexadecimal_digits_are_no_exponent(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"gateway": "fe80::fa:ff:fe00:1e1", "sha256": ["0e5", "-1e-5"], "1e5": 15}
    text = json.dumps(data, indent=2, ensure_ascii=False)
    # As in the plan of a fabric with unnumbered BGP, which takes a fifth of a second then.
    monkeypatch.setattr(json, "dumps", lambda *_, **__: pytest.fail("written by Python alone"))
    assert indented_json(data) == text
