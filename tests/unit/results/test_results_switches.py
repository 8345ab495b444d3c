"""What was sampled of switches with a shared buffer: tables, metrics, runs that lack them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from switch_runs import BURSTS, CLIENT, PERIOD, QUEUE, SERVERS, Log, switch_plan, switch_run, switch_sweep, trimming_run
from synthetic_run import FLOW_HEADER, MS, TRACE_HEADER, incast_run, write_run

from fabriclab.formats.switch_logs import SWITCH_TABLES, TRIMMING
from fabriclab.results import Results, ResultsError, pooled, read_run, read_sweep
from fabriclab.results.switch_metrics import POOL_METRICS, PORT_METRICS, QUEUE_METRICS
from fabriclab.results.switch_tables import SwitchTables


@pytest.fixture(scope="module")
def pfc(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return read_run(switch_run(tmp_path_factory.mktemp("pfc") / "run", "shallow-pfc"))


@pytest.fixture(scope="module")
def shallow(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return read_run(switch_run(tmp_path_factory.mktemp("shallow") / "run", "shallow"))


def logged(tmp_path: Path, log: Log) -> Results:
    flows = {"traffic/trace.csv": TRACE_HEADER + "0,0,h1,client,5000,,push,,,,job\n", "raw/flows/h1.csv": FLOW_HEADER}
    return read_run(write_run(tmp_path / "run", switch_plan(), flows | log.files()))


def test_every_file_becomes_a_table(shallow: Results) -> None:
    for table, file_format in SWITCH_TABLES.items():
        if table == TRIMMING.name:
            continue  # of switches that trim alone
        assert list(pl.read_parquet(shallow.directory / f"{table}.parquet").columns) == list(file_format.columns)
    assert not (shallow.directory / "raw").exists()
    assert shallow.notes == ()
    tables = shallow.switches
    found = [tables.ports, tables.queues, tables.groups, tables.pools, tables.events]
    assert [list(table.collect_schema()) for table in found if table is not None] == [
        list(kind.columns) for name, kind in SWITCH_TABLES.items() if name != TRIMMING.name
    ]


def test_a_run_of_an_older_version_has_none(tmp_path: Path) -> None:
    run = read_run(incast_run(tmp_path / "run", 4))
    assert run.switches == SwitchTables() and not run.switches.is_sampled
    assert {run.summary[name] for name in (*QUEUE_METRICS, *PORT_METRICS, *POOL_METRICS)} == {None}
    assert run.notes == ()


def test_a_missing_file_is_noted(tmp_path: Path) -> None:
    directory = switch_run(tmp_path / "run")
    (directory / "raw" / "pools.csv").unlink()
    run = read_run(directory)
    assert run.notes == ("raw/pools.csv: missing",)
    assert run.summary["pool_max_bytes"] is None and run.summary["queue_drops"] is not None


def test_a_broken_row_is_named(tmp_path: Path) -> None:
    directory = switch_run(tmp_path / "run")
    file = directory / "raw" / "switch_ports.csv"
    file.write_text(file.read_text() + "1,s1:eth1,many,0,0,0,0\n")
    lines = len(file.read_text().splitlines())
    with pytest.raises(ResultsError, match=f"raw/switch_ports.csv:{lines}: marks: 'many' is not a number"):
        read_run(directory)


def test_sums_are_of_switch_ports(pfc: Results) -> None:
    summary = pfc.summary
    sent = [summary[f"pauses_sent[s1:eth{number}]"] for number in range(1, SERVERS + 1)]
    assert sent == [BURSTS * 6 * number for number in range(1, SERVERS + 1)]
    assert summary["pauses_sent"] == BURSTS * 6 * 15
    assert (summary["pauses_received"], summary["pauses_received[h1:eth1]"]) == (0, BURSTS * 6)
    assert (summary["paused_ns"], summary["paused_ns[h1:eth1]"], summary["paused_ns[h1:eth1:3]"]) == (
        0,
        BURSTS * 6 * MS,
        BURSTS * 6 * MS,
    )
    assert (
        summary["ingress_discards"],
        summary["ingress_discards[s1:eth1]"],
        summary["ingress_discards[s1:eth2]"],
    ) == (18, 18, 0)
    assert summary["xoff_ns"] == SERVERS * BURSTS * 6 * MS


def test_drops_are_by_queue(shallow: Results) -> None:
    summary = shallow.summary
    drops = 40 * BURSTS
    assert (
        summary["queue_drops"]
        == summary[f"queue_drops[{CLIENT}]"]
        == summary[f"queue_drops[{CLIENT}:{QUEUE}]"]
        == drops + drops // 4
    )
    assert (summary[f"queue_drops[{CLIENT}:0]"], summary["queue_drops[s1:eth1]"]) == (0, 0)
    assert (
        summary["congestion_events"],
        summary[f"congestion_events[{CLIENT}]"],
        summary["congestion_events[s1:eth1]"],
    ) == (
        BURSTS,
        BURSTS,
        0,
    )


def test_memory_is_by_pool(pfc: Results) -> None:
    assert pfc.summary["pool_max_bytes"] == pfc.summary["pool_max_bytes[s1:shared]"] == 320_000
    assert (pfc.summary["headroom_max_bytes[s1:shared]"], pfc.summary["headroom_max_bytes[s1:ingress]"]) == (0, 9_000)


def test_each_cause_counts_where_it_belongs(tmp_path: Path) -> None:
    log = Log()
    log.add("switch_queues", time_ns=0, port="s1:eth1", queue=0)
    causes = ("queue_limit", "queue_pool", "ingress", "voq", "wred", "storm", "reset")
    counters = {f"dropped_{cause}": 10**place for place, cause in enumerate(causes)}
    log.add("switch_queues", time_ns=MS, port="s1:eth1", queue=0, marked_wred=3, marked_phantom=4, storms=2, **counters)
    summary = logged(tmp_path, log).summary
    assert (summary["queue_drops"], summary["wred_drops"], summary["storm_drops"]) == (1011, 10_000, 100_000)
    assert (summary["ecn_marks"], summary["storms"]) == (7, 2)


def test_what_is_trimmed_is_counted_by_queue(tmp_path: Path) -> None:
    summary = read_run(trimming_run(tmp_path / "run")).summary
    assert (summary["trimmed_packets"], summary["trimmed_bytes"], summary["trimmed_drops"]) == (41, 4100, 2)
    assert (summary["trimmed_packets[s1:eth1:0]"], summary["trimmed_packets[s1:eth1:3]"]) == (2, 39)


def test_what_was_before_the_start_does_not_count(tmp_path: Path) -> None:
    log = Log()
    for time, first, late in ((0, 5, None), (MS, 7, 3), (2 * MS, 7, 4)):
        log.add("switch_queues", time_ns=time, port="s1:eth1", queue=0, dropped_wred=first)
        if late is not None:  # a queue that nobody configured is told of from its first frame on
            log.add("switch_queues", time_ns=time, port="s1:eth1", queue=5, dropped_wred=late)
    summary = logged(tmp_path, log).summary
    assert (summary["wred_drops[s1:eth1:0]"], summary["wred_drops[s1:eth1:5]"], summary["wred_drops"]) == (2, 4, 6)


def test_a_port_that_went_away_keeps_its_counts(tmp_path: Path) -> None:
    log = Log()
    gone = dict.fromkeys(SWITCH_TABLES["switch_ports"].columns) | {"time_ns": 2 * MS, "port": "s1:eth1"}
    log.add("switch_ports", time_ns=0, port="s1:eth1")
    log.add("switch_ports", time_ns=MS, port="s1:eth1", pauses_sent=9)
    log.add("switch_ports", **gone)
    summary = logged(tmp_path, log).summary
    assert summary["pauses_sent"] == 9
    assert summary["pauses_sent[s1:eth2]"] is None, "no row: nobody sampled it"


def test_a_pool_has_the_rows_of_all_runs(tmp_path: Path) -> None:
    sweep = read_sweep(switch_sweep(tmp_path, ("shallow", "deep")))
    for pool in pooled(sweep):
        assert pool.switches.queues is not None and pool.switches.events is not None
        runs = pool.switches.queues.group_by("run", "seed").agg(pl.len()).sort("run").collect().rows()
        rows = pool.runs[0].switches.queues
        assert rows is not None and runs == [(0, 1, rows.collect().height), (1, 2, rows.collect().height)]
        assert pool.metric("congestion_events").mean.value == (BURSTS if pool.settings["variant"] == "shallow" else 0)


def test_a_job_is_all_its_phases(shallow: Results) -> None:
    end = BURSTS * PERIOD - 3 * MS
    assert shallow.summary["job_ns"] == shallow.summary["job_ns[job]"] == end


def test_a_job_that_was_cut_has_no_time(tmp_path: Path) -> None:
    summary = logged(tmp_path, Log()).summary
    assert summary["job_ns"] is None and summary["job_ns[job]"] is None
