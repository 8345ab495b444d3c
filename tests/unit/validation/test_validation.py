"""The section `validation`, the stages that a lab gets, and the forms in which findings are shown."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_fabrics import sample_leaf_spine

import fabriclab.api.validation as validating
from fabriclab.cli.text.junit import JunitCase, junit_xml
from fabriclab.engine.containers import ContainerLab
from fabriclab.lab import LabError, parse_lab
from fabriclab.lab.validation import WrittenValidation
from fabriclab.resolve import resolve_plan
from fabriclab.runs import RunContext, RunResult
from fabriclab.topologies import star, topology_text
from fabriclab.validation import Bench, Stage, ValidationFinding, all_pass, later_stages, reach_stage
from fabriclab.validation.finding import MOST_SHOWN, numbers_text, shortened

STOCK = "switches: {default: {buffer: 64 KB}}\n"
SHARED = """
switches:
  default:
    pools: {shared: {size: 400 KB}}
    queues: {default: {pool: shared, alpha: 1}, 2: {wred: {min: 30 KB, max: 60 KB}}}
"""


def lab_of(directory: Path, *parts: str, hosts: int = 3) -> Bench:
    topology = star("lab", hosts=hosts, rate_bps=10**9, delay_ns=25_000, mtu_bytes=1500)
    (directory / "topology.clab.yml").write_text(topology_text(topology))
    (directory / "experiment.yml").write_text(
        "".join(["title: T\ntraffic: {a: {kind: long, senders: [h1], receiver: h2, stop: 1 s}}\n", *parts])
    )
    lab = parse_lab(directory)
    plan = resolve_plan(lab, {})
    return Bench(plan, plan, lab.experiment.validation)


def test_what_is_wanted_is_read(tmp_path: Path) -> None:
    written = """
validation:
  queues: {0..7: 1, ef: 5, 3: 4}
  lossless: [cs3, 32]
  thresholds: {ef: 30 KB}
  mtu: 9000
  failure: {action: blackhole, recovery: 300 ms}
"""
    wanted = lab_of(tmp_path, STOCK, written).wanted
    assert wanted.queues == {**dict.fromkeys(range(8), 1), 3: 4, 46: 5}
    assert wanted == WrittenValidation(wanted.queues, (24, 32), {46: 30_000}, 9000, "blackhole", 300_000_000)
    assert lab_of(tmp_path, STOCK).wanted == WrittenValidation()
    assert lab_of(tmp_path, STOCK, "validation: {lossless: none}\n").wanted.lossless == ()


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("{queue: {ef: 5}}", "validation.queue: unknown key; did you mean 'queues'?"),
        ("{queues: {ef: 9}}", "validation.queues.ef: '9' is out of range"),
        ("{queues: {eff: 3}}", "validation.queues.eff: 'eff' is unknown"),
        ("{lossless: [64]}", "validation.lossless[0]: '64' is out of range"),
        ("{thresholds: {ef: 30}}", "validation.thresholds.ef: '30' has no unit"),
        ("{mtu: 60}", "validation.mtu: '60' is out of range"),
        ("{failure: {action: up}}", "validation.failure.action: 'up' is unknown; valid here: down, blackhole"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, section: str, message: str) -> None:
    with pytest.raises(LabError) as caught:
        lab_of(tmp_path, STOCK, f"validation: {section}\n")
    assert message in str(caught.value) and "experiment.yml:" in str(caught.value)


def stages_of(bench: Bench) -> list[str]:
    return [stage.name for stage in (reach_stage(bench), *later_stages(bench))]


def test_a_lab_gets_the_stages_that_it_has_something_for(tmp_path: Path) -> None:
    assert stages_of(lab_of(tmp_path, STOCK)) == ["reach"]
    assert stages_of(lab_of(tmp_path, SHARED)) == ["reach", "classes", "marks"]
    # A single sender cannot congest a line like its own.
    assert stages_of(lab_of(tmp_path, SHARED, hosts=2)) == ["reach", "classes"]
    assert stages_of(lab_of(tmp_path, SHARED, "validation: {lossless: [cs3]}\n")) == [
        "reach",
        "classes",
        "marks",
        "lossless",
        "lossless-in-cast",
    ]


def test_a_stage_has_the_labs_nodes_and_nothing_else_of_it(tmp_path: Path) -> None:
    events = "events: {cut: {at: 100 ms, link: 's1:eth1', action: down}}\n"
    bench = lab_of(tmp_path, SHARED, events, "checks: [{metric: goodput_bps, operator: '>', value: 1 Mbps}]\n")
    for stage in (reach_stage(bench), *later_stages(bench)):
        assert (
            not stage.plan.events
            and not stage.plan.checks
            and "a" not in {traffic.name for traffic in stage.plan.traffic}
        )
        assert [(node.name, node.ports) for node in stage.plan.nodes] == [
            (node.name, node.ports) for node in bench.plan.nodes
        ]
        assert stage.plan.limit_ns > 0


def test_every_pair_of_hosts_and_every_dscp_is_tried(tmp_path: Path) -> None:
    bench = lab_of(tmp_path, SHARED)
    reach, classes, _ = (reach_stage(bench), *later_stages(bench))
    pairs = {
        (sender, traffic.receiver)
        for traffic in reach.plan.traffic
        if traffic.kind == "flows"
        for sender in traffic.senders
    }
    assert pairs == {(a, b) for a in ("h1", "h2", "h3") for b in ("h1", "h2", "h3") if a != b}
    assert [traffic.carrier.dscp for traffic in classes.plan.traffic if traffic.kind == "flows"] == list(range(64))


def finding(verdict: str, where: str = "x") -> ValidationFinding:
    return ValidationFinding("reach", where, "all", "some", cast(Any, verdict))


def test_only_what_passed_passes() -> None:
    assert all_pass([finding("pass"), finding("not measured")])
    assert not all_pass([finding("pass"), finding("fail")])
    assert not all_pass([finding("not measured")]) and not all_pass([])


def test_many_failures_are_cut() -> None:
    few = [finding("fail", str(number)) for number in range(MOST_SHOWN)]
    assert shortened(few) == few
    cut = shortened([*few, finding("fail", "more"), finding("fail", "still")])
    assert cut[:MOST_SHOWN] == few and (cut[-1].where, cut[-1].verdict) == ("2 more", "fail")


@given(st.sets(st.integers(0, 63)))
def test_numbers_as_ranges(numbers: set[int]) -> None:
    found: list[int] = []
    for part in filter(None, numbers_text(list(numbers)).split(", ")):
        first, _, last = part.partition("..")
        found += range(int(first), int(last or first) + 1)
    assert found == sorted(numbers)


@given(st.text(), st.text())
def test_junit_holds_any_text(name: str, message: str) -> None:
    suite = ElementTree.fromstring(
        junit_xml("s", [JunitCase("g", name, failure=message), JunitCase("g", "ok"), JunitCase("g", "no", skipped="x")])
    )[0]
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.attrib["skipped"]) == ("3", "1", "1")
    assert [len(case) for case in suite] == [1, 0, 1]


class Runs:
    """Stands for the runs of a validation: each ends as it is told, and leaves no results."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, status: str) -> None:
        self.stages: list[str] = []
        self._status = status
        monkeypatch.setattr(validating, "run_point", self._run)
        monkeypatch.setattr(validating, "results_if_possible", lambda directory: SimpleNamespace(directory=directory))
        monkeypatch.setattr(validating, "_has_epoch", lambda directory: True)

    def _run(self, plan: object, directory: Path, context: object, on_event: object) -> RunResult:
        self.stages.append(directory.name)
        return RunResult(directory, cast(Any, self._status), "why")


