"""A host's own queue out of a stock qdisc (`hosts.X.aqm`), and how one layer's queue management overrides another's."""

from __future__ import annotations

from pathlib import Path

import pytest
from probed_labs import EXPERIMENT, LONG, lab

from fabriclab.compile import compile_node
from fabriclab.formats.plan.node import Queue
from fabriclab.lab import LabError, parse_lab
from fabriclab.qdiscs.codel import Codel
from fabriclab.qdiscs.fq_codel import FqCodel
from fabriclab.qdiscs.pie import Pie
from fabriclab.resolve import resolve_plan

HOSTS = "hosts: {default: {queue: 1 MB, aqm: {kind: fq_codel, target: 1 ms}}, h2: {aqm: none}, h3: {aqm: {ecn: on}}}\n"


def test_a_host_has_the_queue_that_it_is_told(tmp_path: Path) -> None:
    plan = resolve_plan(parse_lab(lab(tmp_path, LONG, HOSTS)), {})
    queues = {host: nic.queue for host in ("h1", "h2", "h3") if (nic := plan.node(host).ports[0].nic)}
    assert queues == {
        "h1": Queue(limit_bytes=1_000_000, aqm=FqCodel(target_ns=1_000_000)),
        "h2": Queue(limit_bytes=1_000_000),
        "h3": Queue(limit_bytes=1_000_000, aqm=FqCodel(target_ns=1_000_000, ecn=True)),
    }
    assert "fq_codel limit 660 memory_limit 4000000 target 1000us" in compile_node(plan.node("h1"), plan).tc


def test_a_parameter_reaches_a_hosts_queue_management(tmp_path: Path) -> None:
    directory = lab(tmp_path, LONG, HOSTS + "parameters: {target: hosts.default.aqm.target, marks: hosts.h3.aqm.ecn}\n")
    plan = resolve_plan(parse_lab(directory), {"target": "2000 us", "marks": "off"})
    nic = plan.node("h3").ports[0].nic
    assert nic is not None and nic.queue.aqm == FqCodel(target_ns=2_000_000)


def test_another_kind_takes_of_a_default_what_it_has_itself(tmp_path: Path) -> None:
    of_switches = "switches: {default: {buffer: 64 KB, aqm: {kind: codel, interval: 20 ms}}, s2: {aqm: {kind: pie}}}\n"
    directory = lab(tmp_path, LONG)
    (directory / "experiment.yml").write_text(f"title: Probes\n{of_switches}traffic:\n  {LONG}\n")
    plan = resolve_plan(parse_lab(directory), {})
    aqms = {port.queue.aqm for switch in ("s1", "s2") for port in plan.node(switch).ports if port.queue is not None}
    assert aqms == {Codel(interval_ns=20_000_000), Pie(interval_ns=20_000_000)}


def test_keys_of_a_queue_without_a_kind_are_refused(tmp_path: Path) -> None:
    directory = lab(tmp_path, LONG)
    (directory / "experiment.yml").write_text(
        EXPERIMENT + f"hosts: {{h1: {{aqm: {{target: 1 ms}}}}}}\ntraffic:\n  {LONG}\n"
    )
    with pytest.raises(LabError, match=r"hosts.h1.aqm.target: has no kind of queue management; write kind"):
        parse_lab(directory)
