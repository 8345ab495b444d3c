"""The audit of every frame, broken on purpose at five places: each run fails, and says where frames are missing."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from cores_lab import STOCK, plan_of, write_lab
from sample_plans import CUBIC, star
from vm import Vm, ignore

import fabriclab
from fabriclab.compile.cut import one_part
from fabriclab.compile.node import NodeCompiler, NodeFiles
from fabriclab.compile.shared_limits import SHARED_LIMITS
from fabriclab.formats.plan.algorithm import OwnAlgorithm, sha256_of
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Queue
from fabriclab.formats.plan.traffic import LongTraffic
from fabriclab.qdiscs import Own
from fabriclab.results import ingest_run
from fabriclab.runs import RunContext, RunResult, directory, run_point
from fabriclab.runs.audit import audit_run
from fabriclab.runs.parts import cut_for

pytestmark = [pytest.mark.vm, pytest.mark.covered]

LONG = LongTraffic(name="long", senders=("h1", "h2"), receiver="h3", start_ns=0, stop_ns=50_000_000, stagger_ns=0)
QDISC = (Path(fabriclab.__file__).parent / "starters" / "qdisc" / "mine.c").read_text()
DROP = "return qdisc_drop(skb, sch, to_free);"


def lab() -> Plan:
    return star(3, traffic=(LONG,), limit_ns=200_000_000)


def with_qdisc(source: str) -> Plan:
    algorithm = OwnAlgorithm(kind="qdisc", name="mine", file="mine.c", sha256=sha256_of(source), source=source)
    queue = Queue(limit_bytes=64_000, aqm=Own(id="mine"))
    return star(3, traffic=(LONG,), transport=CUBIC, queue=queue).model_copy(update={"algorithms": (algorithm,)})


def add_to_files(monkeypatch: pytest.MonkeyPatch, name: str, lines: str) -> None:
    """Let a node's ip.batch go on with lines that no plan asks for."""

    class Adding(NodeCompiler):
        def files_of(self, node: Node) -> NodeFiles:
            files = super().files_of(node)
            return files._replace(ip=files.ip + lines) if node.name == name else files

    monkeypatch.setattr(directory, "NodeCompiler", Adding)


def run_cut(vm: Vm, plan: Plan, lab_directory: Path) -> RunResult:
    """Run a plan in two machines."""
    context = RunContext(lab_directory, vm.artefacts, ("test",), ingest_run, cut=cut_for(plan, 2, lab_directory))
    return run_point(plan, vm.directory / "run", context, ignore)


def audited(vm: Vm) -> dict[str, Any]:
    """Return what the manifest says of the audit."""
    found: dict[str, Any] = json.loads((vm.directory / "run" / "manifest.json").read_text())["audit"]
    return found


def dropped_frames(vm: Vm, place: str, reason: str) -> int:
    """Return what the manifest says that a place lost for a reason."""
    frames: int = audited(vm)["lost"][place][reason]
    return frames


def test_a_run_that_drops_in_its_queue_balances(vm: Vm) -> None:
    result = vm.run(with_qdisc(QDISC))
    assert (result.status, result.message) == ("complete", "")
    assert audited(vm)["balanced"] is True
    with (vm.directory / "run" / "collect" / "audit.csv").open() as file:
        rows = [row for row in csv.reader(file) if row[:4] == ["end", "s1", "eth3", "queue_dropped"]]
    assert sum(audited(vm)["lost"]["s1:eth3"].values()) == int(rows[0][4]) > 0


def test_the_backlog_of_the_kernel(vm: Vm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cables pass it by; what a node sends to itself goes through it."""
    monkeypatch.setitem(SHARED_LIMITS, "net.core.netdev_max_backlog", "0")
    # netem hands over at one instant what was sent at one instant.
    itself = "tc qdisc add dev lo root netem delay 1ms; ping -l 5 -c 5 -W 0.2 127.0.0.1; true"
    outcome = vm.boot(lab(), [{"name": "h1", "node": "h1", "argv": ["/bin/sh", "-c", itself]}])
    assert outcome.status == "complete"
    found = audit_run(lab(), vm.directory / "run", one_part(lab()))
    assert any("CPU_BACKLOG" in sentence and "lost" in sentence for sentence in found.missing), found


def test_a_queue_that_loses_frames_of_which_nobody_tells(vm: Vm) -> None:
    result = vm.run(with_qdisc(QDISC.replace(DROP, "{\n\t\tkfree_skb(skb);\n\t\treturn NET_XMIT_SUCCESS;\n\t}")))
    assert result.status == "failed"
    frames = dropped_frames(vm, "s1:eth3", "NOT_SPECIFIED")
    assert frames > 0
    assert f"s1:eth3 lost {frames} frames that nobody counted" in result.message


def test_a_queue_that_does_not_count_what_it_drops(vm: Vm) -> None:
    lines = "{\n\t\t__qdisc_drop(skb, to_free);\n\t\treturn NET_XMIT_SUCCESS;\n\t}"
    result = vm.run(with_qdisc(QDISC.replace(DROP, lines)))
    assert result.status == "failed"
    frames = sum(audited(vm)["lost"]["s1:eth3"].values())
    assert frames > 0
    assert (
        f"s1:eth3: the kernel freed {frames} frames as dropped by the queue, and the queue counted 0" in result.message
    )


def test_a_link_whose_other_end_takes_no_frames_of_that_length(vm: Vm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux drops them in the sender's driver, of which the plan knows nothing."""
    add_to_files(monkeypatch, "s1", "link set dev eth2 mtu 1000\n")
    result = vm.run(lab())
    assert result.status == "failed"
    assert "s1:eth2: the link's device dropped" in result.message


def test_a_cable_between_machines(vm: Vm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab_directory = write_lab(tmp_path / "lab", STOCK)
    add_to_files(monkeypatch, "leaf2", "link set dev eth1 mtu 1000\n")
    result = run_cut(vm, plan_of(lab_directory).model_copy(update={"limit_ns": 30_000_000}), lab_directory)
    assert result.status == "failed"
    assert "leaf2:eth1: the link's device dropped" in result.message


def test_two_machines_balance(vm: Vm, tmp_path: Path) -> None:
    lab_directory = write_lab(tmp_path / "lab", STOCK)
    result = run_cut(vm, plan_of(lab_directory), lab_directory)
    assert (result.status, result.message) == ("complete", "")
    assert audited(vm)["balanced"] is True