def findings_of(
    bench: Bench,
    monkeypatch: pytest.MonkeyPatch,
    made_from: object,
    verdicts: tuple[str, ...] = ("pass", "fail"),
    only: tuple[str, ...] = (),
) -> list[ValidationFinding]:
    """Return what a validation says whose reach stage finds these verdicts."""
    stage = reach_stage(bench)
    found = [finding(verdict, f"{number}") for number, verdict in enumerate(verdicts)]
    monkeypatch.setattr(validating, "first_stage", lambda _: Stage(stage.name, stage.plan, lambda results: found))
    context = RunContext(Path(), cast(Any, made_from), (), lambda directory: None)
    return list(validating.Stages(Path("out"), context, lambda *_: None).carry_out(bench, only))


MACHINE = object()
CONTAINERS = ContainerLab(Path("topology.clab.yml"), Path("tools"))


def test_what_stock_qdiscs_cannot_tell_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(monkeypatch, "complete")
    found = findings_of(lab_of(tmp_path, SHARED, "validation: {lossless: [cs3]}\n"), monkeypatch, CONTAINERS)
    assert runs.stages == ["reach"]
    assert [(one.check, one.verdict) for one in found[2:]] == [
        (check, "not measured") for check in ("class", "marks", "lossless")
    ]


def test_a_starved_run_shows_what_arrived_and_nothing_of_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Runs(monkeypatch, "starved")
    found = findings_of(lab_of(tmp_path, STOCK), monkeypatch, CONTAINERS)
    assert [one.verdict for one in found] == ["pass", "not measured"] and "too busy" in found[1].measured


def test_a_run_that_fails_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Runs(monkeypatch, "crashed")
    (found,) = findings_of(lab_of(tmp_path, STOCK), monkeypatch, MACHINE)
    assert (found.check, found.where, found.measured, found.verdict) == ("run", "reach", "why", "fail")


def test_a_fabric_that_still_lacks_the_link_before_is_told(tmp_path: Path) -> None:
    fabric = sample_leaf_spine()
    (tmp_path / "topology.clab.yml").write_text(topology_text(fabric))
    traffic = "traffic: {a: {kind: long, senders: [h1], receiver: h2, stop: 1 s}}\n"
    (tmp_path / "experiment.yml").write_text("title: T\nrouting: {protocol: bgp-unnumbered}\n" + STOCK + traffic)
    plan = resolve_plan(parse_lab(tmp_path), {})
    (stage,) = (each for each in later_stages(Bench(plan, plan, WrittenValidation())) if each.name == "failures")
    flows = pl.LazyFrame(
        schema={"class": pl.String, "src": pl.String, "dst": pl.String, "status": pl.String, "end_ns": pl.Int64}
    )
    back = {
        "reconvergence_ns[returns-0]": None,
        "reconvergence_ns[returns-1]": 10**9,
        "reconvergence_ns[returns-2]": 10**9,
    }
    findings = stage.judge(cast("Any", SimpleNamespace(flows=flows, summary=back)))
    told = [
        "routing was not yet back from the failure before, 5 s after that link's return" in each.measured
        for each in findings
    ]
    assert told == [False, True, False, False]
