"""DCTCP's fluid model: what can be said of it by hand, and the two ways to solve it against each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabriclab.theory.dctcp_fluid import DctcpFluid, limit_cycle, solve

TEN_FLOWS = DctcpFluid.of_line(10, 10e9, 100e-6, 65 * 1514)


def test_a_line_in_packets() -> None:
    """A full frame takes 1538 bytes of line: 10 Gbps are 812,744 a second, and 100 us hold 81.3."""
    assert TEN_FLOWS.capacity_pps == pytest.approx(812_744, rel=1e-6)
    assert TEN_FLOWS.threshold_packets == 65
    assert TEN_FLOWS.operating_window == pytest.approx((81.27 + 65) / 10, rel=1e-3)


def test_the_way_from_an_empty_queue_ends_in_the_limit_cycle() -> None:
    cycle, way = limit_cycle(TEN_FLOWS), solve(TEN_FLOWS, 0.05)
    late = way.time_s > 0.03
    assert way.queue_packets[late].min() == pytest.approx(cycle.queue_min, abs=0.05)
    assert way.queue_packets[late].max() == pytest.approx(cycle.queue_max, abs=0.05)
    rises = np.flatnonzero(np.diff((way.queue_packets > 66).astype(int)) == 1)
    rises = rises[way.time_s[rises] > 0.03]
    assert np.diff(way.time_s[rises]).mean() == pytest.approx(cycle.period_s, rel=0.01)


def test_the_queue_swings_about_the_threshold_and_the_cycle_is_stable() -> None:
    cycle = limit_cycle(TEN_FLOWS)
    assert cycle.queue_min < 65 < cycle.queue_max
    assert cycle.utilisation == pytest.approx(1)
    assert cycle.spectral_radius is not None
    assert 0 < cycle.spectral_radius < 1


def test_what_is_left_of_a_disturbance_is_what_the_radius_says() -> None:
    """On the way to the cycle each turn leaves the radius' part of what the one before left."""
    cycle = limit_cycle(TEN_FLOWS)
    assert cycle.spectral_radius is not None
    way = solve(TEN_FLOWS, 0.03)
    rises = np.flatnonzero((way.queue_packets[:-1] == 65) & (way.queue_packets[1:] > 65))
    away = np.abs(way.window_packets[rises] - cycle.curve.window_packets[0])
    late = (way.time_s[rises] > 0.007) & (away > 1e-6)
    assert late.sum() > 4
    left = away[late][1:] / away[late][:-1]
    assert left == pytest.approx(cycle.spectral_radius, rel=0.02)


def test_a_seventh_of_rate_times_delay_keeps_the_line_full() -> None:
    """Two flows: K of 12 packets, C d / 7 = 11.6, just does; half of it does not (SIGCOMM 2010, section 3.4)."""
    enough, too_little = (limit_cycle(DctcpFluid(2, 812_744, 100e-6, packets)) for packets in (12, 6))
    assert enough.utilisation == pytest.approx(1)
    assert enough.queue_min > 0
    assert too_little.utilisation < 0.99
    assert too_little.queue_min == pytest.approx(0, abs=1e-9)


def test_windows_of_two_stand_still_above_the_threshold() -> None:
    cycle = limit_cycle(DctcpFluid(100, 812_744, 100e-6, 65))
    way = solve(DctcpFluid(100, 812_744, 100e-6, 65), 0.05)
    assert (cycle.period_s, cycle.spectral_radius) == (0, None)
    assert cycle.queue_mean == pytest.approx(200 - 81.27, abs=0.01)
    assert way.queue_at(0.05) == pytest.approx(cycle.queue_mean, rel=1e-3)
    assert way.window_packets[-1] == pytest.approx(2, rel=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [({"flows": 0}, "flows: 0 is not above 0"), ({"gain": 2}, "gain: 2 is above 1"), ({"delay_s": -1}, "delay_s: -1")],
)
def test_what_is_no_port_is_told(change: dict[str, Any], message: str) -> None:
    values = {"flows": 2, "capacity_pps": 1e6, "delay_s": 1e-4, "threshold_packets": 10, **change}
    with pytest.raises(ValueError, match=message):
        DctcpFluid(**values)


def test_no_time_is_told() -> None:
    with pytest.raises(ValueError, match="duration_s: 0 is not above 0"):
        solve(TEN_FLOWS, 0)
