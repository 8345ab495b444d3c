"""A SONiC T0 with a VLAN of servers and port channels to its T1s, imported and run: sessions, both ways,
pauses to the right servers."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from vm import Vm

from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.lab import import_lab
from fabriclab.vendors.sonic.read import parse_config_db

pytestmark = pytest.mark.vm
CONFIG = Path(__file__).parents[1] / "golden" / "sonic" / "t0.json"
LOSSLESS = 3
TRAFFIC = f"""
limit: 30 s
traffic:
  within: {{kind: long, senders: [Servers0, Servers1], receiver: Servers3, dscp: {LOSSLESS}, stop: 10 ms}}
  north: {{kind: long, senders: [Servers2], receiver: ARISTA01T1-host, stop: 10 ms}}
  south: {{kind: long, senders: [ARISTA02T1-host], receiver: Servers2, stop: 10 ms}}
probes: {{switches: {{interval: 1 ms}}}}
"""
LINE_BYTES = 10**10 // 8 // 100
"""What a link carries in 10 ms."""


def t0_plan(directory: Path) -> Plan:
    """Return the plan of the imported file, its lossless groups with less memory, so that 10 ms fill it."""
    tables = json.loads(CONFIG.read_text())
    tables["BUFFER_PROFILE"]["pg_lossless_100000_5m_profile"]["dynamic_th"] = "-8"
    lab = import_lab(parse_config_db(json.dumps(tables, indent=1).encode(), "config_db.json"))
    directory.mkdir()
    for file, text in lab.files.items():
        (directory / file).write_text(text, encoding="utf-8")
    experiment = lab.files["experiment.yml"].partition("traffic:")[0]
    (directory / "experiment.yml").write_text(experiment + TRAFFIC, encoding="utf-8")
    return resolve_plan(parse_lab(directory), {})


def last_of(run: Path, table: str, *keys: str) -> pl.DataFrame:
    """Return the last sample of each port, queue or group."""
    return pl.read_parquet(run / f"{table}.parquet").sort("time_ns").group_by(*keys, maintain_order=True).last()


def test_hosts_reach_each_other_and_the_right_servers_are_paused(vm: Vm) -> None:
    plan = t0_plan(vm.directory / "lab")
    assert vm.run(plan, "run").status == "complete"
    flows = pl.read_parquet(vm.directory / "run" / "flows.parquet")
    carried = {(row["src"], row["dst"]): row["bytes"] for row in flows.to_dicts()}
    both = carried["Servers0", "Servers3"] + carried["Servers1", "Servers3"]
    for sent in (both, carried["Servers2", "ARISTA01T1-host"], carried["ARISTA02T1-host", "Servers2"]):
        assert 0.9 * LINE_BYTES < sent < LINE_BYTES
    groups = last_of(vm.directory / "run", "priority_groups", "port", "group").filter(pl.col("group") == LOSSLESS)
    paused = groups.filter(pl.col("xoffs") > 0)["port"].to_list()
    assert sorted(paused) == ["t0-1:Ethernet0", "t0-1:Ethernet4"]
    assert groups["discards"].sum() == 0
    assert flows.filter(pl.col("dst") == "Servers3")["retransmits"].sum() == 0
