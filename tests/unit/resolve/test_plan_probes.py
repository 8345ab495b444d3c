"""What is sampled where an experiment does not say."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed_labs import LONG, QUERY, lab

from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.resolve.probes import _interval_ns


def ports(directory: Path) -> tuple[str, ...]:
    return resolve_plan(parse_lab(directory), {}).probes.queue_ports


@pytest.mark.parametrize(
    ("traffic", "expected"),
    [
        (LONG, ("s2:eth2",)),
        (QUERY, ("s1:eth1",)),
        (f"{LONG}\n  {QUERY}", ("s1:eth1", "s2:eth2")),
        (f"{LONG}\n  {QUERY.replace('stop', 'enabled: false, stop')}", ("s2:eth2",)),
    ],
)
def test_without_probes_the_ports_before_the_receivers_are_sampled(
    tmp_path: Path, traffic: str, expected: tuple[str, ...]
) -> None:
    assert ports(lab(tmp_path, traffic)) == expected
    assert resolve_plan(parse_lab(tmp_path), {}).probes.queue_interval_ns == 1_000_000


@pytest.mark.parametrize("probes", ["probes: {}\n", "probes: {tcp: {interval: 1 ms}}\n"])
def test_what_is_written_stays_as_it_is(tmp_path: Path, probes: str) -> None:
    plan = resolve_plan(parse_lab(lab(tmp_path, LONG, probes)), {})
    assert (plan.probes.queue_ports, plan.probes.queue_interval_ns) == ((), None)


def test_many_ports_are_sampled_less_often() -> None:
    assert [_interval_ns(ports) // 1_000_000 for ports in (1, 16, 17, 64, 128)] == [1, 1, 2, 4, 8]
