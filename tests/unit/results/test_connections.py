"""`probes: {connections: ...}`: as it is read, planned, told to the sampler, and what becomes of its rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sample_plans import star
from shipped_labs import shipped_lab
from synthetic_hadoop_run import CONNECTIONS_HEADER, LAB, hadoop_run
from synthetic_run import program_run
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.compile import compile_job, compile_sampler, compiled_flows
from fabriclab.formats.logs import CONNECTIONS
from fabriclab.formats.plan import parse_plan_json, plan_json
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.hadoop.ports import ports_of
from fabriclab.hadoop.results.shuffles import add_shuffle_losses
from fabriclab.lab import parse_lab
from fabriclab.report.page import page_of, write_report
from fabriclab.report.tables.connections import connection_table
from fabriclab.resolve import resolve_plan
from fabriclab.resolve.unmeasured import Sights
from fabriclab.results import ResultsError, read_run

LABS = LAB.parent
MS = 10**6
ADDRESSES = {"h1": "10.0.0.1", "h2": "10.0.0.2", "d1": "10.0.0.1", "d2": "10.0.0.3", "master": "10.0.0.5"}
ADDRESSES |= {"c1": "10.0.0.7", "c2": "10.0.0.9"}


def row(node: str, port: int, peer: str, peer_port: int, **told: Any) -> str:
    """Return a line of the log; what is not told is 0."""
    values = {
        **dict.fromkeys(CONNECTIONS.columns, 0),
        **{"node": node, "address": ADDRESSES[node], "port": port, "state": "ended", "congestion": ""},
        **{"peer_address": ADDRESSES.get(peer, peer), "peer_port": peer_port, "end_ns": 5000 * MS, **told},
    }
    return ",".join(str(values[name]) for name in CONNECTIONS.columns) + "\n"


def watched(run: Path, hosts: tuple[str, ...], *rows: str) -> Path:
    """Give a run the probe and its rows."""
    plan = json.loads((run / "plan.json").read_text())
    plan["probes"]["connection_hosts"] = hosts
    (run / "plan.json").write_text(json.dumps(plan))
    (run / "raw/connections.csv").write_text(CONNECTIONS_HEADER + "".join(rows))
    return run


def programs(directory: Path, *rows: str) -> Path:
    run = watched(program_run(directory / "run"), ("h1", "h2"), *rows)
    (run / "traffic/hosts.csv").write_text(
        "# fabriclab-hosts-1\nhost,address,ipv6\nh1,10.0.0.1,fd00::1\nh2,10.0.0.2,\n"
    )
    return run


def table(run: Path) -> list[dict[str, Any]]:
    read_run(run)
    return pl.read_parquet(run / "connections.parquet").to_dicts()


def planned(lab: str, **settings: str) -> Plan:
    return resolve_plan(shipped_lab(lab), {f"probes.{key}": value for key, value in settings.items()})


def test_by_default_all_hosts_that_run_programs_are_watched() -> None:
    assert planned("applications").probes.connection_hosts == ("server", "client")
    assert planned("hadoop").probes.connection_hosts == ("master", "d1", "d2", "c1", "c2")
    assert planned("applications", connections="none").probes.connection_hosts == ()
    assert planned("applications", **{"connections.hosts": "h2,h1"}).probes.connection_hosts == ("h1", "h2")


def test_it_is_no_sample(tmp_path: Path) -> None:
    (tmp_path / "topology.clab.yml").write_text((LABS / "incast" / "topology.clab.yml").read_text())
    (tmp_path / "experiment.yml").write_text("""\
