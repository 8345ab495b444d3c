"""What a number without brackets covers: all sampled ports, never the first one alone;
what it leaves out is said beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from synthetic_run import FLOW_HEADER, QUEUE_HEADER, TRACE_HEADER, plan_of, write_run
from typer.testing import CliRunner
from whole_plans import whole_traffic

from fabriclab.cli.app import app
from fabriclab.report.drawing.pools import pool_of_run
from fabriclab.report.figures.drops import drops_picture
from fabriclab.report.measured.samples import default_place
from fabriclab.report.measured.scope import scope_text
from fabriclab.report.page import page_of
from fabriclab.report.tables.points import key_figures
from fabriclab.results import evaluate_checks, read_run
from fabriclab.results.flow_metrics import job_metrics
from fabriclab.results.queue_metrics import over_all_ports, queue_metrics

TRAFFIC = [{"kind": "flows", "name": "f", "senders": ["h1", "h2"], "receiver": "h3"}]
QUIET, BUSY, UNSEEN = "s1:eth1", "s1:eth2", "s1:eth3"
ROWS = {
    QUIET: "0,{0},0,0,0,0,0,0,0\n1000,{0},1500,1,0,0,1,1,0\n2000,{0},0,0,0,1,2,2,0\n",
    BUSY: "0,{0},0,0,5,0,0,0,0\n1000,{0},9000,6,5000,0,1,1,0\n2000,{0},3000,2,10881,7,2,2,0\n",
}


def run_with_ports(directory: Path, ports: list[str], **plan: Any) -> Path:
    given = plan_of(2, "cubic", 64_000, TRAFFIC, "h3", lab="ports", title="Ports", **plan)
    given["probes"]["queue_ports"] = ports
    times = sorted(
        (int(line.split(",")[0]), line) for port in ports for line in ROWS.get(port, "").format(port).splitlines()
    )
    files = {
        "traffic/trace.csv": TRACE_HEADER + "0,0,h1,h3,5000,,push,,,,f\n",
        "raw/flows/h1.csv": FLOW_HEADER + "0,src,complete,0,,,,5000,0,0,0,4,51,80\n",
        "raw/flows/h3.csv": FLOW_HEADER + "0,dst,complete,,,,2000,5000,,,,,,\n",
        "raw/queues.csv": QUEUE_HEADER + "".join(f"{line}\n" for _, line in times),
    }
    return write_run(directory, given, files)


def figures_of(directory: Path) -> dict[str, tuple[str, str]]:
    return {title: (value, context) for title, value, context in key_figures(read_run(directory))}


def test_counts_are_sums_over_the_ports_and_lengths_those_of_the_port_with_most(tmp_path: Path) -> None:
    summary = read_run(run_with_ports(tmp_path / "run", [QUIET, BUSY])).summary
    assert (summary["drops"], summary[f"drops[{QUIET}]"], summary[f"drops[{BUSY}]"]) == (10_876, 0, 10_876)
    assert (summary["queue_marks"], summary["queue_max_bytes"]) == (8, 9000)
    assert summary["queue_mean_bytes"] == summary[f"queue_mean_bytes[{BUSY}]"]


def test_the_order_of_the_ports_changes_no_number_of_all_of_them(tmp_path: Path) -> None:
    one, other = (
        read_run(run_with_ports(tmp_path / name, ports)).summary
        for name, ports in (("a", [QUIET, BUSY]), ("b", [BUSY, QUIET]))
    )
    assert one == other


def test_a_single_port_is_as_it_was(tmp_path: Path) -> None:
    run = run_with_ports(tmp_path / "run", [BUSY])
    summary = read_run(run).summary
    bare = [name for name in summary if f"{name}[{BUSY}]" in summary]
    assert len(bare) == 9
    assert {name: summary[name] for name in bare} == {name: summary[f"{name}[{BUSY}]"] for name in bare}
    assert figures_of(run)["Packets dropped"] == ("10,876", "")
    assert figures_of(run)["Queue, longest"] == ("9 KB", "of 64 KB buffer")


def test_headlines_say_how_many_ports_there_are_and_name_the_worst(tmp_path: Path) -> None:
    figures = figures_of(run_with_ports(tmp_path / "run", [QUIET, BUSY]))
    assert figures["Packets dropped"] == ("10,876", "at 2 ports, most at s1:eth2: 10,876")
    assert figures["Queue, longest"] == ("9 KB", "at s1:eth2, the most of 2 ports; of 64 KB buffer")
    figures = figures_of(run_with_ports(tmp_path / "other", [QUIET, UNSEEN]))
    assert figures["Packets dropped"] == ("0", "at 1 of 2 ports, the others not measured")


def test_the_terminal_and_the_report_say_it(tmp_path: Path) -> None:
    run = run_with_ports(tmp_path / "run", [QUIET, BUSY])
    result = CliRunner().invoke(app, ["report", str(run)], env={"COLUMNS": "160"})
    assert result.exit_code == 0, result.output
    html = (run / "report.html").read_text()
    assert "10,876" in html and "at 2 ports, most at s1:eth2: 10,876" in html


def test_a_table_of_points_says_it_once(tmp_path: Path) -> None:
    page = page_of([run_with_ports(tmp_path / name, [QUIET, BUSY], settings={"senders": name}) for name in ("1", "2")])
    assert page.table is not None
    said = (
        "With 2 sampled ports, a queue's length is that of the port with the longest queue, counts are sums over "
        "the ports."
    )
    assert page.table.scope == said
    alone = page_of(
        [run_with_ports(tmp_path / f"alone{name}", [BUSY], settings={"senders": name}) for name in ("1", "2")]
    )
    assert alone.table is not None and alone.table.scope == ""


def test_checks_without_a_port_are_of_all_ports(tmp_path: Path) -> None:
    check = {"metric": "drops", "operator": "==", "value": 0, "where": {}}
    (outcome,) = evaluate_checks(read_run(run_with_ports(tmp_path / "run", [QUIET, BUSY], checks=[check])))
    assert (outcome.outcome, outcome.measured) == ("fail", 10_876)


def test_a_summary_of_an_older_version_is_read_as_one_of_today(tmp_path: Path) -> None:
    run = run_with_ports(tmp_path / "run", [QUIET, BUSY])
    today = read_run(run).summary
    file = run / "summary.json"
    data = json.loads(file.read_text())
    data["metrics"]["drops"] = data["metrics"][f"drops[{QUIET}]"]
    file.write_text(json.dumps(data))
    assert read_run(run).summary == today


def test_what_nobody_measured_is_no_number() -> None:
    assert set(over_all_ports({}, [QUIET]).values()) == {None}


def test_the_job_is_the_slowest_one_and_none_while_one_is_not_complete(tmp_path: Path) -> None:
    def jobs(*statuses: str) -> Any:
        plan = plan_of(
            1,
            "cubic",
            64_000,
            [{"kind": "shuffle", "name": name} for name in ("a", "b")],
            "h2",
            lab="jobs",
            title="Jobs",
        )
        trace = "".join(f"{flow},0,h1,h2,5000,,pull,,{name}/shuffle,,{name}\n" for flow, name in enumerate("ab"))
        logs = "".join(
            f"{flow},dst,{status},0,,,{1000 * (flow + 1)},5000,,,,,,\n" for flow, status in enumerate(statuses)
        )
        run = write_run(
            tmp_path / "-".join(statuses),
            plan,
            {"traffic/trace.csv": TRACE_HEADER + trace, "raw/flows/h2.csv": FLOW_HEADER + logs},
        )
        return read_run(run)

    both = jobs("complete", "complete")
    assert (both.summary["job_ns"], both.summary["job_ns[a]"], both.summary["job_ns[b]"]) == (2000, 1000, 2000)
    assert ("Job completion time", "2 us", "b, the slowest of 2") in key_figures(both)
    assert jobs("complete", "stopped").summary["job_ns"] is None
    assert job_metrics(both.flows, both.plan.model_copy(update={"traffic": ()})) == {"job_ns": None}


def test_completion_times_say_what_is_not_in_them(tmp_path: Path) -> None:
    run = run_with_ports(tmp_path / "run", [BUSY])
    trace = run / "traffic/trace.csv"
    trace.write_text(trace.read_text() + "1,0,h2,h3,5000,,push,,,,f\n")
    assert figures_of(run)["Flow completion time, median"][1] == "without 1 incomplete"


@pytest.mark.parametrize(("sampled", "context"), [(["f"], "of f"), (["f", "g"], "")])
def test_a_round_trip_time_says_whose_it_is(tmp_path: Path, sampled: list[str], context: str) -> None:
    run = run_with_ports(tmp_path / "run", [BUSY])
    read_run(run)
    plan = json.loads((run / "plan.json").read_text())
    plan["traffic"].append(whole_traffic({"kind": "flows", "name": "g", "senders": ["h1"], "receiver": "h3"}))
    plan["probes"]["tcp_classes"] = sampled
    (run / "plan.json").write_text(json.dumps(plan))
    assert scope_text(read_run(run), "srtt_mean_us") == context


def test_a_time_of_several_changes_says_which_it_is(tmp_path: Path) -> None:
    run = run_with_ports(tmp_path / "run", [BUSY])
    names = ("cut", "mended")
    events: list[dict[str, object]] = [{"event": "change", "name": name} for name in names]
    events += [{"event": "reconverged", "name": name, "reconvergence_ns": 111} for name in names]
    (run / "events.jsonl").write_text("".join(f"{json.dumps(event)}\n" for event in events))
    assert scope_text(read_run(run), "reconvergence_ns") == "after cut, of 2 changes"


def test_a_figure_of_drops_without_a_port_is_of_all_ports(tmp_path: Path) -> None:
    results = read_run(run_with_ports(tmp_path / "run", [QUIET, BUSY]))
    picture = drops_picture(pool_of_run(results).curve)
    assert picture is not None
    assert picture.title == "Drops and marks at 2 ports"
    assert picture.caption.startswith("10,876 packets dropped and 8 packets marked at 2 ports;")
    assert picture.caption.endswith("Most dropped at s1:eth2: 10,876, most marked at s1:eth2: 7.")


def test_a_figure_of_a_queue_without_a_port_is_of_the_port_that_the_headline_names(tmp_path: Path) -> None:
    assert default_place(read_run(run_with_ports(tmp_path / "run", [QUIET, BUSY]))) == (BUSY, None)


def test_the_rate_of_a_port_is_that_of_its_counter_over_the_busy_time() -> None:
    times_ms = (-1, 0, 10, 20, 30, 40)
    counter = (0, 0, 0, 1_250_000, 2_500_000, 2_500_000)
    rows = pl.LazyFrame(
        {
            "time_ns": [time * 1_000_000 for time in times_ms],
            "port": ["s1:eth1"] * 6,
            **{name: [0] * 6 for name in ("bytes", "packets", "drops", "marks")},
            "sent_bytes": counter,
            "sent_packets": [sent // 1250 for sent in counter],
        }
    )
    assert queue_metrics(rows, ["s1:eth1"], 10_000_000, 30_000_000)["sent_bps[s1:eth1]"] == 1e9
    assert queue_metrics(rows, ["s1:eth1", "s1:eth2"], 9_000_000, 31_000_000)["sent_bps"] == 0.5e9
