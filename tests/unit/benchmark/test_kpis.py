"""The numbers of a benchmark, by hand."""

from __future__ import annotations

import pytest

from fabriclab.benchmark.document import shown
from fabriclab.benchmark.kpis import Kpi, Reference, max_mean, variation


def test_a_reference_is_reached_or_not_and_unknown_without_a_value() -> None:
    for reference, value, reached in (
        (Reference("<=", 1.05), 1.05, True),
        (Reference("<=", 1.05), 1.06, False),
        (Reference(">=", 95.0), 90.0, False),
        (Reference(">=", 95.0), 95.0, True),
        (Reference("==", 0.0), 0.0, True),
        (Reference("==", 0.0), 1.0, False),
    ):
        assert Kpi("one", "", "", value, reference).reached is reached
    assert Kpi("one", "", "", None, Reference("<=", 1), "not there").reached is None
    assert Kpi("one", "", "", 3.0).reached is None


def test_spread_of_loads() -> None:
    assert max_mean([1, 1, 4]) == 2
    assert (max_mean([]), max_mean([0, 0])) == (None, None)
    assert variation([2.0, 4.0]) == pytest.approx(1 / 3)
    assert variation([2.0]) is None


def test_a_number_is_shown_with_its_unit_or_its_reason() -> None:
    assert shown(Kpi("one", "", "Gbps", 96.94231)) == "96.94 Gbps"
    assert shown(Kpi("one", "", "us", 164_600.4)) == "164,600 us"
    assert shown(Kpi("one", "", "us", None, reason="nobody sent")) == "not measured: nobody sent"
