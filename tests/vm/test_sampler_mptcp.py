"""The sampler's rows of MPTCP subflows, from the real kernel."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from small_fabrics import link, plan_of, star
from vm import Job, Vm

from fabriclab.compile import compile_job, compiled_flows, trace_text
from fabriclab.formats.logs import TCP
from fabriclab.formats.plan.model import Plan
from fabriclab.results.csv_logs import scan_csv

pytestmark = pytest.mark.vm

TOPOLOGY = star(link("h1:eth1", "s1:eth1"), link("h2:eth1", "s1:eth2"))
EXPERIMENT = """
title: Subflows
links: {delay: 100 us}
switches: {default: {buffer: 256 KB}}
hosts: {default: {mptcp: {subflows: 3}}}
traffic:
  long: {kind: long, senders: [h1], receiver: h2, stop: 500 ms, transport: mptcp}
probes: {tcp: {interval: 1 ms}}
"""
MS = 1_000_000


def at(time_ns: int, name: str, *argv: str) -> Job:
    """Return a process of the job that runs a command in h1 at a time."""
    return {
        "name": name,
        "node": "h1",
        "argv": ["/tools/replay", "exec", "--at-ns", str(time_ns), "--log", f"/job/raw/{name}.log", "--", *argv],
    }


def sampled(vm: Vm, plan: Plan, *more: Job) -> pl.DataFrame:
    """Run the plan's traffic and more processes; returns the sampler's rows."""
    return sampled_processes(vm, plan, *compile_job(plan, compiled_flows(plan, vm.directory))["traffic"], *more)


def sampled_processes(vm: Vm, plan: Plan, *processes: Job) -> pl.DataFrame:
    """Run these processes in the plan's network; returns the sampler's rows."""
    assert vm.boot(plan, list(processes), sampled=True).status == "complete"
    return scan_csv(vm.directory / "run" / "raw" / "tcp.csv", TCP, "raw/tcp.csv").rows.collect()


def test_every_subflow_has_rows_from_its_first_sight_to_its_end(vm: Vm, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TOPOLOGY, EXPERIMENT)
    port = plan.node("h1").ports[0]
    rows = sampled(vm, plan)
    first = rows.unique("subflow", keep="first", maintain_order=True)
    assert first["subflow"].to_list() == [0, 1, 2]
    locals_ = [path.partition(":")[0] for path in first["path"]]
    assert locals_ == [str(port.address).partition("/")[0], *port.extra_addresses]
    remote = str(plan.node("h2").ports[0].address).partition("/")[0]
    assert all(path.partition("-")[2].startswith(f"{remote}:") for path in first["path"])

    gone = rows.filter(pl.col("state").is_null())
    assert gone["subflow"].to_list() == [0, 1, 2]
    assert gone.select(pl.exclude("time_ns", "node", "flow", "subflow")).null_count().row(0) == (3,) * (rows.width - 4)
    assert min(gone["time_ns"].to_list()) >= 500 * MS

    live = rows.filter(pl.col("state").is_not_null())
    assert live.group_by("subflow").agg(pl.col("path").n_unique())["path"].to_list() == [1, 1, 1]
    assert live["cwnd"].null_count() == 0
    acked = live.group_by("subflow").agg(pl.col("bytes_acked").max())["bytes_acked"]
    assert min(acked.to_list()) > 0
    # 0.5 s at 1 Gbps less headers: what the subflows carry is the connection, and a little sent twice.
    assert 0.9 * 59_000_000 < acked.sum() < 59_000_000


def test_a_subflow_that_comes_later_has_the_next_number(vm: Vm, tmp_path: Path) -> None:
    plan = plan_of(tmp_path, TOPOLOGY, EXPERIMENT)
    second = plan.node("h1").ports[0].extra_addresses[0]
    endpoint = ("dev", "eth1", "id", "2", "subflow")
    rows = sampled(
        vm,
        plan,
        at(200 * MS, "delete", "ip", "mptcp", "endpoint", "delete", "id", "2"),
        at(300 * MS, "add", "ip", "mptcp", "endpoint", "add", second, *endpoint),
    )
    gone = rows.filter(pl.col("state").is_null() & (pl.col("subflow") == 1))
    assert gone.height == 1
    # Its last data and the FIN wait in the sender's queue first.
    assert 200 * MS < gone["time_ns"][0] < 300 * MS
    assert rows.filter((pl.col("subflow") == 1) & (pl.col("time_ns") > gone["time_ns"][0])).is_empty(), (
        "its number is not given again"
    )
    new = rows.filter(pl.col("subflow") == 3)
    assert 300 * MS <= new["time_ns"][0] <= 301 * MS
    assert new["path"][0].partition(":")[0] == second


def test_plain_tcp_has_no_subflows(vm: Vm, tmp_path: Path) -> None:
    plain = "  plain: {kind: long, senders: [h1], receiver: h2, stop: 100 ms}\nprobes:"
    rows = sampled(vm, plan_of(tmp_path, TOPOLOGY, EXPERIMENT.replace("probes:", plain)))
    assert rows.filter(pl.col("flow") == 0)["subflow"].null_count() == 0
    assert set(rows.filter(pl.col("flow") == 1).select("subflow", "path").rows()) == {(None, None)}


def test_a_connection_that_fell_back_goes_on_as_plain_tcp(vm: Vm, tmp_path: Path) -> None:
    """The receiver reads a trace in which the flow is plain TCP, and listens so."""
    plan = plan_of(tmp_path, TOPOLOGY, EXPERIMENT)
    flows = compiled_flows(plan, tmp_path)
    traffic = vm.directory / "run" / "traffic"
    traffic.mkdir(parents=True)
    (traffic / "plain.csv").write_text(
        "".join(trace_text(flows.with_columns(pl.lit(None, flows["transport"].dtype).alias("transport"))))
    )
    sender, receiver = compile_job(plan, flows)["traffic"]
    receiver["argv"] = [word.replace("trace.csv", "plain.csv") for word in receiver["argv"]]
    rows = sampled_processes(vm, plan, sender, receiver).filter(pl.col("node") == "h1")
    carried = rows.filter(pl.col("bytes_acked") > 1_000_000)
    assert carried.height > 10
    assert set(carried.select("subflow", "path").rows()) == {(None, None)}
