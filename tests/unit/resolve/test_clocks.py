"""How far the clocks of hosts' NICs are off: drawn by the seed, within what the lab says."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from small_fabrics import plan_of

from fabriclab.compile import compile_node
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.node import Port
from fabriclab.lab import LabError
from fabriclab.lab.lab import parse_lab
from fabriclab.resolve import Resolver

HOSTS = 40
TOPOLOGY = "name: clocks\ntopology:\n  nodes:\n    s1: {kind: linux, labels: {fabriclab.role: switch}}\n" + "".join(
    f"    h{number}: {{kind: linux, labels: {{fabriclab.role: host}}}}\n" for number in range(1, HOSTS + 1)
)
LINKS = "  links:\n" + "".join(
    f"    - {{endpoints: ['h{number}:eth1', 's1:eth{number}'], vars: {{rate: 10 Gbps}}}}\n"
    for number in range(1, HOSTS + 1)
)
EXPERIMENT = """\
title: clocks
switches: {default: {buffer: 1 MB}}
hosts: {NICS}
traffic: {long: {kind: long, senders: [h1], receiver: h2, stop: 1 s}}
"""


def planned(directory: Path, nics: str = "default: {}") -> Plan:
    return plan_of(directory, TOPOLOGY + LINKS, EXPERIMENT.replace("NICS", nics))


def ports(plan: Plan, role: str = "host") -> list[Port]:
    return [port for node in plan.nodes if node.role == role for port in node.ports]


def clocks(plan: Plan) -> list[int]:
    return [port.nic.clock_ppb for port in ports(plan) if port.nic is not None]


def test_clocks_are_off_to_both_sides_within_the_bound(tmp_path: Path) -> None:
    drawn = clocks(planned(tmp_path))
    assert len(set(drawn)) == HOSTS and max(map(abs, drawn)) <= 50_000
    # Evenly distributed: the mean of 40 has a standard deviation of 50 / sqrt(3 * 40) ppm.
    assert abs(statistics.mean(drawn)) < 3 * 50_000 / (3 * HOSTS) ** 0.5
    assert statistics.pstdev(drawn) == pytest.approx(50_000 / 3**0.5, rel=0.25)


def test_switches_have_the_rates_of_their_links(tmp_path: Path) -> None:
    assert all(port.line_bps == port.rate_bps == 10**10 for port in ports(planned(tmp_path), "switch"))


def test_a_nic_sends_by_its_own_clock(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    port = plan.node("h1").ports[0]
    assert port.nic is not None and port.nic.clock_ppb != 0
    assert port.rate_bps == 10**10 and port.line_bps == 10**10 + 10 * port.nic.clock_ppb
    assert f" rate {port.line_bps}bit " in compile_node(plan.node("h1"), plan).tc


def test_a_host_has_its_own_bound_and_none_is_exact(tmp_path: Path) -> None:
    plan = planned(tmp_path, "default: {nic: {clock_error: 0 ppm}}, h3: {nic: {clock_error: 100 ppm}}")
    assert [number for number, clock in enumerate(clocks(plan), 1) if clock] == [3]
    assert "clock_ppb" not in plan.node("h1").model_dump_json() and "clock_ppb" in plan.node("h3").model_dump_json()


def test_another_seed_draws_other_clocks_and_the_same_seed_the_same(tmp_path: Path) -> None:
    planned(tmp_path)
    resolver = Resolver(parse_lab(tmp_path))
    first, second, again = (clocks(resolver.resolve({}, seed)) for seed in (1, 2, 1))
    assert first == again and all(one != other for one, other in zip(first, second, strict=True))


def test_more_than_the_standard_allows_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"clock_error: '101 ppm' is out of range; write one from 0 ppm to 100 ppm"):
        planned(tmp_path, "default: {nic: {clock_error: 101 ppm}}")
