"""The metrics that an experiment may name are those that a run's summary has."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from repository import ROOT
from small_runs import collective_run, query_run, recovery_run
from switch_runs import switch_run, trimming_run
from synthetic_hadoop_run import hadoop_run
from synthetic_run import incast_run, long_run, program_run

from fabriclab.formats.flow_metrics import FLOWS, JOBS
from fabriclab.formats.metrics import BY_NAME, METRICS, QUEUES, ROUTING, SWITCHES, TCP
from fabriclab.lab.metrics import (
    POOL_METRICS,
    PORT_METRICS,
    TRAFFIC_METRICS,
    WHOLE_METRICS,
    check_metric,
    parse_metric_value,
)
from fabriclab.lab.reading.names import Names
from fabriclab.results import ingest_run, read_run

NAMES = Names(hosts=("h1", "h2"), switches=("s1",), ports=("h1:eth1", "s1:eth1"), switch_ports=("s1:eth1",))

REFERENCE = ROOT / "docs" / "metrics.md"
HEAD = """# Metrics

These are the numbers in the summary of a run (`summary.json`, `run.summary`), which checks and figures may name. A name
alone is the value of the whole run. If the column `of` says so, `NAME[long]` is the value of a class of flows,
`NAME[s1:eth3]` of a port, `NAME[s1:eth3:5]` of a queue, and `NAME[s1:shared]` of a pool. The word in parentheses says
how the value of the run follows from these: as their sum, or as the largest. A number that was not measured is null.
The tables are made of `fabriclab/formats/metrics.py` and `flow_metrics.py`."""

NAMEABLE = (
    "queue_drops",
    "pauses_received[h1:eth1]",
    "ecn_marks[s1:eth1:7]",
    "pauses_sent[s1:eth1]",
    "pool_max_bytes[s1:shared]",
)


def test_they_are_the_summarys(tmp_path: Path) -> None:
    runs = [incast_run(tmp_path / "incast", 4), long_run(tmp_path / "long"), switch_run(tmp_path / "switch")]
    runs += [
        trimming_run(tmp_path / "trimming"),
        program_run(tmp_path / "programs"),
        hadoop_run(tmp_path / "hadoop"),
        query_run(tmp_path / "query"),
        collective_run(tmp_path / "collective"),
        recovery_run(tmp_path / "recovery"),
    ]
    whole: set[str] = set()
    bracketed: set[str] = set()
    for run in runs:
        ingest_run(run)
        for name in read_run(run).summary:
            (bracketed if "[" in name else whole).add(name.partition("[")[0])
    assert whole == set(WHOLE_METRICS), "formats/metrics.py and fabriclab/results do not have the same metrics"
    assert bracketed == {*PORT_METRICS, *TRAFFIC_METRICS, *POOL_METRICS}


def test_a_name_stands_once() -> None:
    assert [metric.name for metric in METRICS] == list(BY_NAME)


def unit(name: str) -> str:
    return {"bps": "bit/s", "bytes": "bytes", "ns": "ns", "us": "us"}.get(name.rpartition("_")[2], "")


def reference() -> str:
    """Return docs/metrics.md."""
    families = (
        ("Flows", (*FLOWS, *JOBS)),
        ("Queues of sampled ports", QUEUES),
        ("Sampled connections", TCP),
        ("Routing", ROUTING),
        ("Switches with a shared buffer", SWITCHES),
    )
    lines = [HEAD]
    for title, metrics in families:
        lines += [f"\n## {title}\n", "| metric | unit | of | definition |", "|---|---|---|---|"]
        for one in metrics:
            places = ", ".join(one.of) + (f" ({one.together})" if one.together and len(one.of) > 1 else "")
            lines.append(f"| {one.name} | {unit(one.name)} | {places} | {one.meaning} |")
    return "\n".join(lines) + "\n"


def test_the_reference_is_made_of_the_list() -> None:
    if os.environ.get("FABRICLAB_ACCEPT"):
        REFERENCE.write_text(reference())
    assert REFERENCE.read_text() == reference(), "FABRICLAB_ACCEPT=1 writes docs/metrics.md anew"


@pytest.mark.parametrize("name", ["goodput_bps", "drops", "drops[s1:eth1]", "throughput_bps[long]", *NAMEABLE])
def test_good_metrics(name: str) -> None:
    assert check_metric(name, NAMES, ("long",)) == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("queue_drops[s1:eth1:8]", "'8' is not a queue; write a number from 0 to 7"),
        ("queue_drops[s1:eth9:1]", "'s1:eth9' is not a port; did you mean 's1:eth1'?"),
        ("pauses_sent[s1:eth1:3]", "'pauses_sent' belongs to a port, not to a queue; write pauses_sent[s1:eth1]"),
        ("drops[s1:eth1:3]", "'drops' belongs to a port, not to a queue; write drops[s1:eth1]"),
        ("pool_max_bytes[shared]", "'shared' is not a pool; write the switch and the pool, such as s1:shared"),
        ("headroom_max_bytes[s2:shared]", "'s2' is not a switch; valid here: s1"),
    ],
)
def test_bad_switch_metrics(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        check_metric(name, NAMES, ("long",))


def test_a_trace_brings_its_own_classes() -> None:
    assert check_metric("throughput_bps[web-search]", NAMES, None) == "throughput_bps[web-search]"


@pytest.mark.parametrize(
    ("metric", "text", "value"),
    [
        ("goodput_bps", "250 Mbps", 250e6),
        ("throughput_bps[long]", "1 Gbps", 1e9),
        ("queue_max_bytes[s1:eth1]", "64 KB", 64e3),
        ("bytes", "1 MB", 1e6),
        ("fct_p99_ns", "5 ms", 5e6),
        ("srtt_mean_us", "1.5 ms", 1500.0),
        ("timeouts", "3", 3.0),
        ("jain_fairness", "0.95", 0.95),
    ],
)
def test_values_are_in_the_metrics_own_unit(metric: str, text: str, value: float) -> None:
    assert parse_metric_value(metric, text) == value


@pytest.mark.parametrize(
    ("metric", "text"), [("timeouts", "nan"), ("timeouts", "1e30"), ("timeouts", "3 s"), ("goodput_bps", "3")]
)
def test_bad_values(metric: str, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        parse_metric_value(metric, text)