title: t
switches: {default: {buffer: 64 KB}}
traffic: {a: {kind: flows, senders: [h1], receiver: h2, size: 1 KB}}
probes: {connections: {hosts: h1..h2}}
""")
    probes = resolve_plan(parse_lab(tmp_path), {}).probes
    assert (probes.connection_hosts, probes.queue_ports) == (("h1", "h2"), ("s1:eth2",))


def test_a_plan_without_it_is_written_as_ever_and_no_sampler_runs_for_nothing(tmp_path: Path) -> None:
    plan = star(3)
    bare = {"queue_interval_ns": None, "queue_ports": (), "tcp_interval_ns": None, "tcp_classes": ()}
    plan = plan.model_copy(update={"probes": plan.probes.model_copy(update=bare | {"interface_interval_ns": None})})
    assert "connection_hosts" not in plan_json(plan) and compile_job(plan)["probes"] == []
    plan = plan.model_copy(update={"probes": plan.probes.model_copy(update={"connection_hosts": ("h1", "h2")})})
    assert parse_plan_json(plan_json(plan)) == plan
    assert [probe["name"] for probe in compile_job(plan)["probes"]] == ["sampler"]
    config = compile_sampler(plan, compiled_flows(plan, tmp_path))
    nodes = [{"name": name, "netns": f"/run/netns/{name}"} for name in ("h1", "h2")]
    assert config["connections"] == {"output": "/job/raw/connections.csv", "nodes": nodes}


def test_both_ends_know_the_server_s_port_and_each_other(tmp_path: Path) -> None:
    rows = (
        *(row("h1", 80, "h2", 20_000), row("h2", 20_000, "h1", 80)),
        # A server may have a port that could be a client's: it is the one with more connections.
        *(row("h1", 60_000, "h2", 20_001), row("h1", 60_000, "h2", 20_002), row("h2", 20_001, "h1", 60_000)),
        *(row("h1", 30_000, "h2", 20_003), row("h2", 20_004, "h2", 90), row("h2", 20_005, "127.0.0.1", 91)),
        *(row("h2", 20_006, "fd00::1", 92, address="fd00::2"), row("h2", 20_007, "192.0.2.1", 93)),
    )
    found = [(one["server_port"], one["peer"], one["phase"]) for one in table(programs(tmp_path, *rows))]
    assert found == [
        *((80, "h2", None), (80, "h1", None), (60_000, "h2", None), (60_000, "h2", None), (60_000, "h1", None)),
        *((20_003, "h2", None), (90, "h2", None), (91, "h2", None), (92, "h1", None), (93, None, None)),
    ]


def test_what_the_sampler_was_not_told_is_said(tmp_path: Path) -> None:
    run = programs(tmp_path, row("h1", 80, "h2", 20_000))
    (run / "logs").mkdir(exist_ok=True)
    lost = "connections: 3 sockets of h2 that were closed are missing: they came faster than they were read"
    (run / "logs/sampler.log").write_text(f"sampler: {lost}\nsamples 1 late 0 max_late_ns 0\n")
    assert read_run(run).notes[-1:] == ("connections: 3 closed sockets of h2 are missing",)


def test_a_log_that_is_missing_or_no_log_is_named(tmp_path: Path) -> None:
    run = programs(tmp_path)
    (run / "raw/connections.csv").unlink()
    assert read_run(run).notes[-1:] == ("raw/connections.csv: missing",)
    assert table(run) == []
    other = programs(tmp_path / "other", row("h1", 80, "h2", 20_000, timeouts="many"))
    with pytest.raises(ResultsError, match=r"raw/connections\.csv:3: timeouts: 'many' is not a number"):
        read_run(other)
    assert not (other / "connections.parquet").exists()


def test_the_report_has_connections_by_port(tmp_path: Path) -> None:
    rows = (
        row("h1", 80, "h2", 20_000, bytes_sent=12_000, retransmits=2, retransmitted_bytes=2000, duplicates=1),
        row("h2", 20_000, "h1", 80, bytes_sent=500, bytes_received=10_001, state="open"),
        row("h2", 20_000, "h1", 80, bytes_sent=500, timeouts=4),
        row("h2", 20_001, "192.0.2.1", 99, bytes_sent=700, bytes_received=300),
        row("h1", 80, "h1", 20_009, bytes_sent=10**9),
        *(row("h1", port, "h2", 20_010) for port in range(2000, 2012)),
    )
    run = programs(tmp_path, *rows)
    shown = connection_table(read_run(run))
    assert shown is not None and page_of([run]).connections == shown
    (group,) = shown.groups
    cells = [[cell.text for cell in one] for one in group.rows]
    assert cells[0] == ["80", "h1", "2", "11 KB", "2", "15 %", "1", "4"]
    assert cells[1] == ["99", "192.0.2.1", "1", "1 KB", "0", "0 %", "0", "0"]
    assert (cells[2][0], cells[12][0], len(cells)) == ("2000", "2 others", 13)
    assert (
        group.rows[12][0].detail == "2010, 2011" and "The table leaves out 1 connection within a node" in shown.caption
    )
    assert "or until the run was over (1 end)" in shown.caption
    write_report([run], tmp_path / "report.html")
    assert "<h2>TCP connections</h2>" in (tmp_path / "report.html").read_text()
    result = CliRunner().invoke(app, ["export", str(run), "--table", "connections", "--out", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out/connections.csv").read_text().count("\n") == len(rows) + 1


def test_a_run_without_the_probe_has_no_such_table(tmp_path: Path) -> None:
    run = program_run(tmp_path / "run")
    assert connection_table(read_run(run)) is None and not (run / "connections.parquet").exists()


def shuffling(directory: Path, *more: str, hosts: tuple[str, ...] = ("master", "d1", "d2", "c1", "c2")) -> Path:
    rows = (
        row("c1", 13_562, "c2", 20_000, bytes_sent=9000, retransmits=5, timeouts=1),
        row("c2", 20_000, "c1", 13_562, retransmits=2),
        # Of its own node, and of what was before the job.
        row("c1", 13_562, "c1", 20_001, retransmits=100),
        row("c2", 13_562, "c1", 20_002, retransmits=1000, end_ns=1000 * MS),
    )
    return watched(hadoop_run(directory / "run"), hosts, *rows, *more)


def test_hadoop_s_connections_are_told_apart_by_the_ports_of_its_servers(tmp_path: Path) -> None:
    read = {"bytes_sent": 9000, "bytes_received": 10}
    written = {"bytes_sent": 10, "bytes_received": 9000}
    more = (
        *(row("d1", 9866, "c1", 20_003, **read), row("c1", 20_003, "d1", 9866, **written)),
        *(row("d1", 9866, "c1", 20_004, **written), row("c1", 20_004, "d1", 9866, **read)),
        *(row("d1", 9866, "c1", 20_005), row("master", 8020, "d2", 20_006), row("c1", 30_000, "c2", 31_000)),
        row("c1", 30_000, "192.0.2.1", 13_562),
    )
    found = [one["phase"] for one in table(shuffling(tmp_path, *more))[4:]]
    assert found == [
        *("hdfs-read", "hdfs-read", "hdfs-write", "hdfs-write", "hdfs-write", "rpc", "other", None),
    ]


def test_settings_move_the_ports() -> None:
    cluster = next(each for each in planned("hadoop").traffic if isinstance(each, HadoopTraffic))
    assert ports_of(dict(cluster.settings))[13_562] == "shuffle"
    moved = (("mapreduce.shuffle.port", "7001"), ("dfs.datanode.address", "0.0.0.0:7002"), ("yarn.x", "1"))
    ports = ports_of(dict(moved))
    assert (ports[7001], ports[7002]) == ("shuffle", "blocks") and not {13_562, 9866} & set(ports)


def test_a_job_has_what_was_sent_again_in_its_shuffle_between_nodes(tmp_path: Path) -> None:
    run = shuffling(tmp_path)
    summary = read_run(run).summary
    (job,) = pl.read_parquet(run / "hadoop_jobs.parquet").to_dicts()
    assert (job["shuffle_retransmits"], job["shuffle_timeouts"]) == (7, 1)
    assert (summary["shuffle_retransmits[hadoop-sort]"], summary["shuffle_timeouts[hadoop-sort]"]) == (7, 1)
    assert summary["shuffle_retransmits"] == 1007, "of the whole it need not be known whose they are"


@pytest.mark.parametrize("how", ["no probe", "a node not watched", "a node not told"])
def test_what_was_not_all_seen_is_not_known(tmp_path: Path, how: str) -> None:
    hosts = {"no probe": (), "a node not watched": ("master", "d1", "d2", "c1")}.get(how, ("c1", "c2"))
    run = shuffling(tmp_path, hosts=hosts)
    if how == "a node not told":
        lost = "sampler: connections: 1 sockets of c2 that were closed are missing: they came faster\n"
        (run / "logs/sampler.log").write_text(lost)
    summary = read_run(run).summary
    assert summary["shuffle_retransmits"] is None and summary["shuffle_retransmits[hadoop-sort]"] is None


def test_of_jobs_that_ran_at_one_time_it_is_not_known_whose_a_connection_is() -> None:
    cluster = next(each for each in planned("hadoop").traffic if isinstance(each, HadoopTraffic))
    schema = {"end_ns": pl.Int64, "node": pl.String, "peer": pl.String, "phase": pl.String, "timeouts": pl.Int64}
    ends = [(end, "c1", "c2", "shuffle", 0, 10**at) for at, end in enumerate((-5, 15, 25, 55, 95))]
    connections = pl.DataFrame(ends, schema=schema | {"retransmits": pl.Int64}, orient="row")
    times = ((-9, -1), (10, 20), (30, 50), (40, 60), (90, None), (None, None))
    jobs: list[dict[str, Any]] = [{"submit_ns": start, "end_ns": end} for start, end in times]
    add_shuffle_losses(jobs, cluster, connections, frozenset(cluster.compute_nodes))
    found = [job.get("shuffle_retransmits") for job in jobs]
    assert found == [None, 110, None, None, 10_000, None], "before the epoch nobody looked"


def test_why_it_will_not_be_measured_is_known_beforehand() -> None:
    on, off = planned("hadoop"), planned("hadoop", connections="none")
    for metric in ("shuffle_retransmits", "shuffle_timeouts[hadoop-sort]"):
        assert Sights(on, {}).metric_lacks(metric) == ""
        assert Sights(off, {}).metric_lacks(metric) == (
            "connections of c1, c2 are not seen; write probes: {connections: {}}, which has all hosts that run programs"
        )
