"""A lab that brings a program, in whatever way, has a machine whose mode locks programs in."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from sample_plans import star
from sample_traffic import KINDS

from fabriclab.compile import brings_programs
from fabriclab.compile.brought_programs import REPLAYED
from fabriclab.formats.plan.model import Event, Plan
from fabriclab.formats.plan.setup import HealthCheck, NodeFile, Setup, SetupCommand, SetupDaemon
from fabriclab.formats.plan.traffic import KINDS as EVERY_KIND
from fabriclab.formats.plan.traffic import HadoopTraffic, Traffic
from fabriclab.hadoop.lab.archives import archives, versions
from fabriclab.lab import parse_lab
from fabriclab.lab.setup.frr import DAEMONS_FILE, INTEGRATED_FILE, frr_daemons
from fabriclab.resolve import resolve_plan
from fabriclab.shipped import shipped

QUIET = KINDS["long"]
DAEMONS = NodeFile(path=DAEMONS_FILE, text="bgpd=yes\n", source="daemons")
CONFIGURATION = NodeFile(path=INTEGRATED_FILE, text="router bgp 65001\n", source="frr.conf")
FRR = Setup(files=(DAEMONS, CONFIGURATION), daemons=frr_daemons((DAEMONS, CONFIGURATION)))


def with_setup(setup: Setup) -> Plan:
    quiet = star(3, traffic=(QUIET,))
    (node, *rest) = quiet.nodes
    return quiet.model_copy(update={"nodes": (node.model_copy(update={"setup": setup}), *rest)})


def test_frr_with_its_own_configuration_brings_nothing() -> None:
    assert not brings_programs(star(3, traffic=(QUIET,)))
    assert not brings_programs(with_setup(Setup())) and not brings_programs(with_setup(FRR))
    harmless = replace(FRR, sysctls={"net.ipv4.ip_forward": "1"}, is_bridge=True, after=("h2",), order=3)
    assert not brings_programs(with_setup(harmless))


def a_file(path: str, **more: Any) -> Setup:
    return replace(FRR, files=(*FRR.files, NodeFile(path=path, text="#!/bin/sh\n", **more)))


def a_daemon(*argv: str) -> Setup:
    return replace(FRR, daemons=(*FRR.daemons, SetupDaemon(name="own", argv=argv)))


COMMAND = SetupCommand(name="exec-1", argv=("true",), by="containerlab", key="exec[0]")
BROUGHT: dict[str, dict[str, Setup]] = {
    "files": {
        "over a daemon of FRR's": a_file("/usr/lib/frr/zebra", executable=True),
        "over a program of Debian's": a_file("/usr/bin/iperf3"),
        "over a library": a_file("/usr/lib/x86_64-linux-gnu/libc.so.6"),
        "what the loader reads": a_file("/etc/ld.so.preload"),
        "what Python reads": a_file("/usr/lib/python3/dist-packages/sitecustomize.py"),
        "what a shell reads": a_file("/etc/profile"),
        "a configuration that can be run": a_file("/etc/frr/bgpd.conf", executable=True),
        "another file of FRR's": a_file("/etc/frr/hook.sh"),
        "a path that leads elsewhere": a_file("/etc/frr/../../usr/bin/vtysh"),
        "copied, not bound": a_file("/usr/bin/vtysh", bound=False),
    },
    "environment": {"a library for all": replace(FRR, environment={"LD_PRELOAD": "/etc/frr/frr.conf"})},
    "sysctls": {
        "what a crash runs": replace(FRR, sysctls={"kernel.core_pattern": "|/bin/sh"}),
        "what a module's absence runs": replace(FRR, sysctls={"kernel.modprobe": "/bin/sh"}),
    },
    "daemons": {
        "a shell": a_daemon("/bin/sh", "-c", "id"),
        "one of FRR's that its file does not start": a_daemon("/usr/lib/frr/ospfd"),
        "one of FRR's with other words": replace(
            FRR, daemons=tuple(replace(one, argv=(*one.argv, "-M", "/etc/frr/x")) for one in FRR.daemons)
        ),
        "without their file": replace(FRR, files=()),
    },
    "main": {"a program": replace(FRR, main=("/bin/sh",))},
    "commands": {"a command": replace(FRR, commands=(COMMAND,))},
    "health": {
        "a health check": replace(
            FRR, health=HealthCheck(argv=("true",), start_ns=0, interval_ns=1, limit_ns=1, tries=1)
        )
    },
}
HARMLESS = {"is_bridge", "after", "order"}
"""What of a setup names neither a program nor a file."""


@pytest.mark.parametrize(("field", "way"), [(field, way) for field, ways in BROUGHT.items() for way in ways])
def test_what_a_node_s_own_files_bring_counts(field: str, way: str) -> None:
    assert brings_programs(with_setup(BROUGHT[field][way]))


def test_every_field_of_a_setup_is_tried() -> None:
    assert {field.name for field in fields(Setup)} == HARMLESS | set(BROUGHT)


def test_what_an_event_brings_counts() -> None:
    quiet = star(3, traffic=(QUIET,))
    changed = with_setup(BROUGHT["main"]["a program"]).nodes
    event = Event(name="later", at_ns=1, links=(), action="set", nodes=changed)
    assert brings_programs(quiet.model_copy(update={"events": (event,)}))


def test_every_kind_of_traffic_is_known_or_locked_in() -> None:
    """A new kind runs in the mode that locks in until somebody says that it brings nothing."""
    assert {kind for kind in EVERY_KIND if kind not in REPLAYED} == {"program", "hadoop"}
    for traffic in KINDS.values():
        assert brings_programs(star(7, traffic=(traffic,))) == (traffic.kind not in REPLAYED), traffic.kind


CLUSTER = KINDS["hadoop"]
assert isinstance(CLUSTER, HadoopTraffic)
VERSION = versions()[-1]
SORT = replace(
    CLUSTER.jobs[0],
    prepare=("org.apache.hadoop.examples.terasort.TeraGen", "-Dmapreduce.framework.name=local", "100", "/sort/in"),
    run=("org.apache.hadoop.examples.terasort.TeraSort", "-Dmapreduce.job.reduces=2", "/sort/in", "/sort/out"),
    prove=("org.apache.hadoop.examples.terasort.TeraValidate", "/sort/out", "/sort/report"),
)
PLAIN = replace(
    CLUSTER, version=VERSION, jars=archives(VERSION), jobs=(SORT,), settings=(("dfs.blocksize", "1048576"),)
)
OWN_CLUSTERS: dict[str, Traffic] = {
    "an archive of its own": replace(PLAIN, jars=(*PLAIN.jars, f"org.example:tool:1.0={'0' * 64}")),
    "an archive of another hash": replace(PLAIN, jars=(PLAIN.jars[0].partition("=")[0] + "=" + "0" * 64,)),
    "an unknown version": replace(PLAIN, version="../../traffic/hadoop/3.4.2"),
    "a job of its own": replace(PLAIN, jobs=(*PLAIN.jobs, CLUSTER.jobs[1])),
    "another main class": replace(PLAIN, jobs=(replace(SORT, run=("org.apache.hadoop.streaming.HadoopStreaming",)),)),
    "an option of Java's": replace(PLAIN, jobs=(replace(SORT, prepare=("-XX:OnError=sh",)),)),
    "a command among the arguments": replace(
        PLAIN, jobs=(replace(SORT, run=(*SORT.run, "-Dmapreduce.map.java.opts=-XX:OnError=sh")),)
    ),
    "an archive among the arguments": replace(PLAIN, jobs=(replace(SORT, prove=(*SORT.prove, "-libjars", "/job/a")),)),
    "a command among the properties": replace(PLAIN, settings=(("mapreduce.map.java.opts", "-XX:OnError=sh"),)),
    "a class among the properties": replace(PLAIN, settings=(("mapreduce.job.map.class", "org.example.Own"),)),
}


@pytest.mark.parametrize("way", OWN_CLUSTERS)
def test_what_a_cluster_brings_counts(way: str) -> None:
    assert not brings_programs(star(7, traffic=(PLAIN,)))
    assert brings_programs(star(7, traffic=(OWN_CLUSTERS[way],)))


@pytest.mark.parametrize("lab", ["hadoop", "incast", "link-failure", "applications", "spark"])
def test_of_the_labs_those_with_programs_are_locked_in(lab: str) -> None:
    plan = resolve_plan(parse_lab(Path(shipped("labs")) / lab, every_point=False), {})
    assert brings_programs(plan) == (lab in ("applications", "spark"))
