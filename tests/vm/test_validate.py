"""`fabriclab validate`: a small fabric passes every check, and each way to break it fails the check
that is there for it."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from vm import Vm, called, fabriclab, ignore

from fabriclab.api.validation import Stages
from fabriclab.cli.commands.validate import VerdictFiles, validate
from fabriclab.engine.events import EventCallback
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.node import Route
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.results import ingest_run, read_run
from fabriclab.runs import RunContext, RunResult, run_point
from fabriclab.topologies import leaf_spine, topology_text
from fabriclab.validation import Bench, Stage, ValidationFinding, later_stages, reach_stage

pytestmark = pytest.mark.vm

EXPERIMENT = """
title: A small fabric
routing: {protocol: bgp-unnumbered, convergence_limit: 5 s}
switches:
  default:
    pools: {out: {size: 400 KB}, in: {size: 400 KB}}
    queues:
      default: {pool: out, alpha: 1}
      0: {wred: {min: 30 KB, max: 30 KB}}
      3: {pool: out, limit: none, wred: {min: 10 KB, max: 10 KB}}
      5: {wred: {min: 30 KB, max: 30 KB}}
    priority_groups: {3: {pool: in, limit: 30 KB, lossless: true, xon: 20 KB}}
    pfc: {priorities: [3]}
validation:
  queues: {ef: 5, 24..31: 3}
  lossless: [cs3]
  thresholds: {0: 30 KB, ef: 30 KB}
traffic:
  flows: {kind: flows, senders: all, receiver: h1, size: 20 KB}
"""
Edit = Callable[[str], str]


def bench_of(
    directory: Path, settings: dict[str, str] | None = None, *, topology: Edit = str, experiment: Edit = str
) -> Bench:
    """Return a fabric of two spines, two leaves and three hosts on each; `topology` and `experiment`
    change the files' texts."""
    size = {"spines": 2, "leaves": 2, "hosts_per_leaf": 3, "host_rate_bps": 10**9}
    fabric = leaf_spine("fabric", **size, uplink_rate_bps=None, oversubscription=None, delay_ns=25_000, mtu_bytes=1500)
    (directory / "topology.clab.yml").write_text(topology(topology_text(fabric)))
    (directory / "experiment.yml").write_text(experiment(EXPERIMENT))
    lab = parse_lab(directory)
    plan = resolve_plan(lab, settings or {})
    return Bench(plan, plan, lab.apply(settings or {}).experiment.validation)


STATIC = {"routing.protocol": "static"}
"""For what no daemon has a part in: they take most of the time of a short run."""


def statically(text: str) -> str:
    return text.replace("protocol: bgp-unnumbered", "protocol: static")


def found_by(vm: Vm, stage: Stage) -> list[ValidationFinding]:
    context = RunContext(vm.directory, vm.artefacts, ("test",), ingest_run, collect=stage.collectors)
    result = run_point(stage.plan, vm.directory / stage.name, context, ignore)
    assert result.status in ("complete", "limit"), result.message
    return stage.judge(read_run(result.directory))


def found(vm: Vm, bench: Bench, name: str) -> list[ValidationFinding]:
    stages = [reach_stage(bench), *later_stages(bench)]
    return found_by(vm, next(stage for stage in stages if stage.name == name))


def failures(findings: list[ValidationFinding], check: str) -> list[ValidationFinding]:
    """Return what failed, after making sure that nothing else did."""
    failed = [finding for finding in findings if finding.verdict == "fail"]
    assert {finding.check for finding in failed} == {check}
    return failed


@pytest.mark.slow("validates a fabric in all stages, which boots it several times")
def test_a_good_fabric_passes_and_the_command_says_so(vm: Vm, tmp_path: Path) -> None:
    """Its lossless class marks before it pauses, and its hosts' TCP reacts; no port has a watchdog."""
    reacting = "hosts: {default: {congestion_control: dctcp, nic: {gro: off}}}\ntraffic:"
    bench_of(tmp_path, experiment=lambda text: text.replace("traffic:", reacting))
    done = fabriclab(tmp_path, "validate", ".", "--out", "out", "--junit", "out.xml")
    assert done.returncode == 0, done.stdout + done.stderr
    suite = ElementTree.parse(tmp_path / "out.xml").getroot()[0]
    assert int(suite.attrib["tests"]) == len(suite) and suite.attrib["failures"] == "0"
    skipped = {case.attrib["classname"] for case in suite if case.find("skipped") is not None}
    assert skipped == {"validate.watchdog"}
    checks = {case.attrib["classname"].removeprefix("validate.") for case in suite}
    of_lossless = {"lossless", "ecn-first", "victim", "watchdog"}
    assert checks == {"sessions", "paths", "balance", "reach", "mtu", "class", "marks", "failure"} | of_lossless


