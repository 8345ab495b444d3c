"""Which ports a validation congests, and with whom: senders whose lines meet there, and nowhere before."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_fabrics import sample_leaf_spine
from switch_by_hand import GBPS

from fabriclab.formats.plan.traffic import LongTraffic
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.topologies import Fabric, star, topology_text
from fabriclab.validation import Bench
from fabriclab.validation.in_cast import in_casts
from fabriclab.validation.marks import marks_stage

SHARED = """title: T
switches: {default: {pools: {shared: {size: 400 KB}}, queues: {default: {pool: shared, wred: {min: 30 KB, max: 60 KB, \
probability: 5 %}}}}}
traffic: {a: {kind: long, senders: [h1], receiver: h2, stop: 1 s}}
validation: {thresholds: {0: 30 KB, 8: 90 KB}}
"""


def bench_of(directory: Path, topology: Fabric) -> Bench:
    (directory / "topology.clab.yml").write_text(topology_text(topology))
    (directory / "experiment.yml").write_text(SHARED)
    lab = parse_lab(directory)
    plan = resolve_plan(lab, {})
    return Bench(plan, plan, lab.experiment.validation)


def racks(uplinks: int) -> Fabric:
    """Return three racks of one host each, with as many links of the host's rate to spines."""
    return sample_leaf_spine("lab", spines=uplinks, leaves=3, uplink_bps=GBPS, delay_ns=5_000)


@pytest.mark.parametrize(("uplinks", "ports"), [(1, 0), (2, 3)])
def test_what_comes_from_elsewhere_is_no_more_than_the_uplinks_carry(uplinks: int, ports: int, tmp_path: Path) -> None:
    assert len(in_casts(bench_of(tmp_path, racks(uplinks)), 2.0)) == ports


@pytest.mark.parametrize(("hosts", "senders"), [(2, None), (3, 2), (4, 3), (5, 4), (9, 4)])
def test_there_are_as_many_senders_as_wished_where_the_lab_has_them(
    hosts: int, senders: int | None, tmp_path: Path
) -> None:
    bench = bench_of(tmp_path, star("lab", hosts=hosts, rate_bps=GBPS, delay_ns=5_000, mtu_bytes=1500))
    assert [len(one.senders) for one in in_casts(bench, 2.0, 4.0)] == ([] if senders is None else [senders])


def test_where_a_curve_rises_the_first_mark_is_due_at_its_maximum(tmp_path: Path) -> None:
    """Queue 0 rises from the threshold that is wanted up to 60 KB; in queue 1 more is wanted than the curve has."""
    stage = marks_stage(bench_of(tmp_path, star("lab", hosts=3, rate_bps=GBPS, delay_ns=5_000, mtu_bytes=1500)))
    assert stage is not None
    lengths = [one.stop_ns - one.start_ns for one in stage.plan.traffic if isinstance(one, LongTraffic)]
    assert len(lengths) == 8 and lengths[1] > lengths[0] == lengths[2]
