"""Runs of an imported SONiC leaf: its five hosts at 1 Gbps, one of them sent to by others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from sonic_traps import text_of
from vm import Vm

from fabriclab.formats.plan.model import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.lab import import_lab
from fabriclab.vendors.sonic.read import parse_config_db

RECEIVER = "h-Ethernet16"
RECEIVING = "leaf1:Ethernet16"
"""The switch's port to it."""
_PROBES = "probes: {switches: {interval: 100 us}}\n"


def flow(
    dscp: int | str,
    *,
    senders: str = "[h-Ethernet0, h-Ethernet4, h-Ethernet8, h-Ethernet12]",
    receiver: str = RECEIVER,
    more: str = "",
) -> str:
    """Return long flows for 60 ms."""
    return f"{{kind: long, senders: {senders}, receiver: {receiver}, dscp: {dscp}, stop: 60 ms{more}}}"


def plan_of(
    tables: dict[str, Any], directory: Path, traffic: dict[str, str], more: str = "", probes: str = _PROBES
) -> Plan:
    """Return the plan of the lab that `fabriclab sonic import` makes, with other traffic and probes."""
    lab = import_lab(parse_config_db(text_of(tables).encode(), "config_db.json"))
    directory.mkdir()
    for file, text in lab.files.items():
        (directory / file).write_text(text, encoding="utf-8")
    experiment = lab.files["experiment.yml"].partition("traffic:")[0]
    flows = "".join(f"  {name}: {one}\n" for name, one in traffic.items())
    (directory / "experiment.yml").write_text(
        f"{experiment}limit: 5 s\ntraffic:\n{flows}{probes}{more}", encoding="utf-8"
    )
    return resolve_plan(parse_lab(directory), {})


def run(vm: Vm, tables: dict[str, Any], name: str, traffic: dict[str, str], more: str = "") -> dict[str, Any]:
    """Run a configuration and return what was measured."""
    assert vm.run(plan_of(tables, vm.directory / f"{name}-lab", traffic, more), name).status == "complete"
    return vm.summary(name)


def queues(vm: Vm, name: str, port: str = RECEIVING) -> dict[int, dict[str, int]]:
    """Return the last row of each queue of a port: what was sent, dropped, marked in all, and its longest."""
    table = (
        pl.read_parquet(vm.directory / name / "switch_queues.parquet").filter(pl.col("port") == port).sort("time_ns")
    )
    return {int(row["queue"]): row for row in table.group_by("queue", maintain_order=True).last().to_dicts()}
