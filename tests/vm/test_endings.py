"""However a run ends, it says how, keeps what it measured, and leaves nothing behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import wait_until
from processes import live_processes
from sample_plans import DCTCP, star
from vm import Vm

from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.events import Event
from fabriclab.engine.interrupt import Interrupt
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Queue
from fabriclab.formats.plan.traffic import LongTraffic

pytestmark = pytest.mark.vm


def endless(stop_ns: int = 60 * 10**9, **changes: Any) -> Plan:
    """Two flows that last longer than anyone waits."""
    traffic = LongTraffic(name="long", senders=("h1", "h2"), receiver="h3", start_ns=0, stop_ns=stop_ns, stagger_ns=0)
    queue = Queue(limit_bytes=100_000, ecn_threshold_bytes=30_000)
    return star(3, transport=DCTCP, queue=queue, traffic=(traffic,), limit_ns=2 * stop_ns, **changes)


def manifest_of(vm: Vm) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((vm.directory / "run" / "manifest.json").read_text())
    return manifest


def check_nothing_is_left(vm: Vm) -> None:
    # A killed process needs a moment to go.
    wait_until(lambda: live_processes(str(vm.directory)) == [])
    assert not (vm.directory / "run" / "tmp").exists()


def test_a_killed_machine_is_a_crash_and_what_was_logged_is_kept(vm: Vm) -> None:
    def kill(event: Event) -> None:
        if event.name == "progress" and event.t_ns > 300_000_000:
            for process in live_processes(f"fabriclab-machine {vm.directory}"):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    result = vm.run(endless(), on_event=kill)
    assert result.status == "crashed"
    assert "signal 9" in result.message
    assert manifest_of(vm)["status"] == "crashed"
    assert vm.summary()["flows_incomplete"] == 2
    check_nothing_is_left(vm)


def test_an_interrupt_keeps_what_was_measured(vm: Vm) -> None:
    interrupt = Interrupt()

    def stop(event: Event) -> None:
        if event.name == "progress" and not interrupt.requested:
            interrupt.request()

    result = vm.run(endless(), on_event=stop, interrupt=interrupt)
    assert (result.status, manifest_of(vm)["status"]) == ("interrupted", "interrupted")
    assert [flow["status"] for flow in vm.flows()] == ["stopped", "stopped"]
    assert sum(flow["bytes"] for flow in vm.flows()) > 10_000_000
    assert vm.summary()["queue_mean_bytes"] > 0
    check_nothing_is_left(vm)


def test_the_limit_of_virtual_time_ends_a_run(vm: Vm) -> None:
    result = vm.run(endless().model_copy(update={"limit_ns": 50_000_000}))
    assert result.status == "limit"
    assert result.virtual_ns == pytest.approx(50_000_000, rel=0.1)
    assert sum(flow["bytes"] for flow in vm.flows()) > 1_000_000


def test_a_kernel_panic_is_told_with_the_kernels_words(vm: Vm, artefacts: Artefacts) -> None:
    tools = vm.directory / "tools"
    shutil.copytree(artefacts.tools, tools)
    (tools / "init").unlink()
    broken = Vm(Artefacts(artefacts.kernel, artefacts.rootfs, tools), vm.directory)
    result = broken.run(endless())
    assert result.status == "crashed"
    assert "Kernel panic" in result.message
    check_nothing_is_left(vm)


def test_a_process_that_never_sleeps_is_noticed_and_killed(vm: Vm) -> None:
    spin = {"name": "spin@h1", "node": "h1", "argv": ["bash", "-c", "while :; do :; done"]}
    outcome = vm.boot(endless(), [spin], stall_s=3)
    assert outcome.status == "crashed"
    assert "no progress for 3 s" in outcome.message
    check_nothing_is_left(vm)


def test_a_wrong_node_file_is_named(vm: Vm, monkeypatch: pytest.MonkeyPatch) -> None:
    """What no plan may say, should it come to the machine all the same."""
    monkeypatch.setattr("fabriclab.runs.directory.check_plan", lambda _: None)
    plan = endless()
    port = plan.nodes[0].ports[0].model_copy(update={"address": "10.0.1.300/31"})
    broken = plan.nodes[0].model_copy(update={"ports": (port,)})
    result = vm.run(plan.model_copy(update={"nodes": (broken, *plan.nodes[1:])}))
    assert result.status == "failed"
    assert "nodes/h1/ip.batch:1" in result.message
    assert "10.0.1.300/31" in result.message


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with hardly any room."""
    place = tmp_path / "small"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True).returncode != 0:
        pytest.skip("a file system can't be mounted here: run the tests as root, in no container")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_full_disk_is_told(artefacts: Artefacts, small_disk: Path) -> None:
    plan = endless(stop_ns=3 * 10**9)
    probes = plan.probes.model_copy(update={"queue_interval_ns": 10_000})
    result = Vm(artefacts, small_disk).run(plan.model_copy(update={"probes": probes}))
    assert result.status == "failed"
    assert "the disk is full; measurements until then are kept" in result.message
    manifest = json.loads((small_disk / "run" / "manifest.json").read_text())
    assert manifest["status"] in ("failed", "interrupted")
    wait_until(lambda: live_processes(str(small_disk)) == [])
