"""A user's own algorithm in the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_algorithms import AVOID_LINE, control
from sample_modules import AVOID, FILES
from sample_plans import CUBIC, star
from vm import Vm, ignore

import fabriclab
from fabriclab.engine import own_faults
from fabriclab.formats.plan.algorithm import OwnAlgorithm, SourceFile, sha256_of, text_of_files
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Queue
from fabriclab.formats.plan.traffic import LongTraffic
from fabriclab.qdiscs import Own, Qdisc
from fabriclab.results import ingest_run
from fabriclab.runs import RunContext, run_point

pytestmark = [pytest.mark.vm, pytest.mark.covered]

STOP_NS = 300_000_000
LONG = LongTraffic(name="long", senders=("h1", "h2"), receiver="h3", start_ns=0, stop_ns=STOP_NS, stagger_ns=0)


def plan(congestion_control: str, *sources: str) -> Plan:
    transport = CUBIC.model_copy(update={"congestion_control": congestion_control})
    algorithms = tuple(
        OwnAlgorithm(kind="congestion_control", name="mine", file="mine.c", sha256=sha256_of(source), source=source)
        for source in sources
    )
    base = star(3, traffic=(LONG,), transport=transport, queue=Queue(limit_bytes=64_000))
    return base.model_copy(update={"algorithms": algorithms})


def flows(vm: Vm) -> bytes:
    return vm.tcp().write_csv().encode().replace(b"mine", b"reno")


def test_reno_under_another_name_is_reno(vm: Vm) -> None:
    """To the nanosecond: a module costs no time, and what it calls is Linux's own code."""
    assert vm.run(plan("mine", control())).status == "complete"
    mine = flows(vm)
    assert vm.run(plan("reno")).status == "complete"
    assert flows(vm) == mine
    assert vm.run(plan("mine", control("if (tcp_in_slow_start(tcp_sk(sk)))", "\ttcp_slow_start(tcp_sk(sk), acked);")))
    assert flows(vm) != mine


def two_files(**texts: str) -> Plan:
    files = tuple(SourceFile(name=name, text=texts.get(Path(name).stem, text)) for name, text in FILES.items())
    sha256 = sha256_of(text_of_files(files))
    own = OwnAlgorithm(kind="congestion_control", name="mine", file="mine", sha256=sha256, files=files)
    return plan("mine").model_copy(update={"algorithms": (own,)})


def test_reno_in_two_files_is_reno(vm: Vm) -> None:
    """To the nanosecond, though its code turns interrupts off and on."""
    assert vm.run(two_files()).status == "complete"
    mine = flows(vm)
    assert vm.run(plan("reno")).status == "complete"
    assert flows(vm) == mine


def test_a_crash_names_the_file_of_a_directory(vm: Vm) -> None:
    result = vm.run(two_files(avoid=AVOID.replace("counted += acked;", "*(volatile int *)8 = 1;")))
    line = AVOID[: AVOID.index("counted += acked;")].count("\n") + 1
    assert result.status == "crashed"
    assert result.message.startswith(f"mine: mine_avoid() at line {line} of avoid.c crashed the virtual machine's")


QDISC = (Path(fabriclab.__file__).parent / "starters" / "qdisc" / "mine.c").read_text()
LIMIT_BYTES = 64_000


def with_queue(aqm: Qdisc | None, *algorithms: OwnAlgorithm) -> Plan:
    base = star(3, traffic=(LONG,), transport=CUBIC, queue=Queue(limit_bytes=LIMIT_BYTES, aqm=aqm))
    return base.model_copy(update={"algorithms": algorithms})


def test_drop_tail_of_ones_own_is_drop_tail(vm: Vm) -> None:
    algorithm = OwnAlgorithm(kind="qdisc", name="mine", file="mine.c", sha256=sha256_of(QDISC), source=QDISC)
    own = Own(id="mine", options=f"threshold {LIMIT_BYTES}")
    assert vm.run(with_queue(own, algorithm)).status == "complete"
    mine = flows(vm)
    assert vm.run(with_queue(None)).status == "complete"
    assert flows(vm) == mine
    ecn = CUBIC.model_copy(update={"ecn": "on"})
    marking = star(3, traffic=(LONG,), transport=ecn, queue=Queue(limit_bytes=LIMIT_BYTES, aqm=Own(id="mine")))
    assert vm.run(marking.model_copy(update={"algorithms": (algorithm,)})).status == "complete"
    assert vm.summary()["queue_marks"] > 0
    wrong = with_queue(Own(id="mine", options="treshold 30KB"), algorithm)
    result = vm.run(wrong, "wrong")
    assert result.status == "failed" and "unknown option: treshold" in result.message


def test_a_crash_names_the_users_function_and_line(vm: Vm) -> None:
    result = vm.run(plan("mine", control("*(volatile int *)8 = 1;")))
    assert result.status == "crashed"
    said = f"mine.c: mine_cong_avoid() at line {AVOID_LINE} crashed the virtual machine's kernel; the last lines of its"
    assert result.message.startswith(said) and "Kernel panic - not syncing: Segfault with no mm" in result.message
    result = vm.run(plan("mine", control("BUG();")), "bug")
    assert f"BUG: failure at mine.c:{AVOID_LINE}/mine_cong_avoid()!" in result.message


@pytest.mark.parametrize("waits", ["barrier();", "cpu_relax();"])
def test_a_loop_without_an_end_is_ended(vm: Vm, monkeypatch: pytest.MonkeyPatch, waits: str) -> None:
    """With cpu_relax() virtual time goes on in the loop, but nobody else ever runs."""
    monkeypatch.setattr(own_faults, "COMPUTING_S", 0.5)
    monkeypatch.setattr(own_faults, "OVERDUE_NS", 10_000_000)
    result = vm.run(plan("mine", control("for (;;)", f"\t{waits}")))
    assert result.status == "crashed"
    assert result.message.startswith("mine.c: mine_cong_avoid() at line ")
    assert "does not end: the virtual machine computed for" in result.message


def test_a_run_that_hangs_with_own_algorithms_is_asked_where(vm: Vm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_faults, "COMPUTING_S", 1000.0)
    context = RunContext(vm.directory, vm.artefacts, ("test",), ingest_run, stall_s=2)
    result = run_point(plan("mine", control("for (;;)", "\tbarrier();")), vm.directory / "run", context, ignore)
    assert "does not end: the virtual machine hangs: there was no progress for 2 s of wall time" in result.message


def test_no_other_run_of_a_sweep_is_harmed(vm: Vm) -> None:
    made = fabriclab.new(vm.directory / "mine", template="congestion-control")
    source = made.directory / "mine.c"
    source.write_text(source.read_text().replace("\tif (!tcp_is", "\t*(volatile int *)8 = 1;\n\tif (!tcp_is"))
    (made.directory / "other.c").write_text(control("wrong;", name="other"))
    experiment = made.directory / "experiment.yml"
    text = experiment.read_text().replace("[./mine.c, reno, cubic, dctcp]", "[./mine.c, ./other.c, reno]")
    experiment.write_text(text)
    swept = fabriclab.sweep(made.directory, set={"traffic.long.stop": "50 ms"}, out=vm.directory / "sweep")
    assert list(swept.statuses) == ["crashed", "failed", "complete"]