def test_the_command_fails_for_what_fails(vm: Vm, tmp_path: Path) -> None:
    bench_of(tmp_path, experiment=lambda text: statically(text).replace("ef: 5", "ef: 6"))
    done = called(
        tmp_path, "validate", ".", "--out", "out", "--junit", "out.xml", "--json", "out.json", "--only", "classes"
    )
    assert done.returncode == 1
    (failed,) = ElementTree.parse(tmp_path / "out.xml").getroot().iter("failure")
    assert failed.attrib["message"] == "expected DSCP 46 in queue 6; measured queue 5"
    document = json.loads((tmp_path / "out.json").read_text())
    (told,) = (finding for finding in document["findings"] if finding["verdict"] == "fail")
    assert (document["format"], document["passed"], document["counts"]["fail"]) == ("fabriclab-validation-1", False, 1)
    assert (told["expected"], told["measured"]) == ("DSCP 46 in queue 6", "queue 5")
    refused = called(tmp_path, "validate", ".", "--out", "out")
    assert refused.returncode == 2 and "already exists" in refused.stderr
    assert called(tmp_path, "validate", ".", "--only", "class").returncode == 2


def test_what_was_found_before_an_interrupt_is_told(
    vm: Vm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bench_of(tmp_path)

    def interrupted_in_classes(plan: Plan, directory: Path, context: RunContext, on_event: EventCallback) -> RunResult:
        if directory.name != "classes":
            return run_point(plan, directory, context, on_event)
        context.interrupt.request()
        return RunResult(directory, "interrupted", "interrupted: measurements until then are kept")

    monkeypatch.setattr("fabriclab.api.validation.run_point", interrupted_in_classes)
    files = VerdictFiles(tmp_path / "out.xml", tmp_path / "out.json")
    status = validate(tmp_path, None, [], tmp_path / "out", False, "vm", 120.0, files, [])
    told = capsys.readouterr()
    # A file of an earlier validation must not speak for this one.
    assert status == 130 and "comes to a verdict" in (tmp_path / "out.xml").read_text()
    document = json.loads((tmp_path / "out.json").read_text())
    assert (document["passed"], document["no_verdict"]) == (None, "interrupted")
    assert {finding["check"] for finding in document["findings"]} == {"sessions", "paths", "balance", "reach", "mtu"}
    assert "sessions  leaf1" in told.out and "fail" not in told.out
    assert told.err.endswith(f"interrupted: no verdict; the measurements are in {tmp_path / 'out'}\n")


def test_a_session_that_never_comes_up(vm: Vm, tmp_path: Path) -> None:
    """A leaf with the spines' AS number is not an external neighbour of theirs.

    What is behind it is then out of reach, and said to be.
    """

    def same_asn(text: str) -> str:
        return re.sub(r"(leaf2: .*fabriclab\.asn: )\d+", r"\g<1>64512", text)

    bench = bench_of(tmp_path, topology=same_asn)
    findings = found(vm, bench, "reach")
    failed = [finding for finding in findings if finding.verdict == "fail"]
    assert {finding.check for finding in failed} == {"sessions", "reach", "mtu"}
    sessions = [finding for finding in failed if finding.check == "sessions"]
    assert [finding.where for finding in sessions] == [
        *("spine1:eth2 to leaf2", "spine2:eth2 to leaf2", "leaf2:eth4 to spine1", "leaf2:eth5 to spine2"),
    ]
    assert len([finding for finding in failed if finding.check == "reach"]) == 18
    assert {finding.measured for finding in failed if finding.check == "mtu"} == {"full packets do not arrive"}


def test_routing_that_never_gets_there_is_measured_as_it_is(vm: Vm, tmp_path: Path) -> None:
    """A run waits in vain for a route that nobody announces; the validation goes on with those that there are."""
    bench = bench_of(tmp_path)
    impossible = Route(destination="10.99.0.0/24", next_hops=(("fe80::1", "eth4"),))
    nodes = tuple(
        node.model_copy(update={"routes": (*node.routes, impossible)}) if node.name == "leaf2" else node
        for node in bench.plan.nodes
    )
    plan = bench.plan.model_copy(update={"nodes": nodes})
    context = RunContext(vm.directory, vm.artefacts, ("test",), ingest_run)
    stages = Stages(tmp_path / "out", context, lambda *_: None)
    findings = list(stages.carry_out(replace(bench, plan=plan, intended=plan), ["reach"]))
    (failed,) = failures(findings, "paths")
    assert (failed.where, failed.expected, failed.measured) == ("leaf2 to 10.99.0.0/24", "1 next hop: eth4", "no route")
    assert next(finding for finding in findings if finding.check == "reach").verdict == "pass"
    assert (tmp_path / "out" / "reach-as-it-is").is_dir()


def test_fewer_equal_paths_than_there_are(vm: Vm, tmp_path: Path) -> None:
    findings = found(vm, bench_of(tmp_path, {"routing.max_paths": "1"}), "reach")
    failed = [finding for finding in findings if finding.verdict == "fail"]
    assert {finding.check for finding in failed} == {"paths", "balance"}
    assert all(finding.expected == "2 next hops: eth4, eth5" for finding in failed if finding.check == "paths")
    assert {finding.where for finding in failed if finding.check == "balance"} == {"leaf1", "leaf2"}


def test_a_route_that_is_missing(vm: Vm, tmp_path: Path) -> None:
    bench = bench_of(tmp_path, STATIC)
    spines = {"spine1", "spine2"}
    nodes = tuple(
        node.model_copy(update={"routes": node.routes[1:]}) if node.name in spines else node
        for node in bench.plan.nodes
    )
    findings = found(vm, replace(bench, plan=bench.plan.model_copy(update={"nodes": nodes})), "reach")
    failed = [finding for finding in findings if finding.verdict == "fail"]
    assert {finding.check for finding in failed} == {"paths", "reach", "mtu"}
    assert {finding.where.split()[0] for finding in failed if finding.check == "paths"} == spines


@pytest.mark.parametrize("wanted", [False, True], ids=["own", "wanted"])
def test_a_link_that_is_too_narrow(vm: Vm, tmp_path: Path, wanted: bool) -> None:
    """The links between leaves and spines take 1400 bytes; or all take 1500, and 9000 are wanted."""

    def narrow(text: str) -> str:
        return "\n".join(
            line.replace("mtu: 1500", "mtu: 1400") if "'spine" in line else line for line in text.split("\n")
        )

    bench = bench_of(tmp_path, STATIC, topology=str if wanted else narrow)
    if wanted:
        bench = replace(bench, wanted=replace(bench.wanted, mtu=9000))
    failed = failures(found(vm, bench, "reach"), "mtu")
    assert {(finding.expected, finding.measured) for finding in failed} == {
        ("9000 B", "1500 B") if wanted else ("1500 B", "1400 B")
    }
    # Pairs of one rack have no such link between them.
    assert len(failed) == (15 if wanted else 9)


def test_a_dscp_in_the_wrong_queue(vm: Vm, tmp_path: Path) -> None:
    bench = bench_of(tmp_path, STATIC | {"switches.leaf2.maps.dscp_to_tc.ef": "2"})
    (failed,) = failures(found(vm, bench, "classes"), "class")
    assert (failed.expected, failed.measured) == ("DSCP 46 in queue 5", "queue 2")
    assert re.fullmatch(r"(leaf2:eth\d(, | and \d more ports$|$))+", failed.where)


MARKS = {
    ("leaf1", 0): ("{wred: {min: 30 KB, max: 30 KB, ecn: false}}", r"none up to .*, \d+ packets dropped"),
    ("leaf1", 5): ("{wred: none}", r"none up to .*"),
    ("leaf2", 0): ("{wred: {min: 60 KB, max: 60 KB}}", "the first between 60.*"),
    ("leaf2", 5): ("{wred: {min: 10 KB, max: 10 KB}}", "the first between 1.*"),
    ("leaf2", 2): ("{alpha: 1/16}", r"none up to 2.*, \d+ packets dropped"),
}
"""What is wrong with a queue that is to mark from 30 KB on, and what is then measured of it."""


def test_marks_that_are_missing_late_or_early(vm: Vm, tmp_path: Path) -> None:
    """One queue is filled after the other, so a run shows what is wrong with each."""

    def wrong(text: str) -> str:
        queues = {
            leaf: ", ".join(f"{queue}: {MARKS[name, queue][0]}" for name, queue in MARKS if name == leaf)
            for leaf in ("leaf1", "leaf2")
        }
        of_leaves = "".join(f"  {leaf}: {{queues: {{{text}}}}}\n" for leaf, text in queues.items())
        third = text.replace("      3: {pool", "      2: {wred: {min: 30 KB, max: 30 KB}}\n      3: {pool").replace(
            "0: 30 KB,", "0: 30 KB, cs2: 30 KB,"
        )
        return third.replace("validation:\n", f"{of_leaves}validation:\n", 1)

    findings = found(vm, bench_of(tmp_path, STATIC, experiment=wrong), "marks")
    failed = {finding.where: finding.measured for finding in failures(findings, "marks")}
    assert set(failed) == {f"{leaf}:eth1 queue {queue}" for leaf, queue in MARKS}
    for (leaf, queue), (_, measured) in MARKS.items():
        assert re.fullmatch(measured, failed[f"{leaf}:eth1 queue {queue}"]), failed
    # What is right stays so.
    right = {finding.where for finding in findings if finding.verdict == "pass"}
    assert right == {"leaf1:eth1 queue 2", "leaf1:eth1 queue 3", "leaf2:eth1 queue 3"}


@pytest.mark.parametrize(
    ("settings", "dscp"),
    [({}, "cs2"), ({"maps.tc_to_group.3": "2"}, "cs3"), ({"priority_groups.3.headroom": "3 KB"}, "cs3")],
    ids=["lossy", "wrong-group", "headroom"],
)
def test_a_lossless_class_that_loses(vm: Vm, tmp_path: Path, settings: dict[str, str], dscp: str) -> None:
    of_switches = {f"switches.default.{key}": value for key, value in settings.items()}
    bench = bench_of(tmp_path, STATIC | of_switches, experiment=lambda text: text.replace("[cs3]", f"[{dscp}]"))
    failed = failures(found(vm, bench, "lossless"), "lossless")
    number = {"cs2": 16, "cs3": 24}[dscp]
    assert {finding.where for finding in failed} == {f"leaf1:eth1 DSCP {number}", f"leaf2:eth1 DSCP {number}"}
    assert all(re.match(r"[1-9]\d* packets? lost", finding.measured.replace(",", "")) for finding in failed)


SILENT = "validation:\n  failure: {action: blackhole}\n"


def test_a_black_hole_after_a_silent_failure(vm: Vm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without BFD a switch notices a silent link by its hold timer, 9 s; with it, soon. A link of each spine fails."""
    monkeypatch.setattr("fabriclab.validation.failures._MOST_LINKS", 2)

    def silent(text: str) -> str:
        return text.replace("validation:\n", SILENT)

    failed = failures(found(vm, bench_of(tmp_path, experiment=silent), "failures"), "failure")
    assert [finding.where for finding in failed] == [
        "spine1:eth1 - leaf1:eth4 (and 2 not tried)",
        "spine2:eth1 - leaf1:eth5",
    ]
    assert all(re.match(r"\d+ of 32; not h\d to h\d", finding.measured) for finding in failed)
    with_bfd = bench_of(tmp_path, {"routing.bfd": "50 ms"}, experiment=silent)
    assert {finding.verdict for finding in found(Vm(vm.artefacts, tmp_path / "bfd"), with_bfd, "failures")} == {"pass"}


def test_static_routes_know_of_no_failure_elsewhere(vm: Vm, tmp_path: Path) -> None:
    failed = failures(found(vm, bench_of(tmp_path, STATIC), "failures"), "failure")
    assert [finding.where for finding in failed] == [
        *(
            "spine1:eth1 - leaf1:eth4",
            "spine1:eth2 - leaf2:eth4",
            "spine2:eth1 - leaf1:eth5",
            "spine2:eth2 - leaf2:eth5",
        ),
    ]
