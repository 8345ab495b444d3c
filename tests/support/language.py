"""A small lab for tests of the language: two racks of four hosts, and an experiment that each test completes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from fabriclab.formats.plan import Plan
from fabriclab.lab import Lab, parse_lab
from fabriclab.resolve import resolve_plan

HOSTS = tuple(f"h{number}" for number in range(1, 9))
SWITCHES = "switches: {default: {buffer: 64 KB}}"
EXPERIMENT = f"title: T\n{SWITCHES}\n"
ONE_FLOW = "traffic: {one: {kind: flows, senders: [h1], receiver: h8, size: 1 KB}}\n"


def two_racks() -> str:
    """Return h1 to h4 behind leaf1, h5 to h8 behind leaf2, 1 Gbps each, 10 Gbps between the leaves."""
    switches = "".join(
        f"    {leaf}: {{kind: linux, labels: {{fabriclab.role: switch}}}}\n" for leaf in ("leaf1", "leaf2")
    )
    hosts = "".join(f"    {host}: {{kind: linux}}\n" for host in HOSTS)
    links = "".join(
        f"    - {{endpoints: ['{host}:eth1', 'leaf{1 + number // 4}:eth{1 + number % 4}'], vars: {{rate: 1 Gbps}}}}\n"
        for number, host in enumerate(HOSTS)
    )
    core = "    - {endpoints: ['leaf1:eth9', 'leaf2:eth9'], vars: {rate: 10 Gbps}}\n"
    return f"name: racks\ntopology:\n  nodes:\n{switches}{hosts}  links:\n{links}{core}"


def lab_of(directory: Path, text: str = ONE_FLOW, switches: str = SWITCHES) -> Lab:
    """Return the lab whose experiment goes on with `text`."""
    directory.mkdir(exist_ok=True)
    (directory / "topology.clab.yml").write_text(two_racks(), encoding="utf-8")
    (directory / "experiment.yml").write_text(f"title: T\n{switches}\n{text}", encoding="utf-8")
    return parse_lab(directory)


def plan_of(
    directory: Path, text: str = ONE_FLOW, seed: int | None = None, settings: Mapping[str, str] | None = None
) -> Plan:
    """Return the plan of the lab whose experiment goes on with `text`."""
    return resolve_plan(lab_of(directory, text), settings or {}, seed)


def traffic_of(directory: Path, keys: str, settings: Mapping[str, str] | None = None) -> dict[str, object]:
    """Return the plan's traffic `one` of these keys, as plain data."""
    (traffic,) = plan_of(directory, f"traffic: {{one: {{{keys}}}}}\n", settings=settings).traffic
    return asdict(traffic)
