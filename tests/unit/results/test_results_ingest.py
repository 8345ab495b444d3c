"""Raw logs to Parquet and summary: whole runs, and what a killed machine leaves."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from small_runs import query_run, recovery_run, row, small_run
from synthetic_run import QUEUE_HEADER, TCP_HEADER, incast_run, long_run

from fabriclab.formats.logs import TCP
from fabriclab.formats.plan.model import Check
from fabriclab.results import evaluate_checks, ingest_run, read_run
from fabriclab.results.csv_logs import schema_of
from fabriclab.results.flows import FLOW_COLUMNS
from fabriclab.results.mptcp_fallbacks import LOST_MP_CAPABLE, LOST_SYNS, fallback_causes


def test_pushed_flow_joins_both_sides(tmp_path: Path) -> None:
    run = small_run(
        tmp_path,
        "0,1000,h1,h3,5000,,push,,,,web\n",
        {
            "h1": "0,src,complete,1000,51000,52000,900000,5000,2,1,3,4,51,80\n",
            "h3": "0,dst,complete,,60000,80000,801000,5000,,,,,,\n",
        },
    )
    assert row(run, 0) == dict(
        zip(
            FLOW_COLUMNS,
            (
                *(
                    0,
                    "web",
                    "h1",
                    "h3",
                    5000,
                    1000,
                    51000,
                    80000,
                    801000,
                    800000,
                    5000,
                    "complete",
                    2,
                    1,
                    3,
                    4,
                    51,
                    80,
                    None,
                    None,
                ),
                *("push", "tcp", None, None, "cubic", 0, "timeout", None, None),
                *(100_000, 180_576, 800_000 / 180_576, None),
            ),
            strict=True,
        )
    )


def test_pulled_flow_starts_at_the_receiver(tmp_path: Path) -> None:
    logs = {
        "h1": "0,src,complete,,49000,52000,900000,5000,0,0,0,4,51,80\n",
        "h3": "0,dst,complete,2000,50000,80000,802000,5000,,,,,,\n",
    }
    found = row(small_run(tmp_path, "0,1000,h1,h3,5000,,pull,,,,web\n", logs), 0)
    assert (found["start_ns"], found["connected_ns"], found["fct_ns"]) == (2000, 50000, 800000)


@pytest.mark.parametrize(
    ("source", "destination", "status"),
    [
        ("complete", "complete", "complete"),
        (None, "complete", "complete"),
        ("complete", None, "lost"),
        (None, None, "lost"),
        ("failed: ECONNRESET", "stopped", "failed: ECONNRESET"),
        ("unstarted", "failed: ETIMEDOUT", "failed: ETIMEDOUT"),
        ("stopped", "unstarted", "stopped"),
        ("unstarted", None, "unstarted"),
    ],
)
def test_status_of_both_sides(tmp_path: Path, source: str | None, destination: str | None, status: str) -> None:
    logs = {
        "h1": f"0,src,{source},0,,,,,,,,,,\n" if source else "",
        "h3": f"0,dst,{destination},,,,5000,100,,,,,,\n" if destination else "",
    }
    assert row(small_run(tmp_path, "0,0,h1,h3,5000,,push,,,,web\n", logs), 0)["status"] == status


def test_incomplete_flows_are_counted_and_have_no_completion_time(tmp_path: Path) -> None:
    trace = "".join(f"{flow},0,h1,h3,5000,,push,,,,web\n" for flow in range(4))
    source = (
        "0,src,complete,0,,,9,5000,0,0,0,4,51,80\n1,src,failed: ECONNRESET,0,,,,10,,,,,,\n2,src,unstarted,,,,,,,,,,,\n"
    )
    run = small_run(
        tmp_path, trace, {"h1": source, "h3": "0,dst,complete,,,5,8,5000,,,,,,\n"}, manifest={"status": "crashed"}
    )
    summary = read_run(run).summary
    counts = {name: summary[name] for name in summary if name.startswith("flows")}
    of_class = {f"{name}[web]": value for name, value in (("flows", 4), ("flows_complete", 1), ("flows_incomplete", 3))}
    assert counts == of_class | {
        "flows": 4,
        "flows_complete": 1,
        "flows_incomplete": 3,
        "flows_failed": 1,
        "flows_unstarted": 1,
        "flows_lost": 1,
        "flows_with_timeouts": 0,
        "flows_with_timeouts[web]": 0,
        "flows_with_setup_timeouts": None,
        "flows_with_retransmits": 0,
        "flows_with_retransmits[web]": 0,
        "flows_fast_retransmit": 0,
    }
    assert summary["fct_max_ns"] == 8


def test_a_handshake_of_a_second_waited_for_its_timeout(tmp_path: Path) -> None:
    trace = "".join(f"{flow},2000,h1,h3,5000,,push,,,,web\n" for flow in range(4))
    source = "".join(
        f"{flow},src,complete,2000,{connected},,,5000,0,0,0,4,51,80\n"
        for flow, connected in enumerate((1_000_001_999, 1_000_002_000, 3_000_002_480, ""))
    )
    summary = read_run(small_run(tmp_path, trace, {"h1": source})).summary
    assert summary["flows_with_setup_timeouts"] == summary["flows_with_setup_timeouts[web]"] == 2


def test_goodput_is_bytes_over_busy_time(tmp_path: Path) -> None:
    trace = "0,0,h1,h3,5000,,push,,,,a\n1,0,h2,h3,5000,,push,,,,b\n"
    logs = {
        "h1": "0,src,complete,1000,,,,5000,1,0,0,4,51,80\n",
        "h2": "1,src,complete,2000,,,,5000,2,1,0,4,52,80\n",
        "h3": "0,dst,complete,,,,6000,5000,,,,,,\n1,dst,complete,,,,11000,5000,,,,,,\n",
    }
    summary = read_run(small_run(tmp_path, trace, logs)).summary
    assert summary["goodput_bps"] == 10_000 * 8e9 / 10_000
    assert summary["throughput_bps[a]"] == 5_000 * 8e9 / 5_000
    assert (summary["retransmits"], summary["timeouts"], summary["min_rtt_us"]) == (3, 1, 51)


def test_trace_may_lack_all_but_five_columns(tmp_path: Path) -> None:
    trace = "# fabriclab-trace-1\nstart_ns,flow,dst,src,size_bytes\n0,0,h3,h1,5000\n"
    found = row(small_run(tmp_path, "", {}, **{"traffic/trace.csv": trace}), 0)
    assert (found["src"], found["mode"], found["transport_asked"], found["dscp"], found["class"]) == (
        "h1",
        "push",
        "tcp",
        0,
        None,
    )


@pytest.mark.parametrize(
    ("retransmits", "timeouts", "recovery"),
    [
        ("0", "0", "none"),
        ("2", "0", "fast retransmit"),
        ("3", "1", "timeout"),
        ("9", "2", "several timeouts"),
        ("", "", None),
        ("0", "", "none"),
    ],
)
def test_recovery_is_told_by_the_counters(
    tmp_path: Path, retransmits: str, timeouts: str, recovery: str | None
) -> None:
    logs = {
        "h1": f"0,src,complete,0,,,,5000,{retransmits},{timeouts},0,4,51,80,tcp,\n",
        "h3": "0,dst,complete,,,,9,5000,,,,,,,tcp,\n",
    }
    assert row(small_run(tmp_path, "0,0,h1,h3,5000,,push,,,,web\n", logs), 0)["recovery"] == recovery


def test_completion_times_have_means_by_recovery(tmp_path: Path) -> None:
    summary = read_run(recovery_run(tmp_path)).summary
    names = [f"fct_{how}_mean_ns" for how in ("no_loss", "fast_retransmit", "timeout", "several_timeouts")]
    assert [summary[name] for name in names] == [summary[f"{name}[web]"] for name in names] == [1500, 3000, 4000, 5000]


def test_fallback_to_tcp_is_told_and_counted(tmp_path: Path) -> None:
    trace = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,class,transport,congestion_control,dscp\n"
    trace += "0,0,h1,h3,5000,web,mptcp,dctcp,8\n1,0,h2,h3,5000,web,mptcp,,\n"
    logs = {
        "h1": "0,src,complete,0,,,,5000,0,0,0,4,51,80,fallback,\n",
        "h2": "1,src,complete,0,,,,5000,0,0,0,4,51,80,mptcp,8\n",
    }
    run = small_run(tmp_path, "", logs, **{"traffic/trace.csv": trace})
    columns = ("transport_asked", "transport", "subflows", "congestion_control", "dscp")
    assert [tuple(row(run, flow)[name] for name in columns) for flow in (0, 1)] == [
        ("mptcp", "fallback", None, "dctcp", 8),
        ("mptcp", "mptcp", 8, "cubic", 0),
    ]
    assert read_run(run).summary["mptcp_fallbacks"] == 1
    assert fallback_causes(read_run(run).flows) == {LOST_MP_CAPABLE: 1}


def test_a_fallback_after_two_lost_syns_is_told_from_one_after_lost_data() -> None:
    rows = [
        (0, 3_000_100_000, "fallback"),
        (0, 1_000_100_000, "fallback"),
        (5, 90_005, "fallback"),
        (0, 4_000_000_000, "mptcp"),
        (0, None, "tcp"),
    ]
    flows = pl.LazyFrame(rows, schema=["start_ns", "connected_ns", "transport"], orient="row")
    assert fallback_causes(flows) == {LOST_SYNS: 1, LOST_MP_CAPABLE: 2}


def test_deadline_counts_from_the_first_start_of_the_group(tmp_path: Path) -> None:
    trace = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes,group,deadline_ns\n"
    trace += (
        "0,0,h1,h3,5000,q,900\n1,200,h2,h3,5000,q,900\n2,0,h1,h3,5000,,900\n3,0,h1,h3,5000,,900\n4,0,h1,h3,5000,,\n"
    )
    starts, ends = (0, 200, 300, 0, 0), (900, 1000, 1200, None, 9000)
    source = "".join(f"{flow},src,complete,{start},,,,5000,0,0,0,4,51,80,tcp,\n" for flow, start in enumerate(starts))
    sink = "".join(
        f"{flow},dst,complete,,,,{end},5000,,,,,,,tcp,\n" for flow, end in enumerate(ends) if end is not None
    )
    run = small_run(tmp_path, "", {"h1": source, "h3": sink}, **{"traffic/trace.csv": trace})
    results = read_run(run)
    assert results.flows.collect()["deadline_missed"].to_list() == [False, True, False, True, None]
    assert (results.summary["deadline_flows"], results.summary["deadline_misses"]) == (4, 2)


def test_coflows_have_percentiles_of_their_own(tmp_path: Path) -> None:
    """Three queries of two flows: the later flow counts, and the middle query is the median."""
    trace = "".join(f"{flow},0,h{1 + flow % 2},h3,5000,,push,,q{flow // 2},,query\n" for flow in range(6))
    sources = (
        "".join(f"{flow},src,complete,0,,,,5000,0,0,0,4,51,80\n" for flow in flows) for flows in ((0, 2, 4), (1, 3, 5))
    )
    ends = (900, 100, 200, 300, 500, 700)
    sink = "".join(f"{flow},dst,complete,,,,{end},5000,,,,,,\n" for flow, end in enumerate(ends))
    logs = dict(zip(("h1", "h2"), sources, strict=True)) | {"h3": sink}
    summary = read_run(small_run(tmp_path, trace, logs)).summary
    names = ("coflow_median_ns", "coflow_p95_ns", "coflow_median_ns[query]", "coflow_p99_ns[query]", "coflow_p999_ns")
    assert [summary[name] for name in names] == [700, 900, 700, 900, 900]


def test_coflows_that_are_late_or_wait_are_counted(tmp_path: Path) -> None:
    summary = read_run(query_run(tmp_path)).summary
    names = ("coflows", "coflows_with_timeouts", "coflow_deadline_misses")
    assert [summary[name] for name in names] == [2, 1, 1]
    assert [summary[f"{name}[query]"] for name in names] == [2, 1, 1]


def test_runs_without_coflows_have_no_numbers_of_them(tmp_path: Path) -> None:
    summary = read_run(small_run(tmp_path, "0,0,h1,h3,5000,,push,,,,mice\n", {})).summary
    names = ("coflows", "coflows_with_timeouts", "coflow_deadline_misses")
    assert [summary[name] for name in names] == [None, None, None]
    assert not [name for name in summary if name.startswith("coflow") and "[" in name]


def test_classes_have_metrics_of_their_own_but_not_without_end(tmp_path: Path) -> None:
    trace = "".join(f"{flow},0,h1,h3,5000,,push,,,,c{max(0, flow - 50)}\n" for flow in range(200))
    summary = read_run(small_run(tmp_path, trace, {})).summary
    assert sum(name.startswith("flows[") for name in summary) == 100
    assert (summary["flows[c0]"], summary["flows_incomplete[c0]"]) == (51, 51)


def test_flows_of_an_older_version_are_read(tmp_path: Path) -> None:
    run = incast_run(tmp_path / "run", 4)
    ingest_run(run)
    old = pl.read_parquet(run / "flows.parquet").select(FLOW_COLUMNS[:20])
    old.write_parquet(run / "flows.parquet")
    results = read_run(run)
    assert results.flows.collect()["slowdown"].null_count() == old.height
    assert results.completion_table()["complete"].to_list() == [old.height]


def test_subflows_are_connections_of_their_own(tmp_path: Path) -> None:
    run = long_run(tmp_path / "run")
    values = [(0, 0, 100), (0, 1, 300), (2_000_000_000, 0, ""), (2_000_000_000, 1, "")]
    rows = "".join(f"{time},h1,0,{subflow},a-b,,,{srtt}{',' * 17}\n" for time, subflow, srtt in values)
    (run / "raw" / "tcp.csv").write_text(TCP_HEADER + rows)
    assert read_run(run).summary["srtt_mean_us"] == pytest.approx(200)


def test_rounds_are_groups_that_are_complete(tmp_path: Path) -> None:
    trace = "0,0,h1,h3,5000,,pull,a,r0,,s\n1,0,h2,h3,5000,,pull,b,r0,,s\n2,0,h1,h3,5000,,pull,a,r1,r0,s\n"
    logs = {
        "h3": "0,dst,complete,0,,,600,5000,,,,,,\n1,dst,complete,100,,,900,5000,,,,,,\n2,dst,stopped,900,,,950,10,,,,,,"
        "\n"
    }
    summary = read_run(small_run(tmp_path, trace, logs)).summary
    assert (summary["rounds_complete"], summary["round_mean_ns"]) == (1, 900.0)


def test_short_flows_are_those_of_10_kilobytes_or_less(tmp_path: Path) -> None:
    sizes = (4, 10_000, 10_001, 10_000)
    trace = "".join(f"{flow},0,h1,h3,{size},,pull,,,,web\n" for flow, size in enumerate(sizes))
    ends = zip(sizes[:3], (300, 500, 9000), strict=True)
    logs = {"h3": "".join(f"{flow},dst,complete,0,,,{end},{size},,,,,,\n" for flow, (size, end) in enumerate(ends))}
    summary = read_run(small_run(tmp_path, trace, logs)).summary
    assert (summary["fct_short_mean_ns"], summary["fct_short_p99_ns"], summary["fct_max_ns"]) == (400, 500, 9000)


def test_a_run_without_short_flows_has_no_time_of_them(tmp_path: Path) -> None:
    logs = {"h3": "0,dst,complete,0,,,900,10001,,,,,,\n"}
    summary = read_run(small_run(tmp_path, "0,0,h1,h3,10001,,pull,,,,web\n", logs)).summary
    assert summary["fct_mean_ns"] == 900
    assert summary.get("fct_short_mean_ns") is None


def test_queue_metrics_weigh_time_and_count_from_the_first_sample(tmp_path: Path) -> None:
    logs = {"h1": "0,src,complete,0,,,,5000,0,0,0,4,51,80\n", "h3": "0,dst,complete,,,,1000,5000,,,,,,\n"}
    queue = QUEUE_HEADER + "0,s1:eth3,0,0,5,1,0,0,0\n600,s1:eth3,3000,2,9,1,0,0,0\n2000,s1:eth3,0,0,9,4,0,0,0\n"
    summary = read_run(small_run(tmp_path, "0,0,h1,h3,5000,,push,,,,web\n", logs, **{"raw/queues.csv": queue})).summary
    assert summary["queue_mean_bytes"] == pytest.approx(1200)
    assert (summary["queue_median_bytes"], summary["queue_p99_bytes"], summary["queue_max_bytes"]) == (0, 3000, 3000)
    assert (summary["drops"], summary["queue_marks"], summary["drops[s1:eth3]"]) == (4, 3, 4)


def test_stalls_are_silences_of_the_port_while_traffic_lasts(tmp_path: Path) -> None:
    end = 230_000_000
    logs = {"h1": "0,src,complete,0,,,,5000,0,0,0,4,51,80\n", "h3": f"0,dst,complete,,,,{end},5000,,,,,,\n"}
    # Sent until 1 ms; a packet that only arrives at 3 ms ends no silence; sent again at 211 ms, 9 ms of nothing, then
    # until the end.
    times = [(0, 0, 1), (1_000_000, 0, 2), (3_000_000, 1514, 2), (211_000_000, 0, 3), (220_000_000, 0, 4), (end, 0, 5)]
    queue = QUEUE_HEADER + "".join(f"{time},s1:eth3,{backlog},0,0,0,0,{sent},0\n" for time, backlog, sent in times)
    summary = read_run(small_run(tmp_path, "0,0,h1,h3,5000,,push,,,,web\n", logs, **{"raw/queues.csv": queue})).summary
    assert (summary["stalls"], summary["stalled_ns"]) == (2, 220_000_000)


@pytest.mark.parametrize(
    ("status", "virtual_s", "complete"),
    [("complete", 0, 2), ("limit", 2.5, 2), ("limit", 1.0, 0), ("crashed", None, 0)],
)
def test_long_flows_are_complete_when_they_reach_their_stop_time(
    tmp_path: Path, status: str, virtual_s: float | None, complete: int
) -> None:
    results = read_run(long_run(tmp_path / "run", status=status, virtual_s=virtual_s))
    assert results.summary["flows_complete"] == complete
    assert results.summary["jain_fairness"] == pytest.approx(1, abs=1e-3)


def test_tcp_extremes_are_read(tmp_path: Path) -> None:
    results = read_run(long_run(tmp_path / "run", "dctcp"))
    assert results.measured.tcp is not None
    table = results.measured.tcp.collect()
    assert dict(table.schema) == schema_of(TCP)
    assert table["pacing_bps"].max() == 2**64 - 1
    assert results.summary["srtt_mean_us"] == pytest.approx(342, abs=1)


def test_checks_concern_the_points_that_they_name(tmp_path: Path) -> None:
    four, sixteen = (read_run(incast_run(tmp_path / str(count), count)) for count in (4, 16))
    assert [(check.value, check.outcome) for check in evaluate_checks(four)] == [(850e6, "pass")]
    assert [(check.value, check.outcome) for check in evaluate_checks(sixteen)] == [(250e6, "pass")]
    assert [check.outcome for check in evaluate_checks(four, [Check(metric="goodput_bps", operator="<", value=1)])] == [
        "fail"
    ]
    assert [check.outcome for check in evaluate_checks(four, [Check(metric="no_such", operator="<", value=1)])] == [
        "not measured"
    ]


def test_a_cut_run_proves_nothing(tmp_path: Path) -> None:
    results = read_run(incast_run(tmp_path / "run", 4, status="interrupted"))
    assert [check.outcome for check in evaluate_checks(results)] == ["not measured"]
