"""What theory says of flows that share a link, against the figures of HULL's paper and against a simulation."""

from __future__ import annotations

import random

import pytest

from fabriclab.theory.processor_sharing import slowdown


def test_the_studys_figures() -> None:
    """40 % load, a fifth of the link given away: 1.66 times becomes 2.5 times."""
    assert slowdown(0.4) == pytest.approx(1.67, abs=0.01)
    assert slowdown(0.4, 0.8) == pytest.approx(2.5)
    assert slowdown(0) == 1


@pytest.mark.parametrize(("load", "drain"), [(0.8, 0.8), (-0.1, 1), (0.2, 0), (0.2, 1.1)])
def test_what_no_link_carries_is_an_error(load: float, drain: float) -> None:
    with pytest.raises(ValueError, match=r"drain rate|a load"):
        slowdown(load, drain)


def simulated(load: float, drain: float, flows: int) -> float:
    """Mean slowdown of flows of two sizes that share a link of rate `drain` evenly, in times of the whole link."""
    draw = random.Random(1)
    sizes = [draw.choice((0.1, 1.9)) for _ in range(flows)]
    left: dict[int, float] = {}
    started: dict[int, float] = {}
    now, times, total = 0.0, list[float](), 0.0
    for _ in sizes:
        times.append(now)
        now += draw.expovariate(load)
    now, coming = 0.0, 0
    while coming < flows or left:
        ends = min(left.values()) * len(left) / drain if left else float("inf")
        wait = times[coming] - now if coming < flows else float("inf")
        step = min(ends, wait)
        for flow in left:
            left[flow] -= step * drain / len(left)
        now += step
        if wait <= ends:
            left[coming], started[coming] = sizes[coming], now
            coming += 1
        else:
            flow = min(left, key=left.__getitem__)
            del left[flow]
            total += now - started[flow]
    return total / sum(sizes)


@pytest.mark.parametrize(("load", "drain"), [(0.2, 0.95), (0.4, 0.8)])
def test_a_simulation_agrees(load: float, drain: float) -> None:
    assert simulated(load, drain, 20_000) == pytest.approx(slowdown(load, drain), rel=0.05)
