"""Figures and numbers that were asked for and cannot be shown: `check` names file and line,
the report says why in their place."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import fake_machine
import pytest
from probed_labs import LONG, QUERY, lab
from repository import LABS
from synthetic_run import incast_run, incast_sweep
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.report import write_pictures
from fabriclab.report.drawing.exhibits import Absent
from fabriclab.report.notebook import figures_of
from fabriclab.report.page import page_of

TRACE = "mine: {kind: trace, file: mine.csv}"
FLOWS = "# fabriclab-trace-1\nflow,start_ns,src,dst,size_bytes\n0,0,h1,h3,5000\n"
PROBES = "probes: {queues: {ports: ['s2:eth2']}}\n"


def check(directory: Path) -> list[str]:
    result = CliRunner().invoke(app, ["check", str(directory)])
    assert result.exit_code == 0, result.output
    return [line for line in result.output.splitlines() if "cannot be" in line]


def asking(directory: Path, traffic: str, *figures: str, more: str = PROBES) -> list[str]:
    listed = "".join(f"    - {figure}\n" for figure in figures)
    return check(lab(directory, traffic, f"{more}report:\n  figures:\n{listed}"))


@pytest.mark.parametrize(
    ("traffic", "figure", "why"),
    [
        (
            LONG,
            "{kind: queue, port: s1:eth1}",
            "queue cannot be drawn: s1:eth1 is not sampled; probes.queues.ports has s2:eth2",
        ),
        (
            LONG,
            "{kind: drops, port: s1:eth1}",
            "drops cannot be drawn: s1:eth1 is not sampled; probes.queues.ports has s2:eth2",
        ),
        (LONG, "{kind: cwnd}", "cwnd cannot be drawn: no TCP connection is sampled; write probes: {tcp: {}}"),
        (
            LONG,
            "{kind: buffer, switch: s1}",
            "buffer cannot be drawn: no switch with a shared buffer is sampled (probes.switches)",
        ),
        (
            LONG,
            "{kind: fct-cdf}",
            "fct-cdf cannot be drawn: flows of all traffic are long, and have no completion time",
        ),
        (QUERY, "{kind: deadlines, traffic: ask}", "deadlines cannot be drawn: no flow has a deadline"),
        (
            f"{LONG}\n  {QUERY.replace('stop', 'enabled: false, stop')}",
            "{kind: fct-cdf, traffic: ask}",
            "fct-cdf cannot be drawn: no flow has class ask; the classes are long",
        ),
    ],
)
def test_check_names_a_figure_that_cannot_be_drawn(tmp_path: Path, traffic: str, figure: str, why: str) -> None:
    lines = len(lab(tmp_path, traffic, PROBES).joinpath("experiment.yml").read_text().splitlines())
    assert asking(tmp_path, traffic, figure) == [f"warning: experiment.yml:{lines + 3}: report.figures[0]: {why}"]


def test_check_reads_the_classes_of_a_trace(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(FLOWS)
    (line,) = asking(tmp_path, TRACE, "{kind: fct-cdf, traffic: mice}", "{kind: fct-cdf}")
    assert line.endswith("report.figures[0]: fct-cdf cannot be drawn: no flow has class mice; the classes are none")
    (tmp_path / "mine.csv").write_text(FLOWS.replace("size_bytes", "size_bytes,class").replace("5000", "5000,mice"))
    assert asking(tmp_path, TRACE, "{kind: fct-cdf, traffic: mice}") == []


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ("drops[s1:eth1]", "s1:eth1 is not sampled; probes.queues.ports has s2:eth2"),
        ("srtt_mean_us", "no TCP connection is sampled; write probes: {tcp: {}}"),
        ("jain_phase_min", "no TCP connection is sampled; write probes: {tcp: {}}"),
        ("queue_drops", "no switch with a shared buffer is sampled (probes.switches)"),
        ("pool_max_bytes", "no switch with a shared buffer is sampled (probes.switches)"),
        ("reconvergence_ns", "routes are static; write routing: {protocol: bgp-unnumbered}"),
        ("job_ns", "there is no shuffle, collective or Hadoop job"),
        ("shuffle_retransmits", "there is no Hadoop job"),
        ("coflow_p99_ns", "no traffic has coflows"),
        ("coflow_deadline_misses", "no traffic has coflows"),
        ("deadline_misses", "flows of all traffic are long, and have no completion time"),
    ],
)
def test_check_names_a_condition_on_what_is_not_measured(tmp_path: Path, metric: str, why: str) -> None:
    more = (
        f"{PROBES}checks:\n  - {{metric: '{metric}', operator: '>', value: "
        f"{'1 ms' if metric.endswith(('_ns', '_us')) else '1'}}}\n"
    )
    more = more.replace("value: 1}", "value: 1 KB}") if metric.endswith("_bytes") else more
    (line,) = check(lab(tmp_path, LONG, more))
    assert line.partition("checks[0]: ")[2] == f"{metric} cannot be measured: {why}"


def test_what_one_point_shows_is_no_warning(tmp_path: Path) -> None:
    more = "variants: {one: {limit: 5 s}, two: {traffic.ask.enabled: true}}\nmatrix: {m: {variant: [one, two]}}\n"
    traffic = f"{LONG}\n  {QUERY.replace('stop', 'enabled: false, stop')}"
    assert asking(tmp_path, traffic, "{kind: fct-cdf, traffic: ask}", more=PROBES + more) == []
    figure = "{kind: metric, metric: goodput_bps, x: buffer}"
    more = (
        "parameters: {buffer: switches.default.buffer}\nmatrix: {m: {buffer: [64 KB]}, n: {buffer: [64 KB, 128 KB]}}\n"
    )
    assert asking(tmp_path, LONG, figure, more=PROBES + more) == []
    (line,) = asking(tmp_path, LONG, figure, more=PROBES + more.replace(", 128 KB", ""))
    assert line.endswith("metric cannot be drawn: no matrix varies buffer")


@pytest.mark.parametrize("name", ["mptcp-short-flows", "sonic-leaf-spine", "multi-hop"])
def test_shipped_labs_show_all_that_they_ask_for(name: str, tmp_path: Path) -> None:
    """With one seed of each matrix: what its points show, those of all seeds show."""
    copied = shutil.copytree(LABS / name, tmp_path / name)
    experiment = copied / "experiment.yml"
    experiment.write_text(re.sub(r"(?m)^( +seed: [0-9]+)\.\.[0-9]+$", r"\1", experiment.read_text()))
    assert check(copied) == []


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_runs_say_so_before_they_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "fabriclab.api.engine.find_artefacts", lambda: fake_machine.artefacts(tmp_path, fake_machine.END)
    )
    more = (
        "variants: {one: {limit: 5 s}, two: {traffic.ask.enabled: true}}\nmatrix: {m: {variant: [one]}, n: {variant: "
        "[two]}}\n"
    )
    more += "checks:\n  - {metric: srtt_mean_us, operator: '>', value: 1 ms}\n"
    traffic = f"{LONG}\n  {QUERY.replace('stop', 'enabled: false, stop')}"
    checked = asking(tmp_path, traffic, "{kind: cwnd}", "{kind: fct-cdf, traffic: ask}", more=PROBES + more)
    said = CliRunner().invoke(app, [command, str(tmp_path), "--out", "out"]).stderr
    # What another variant shows is missing in this run, and no mistake.
    assert [line for line in said.splitlines() if "cannot be" in line] == checked
    assert [line.partition(": no ")[0].rpartition(": ")[2] for line in checked] == [
        "cwnd cannot be drawn",
        "srtt_mean_us cannot be measured",
    ]


def with_figures(run: Path, *figures: dict[str, Any]) -> Path:
    manifest = json.loads((run / "manifest.json").read_text())
    (run / "manifest.json").write_text(json.dumps(manifest | {"report": {"figures": list(figures)}}))
    return run


def absent(path: Path) -> dict[str, str]:
    return {exhibit.title: exhibit.reason for exhibit in page_of([path]).exhibits if isinstance(exhibit, Absent)}


def test_the_report_says_why_in_the_place_of_a_figure(tmp_path: Path) -> None:
    figures: list[dict[str, Any]] = [
        {"kind": "fct-cdf", "traffic": ["mice"]},
        {"kind": "fct-cdf"},
        {"kind": "queue", "port": "s1:eth1"},
        {"kind": "buffer", "switch": "s1"},
        {"kind": "throughput"},
        {"kind": "metric", "metric": "goodput_bps", "x": "senders"},
        {"kind": "metric", "metric": "drops", "x": "senders"},
    ]
    run = with_figures(incast_run(tmp_path / "run", 4), *figures)
    assert absent(run) == {
        "Flow completion times (mice)": "no flow of mice has a completion time; sru has completion times",
        "Queue over time (s1:eth1)": "s1:eth1 was not sampled (probes.queues)",
        "Buffer (s1)": "no switch with a shared buffer was sampled (probes.switches)",
        "Throughput of long flows": "no long flow was sampled (probes.tcp.traffic)",
        "Goodput against senders; Packets dropped against senders": (
            "the parameter of the horizontal axis has only one value here; a sweep that varies it shows the figure"
        ),
    }
    first, second, *_ = page_of([run]).exhibits
    assert isinstance(first, Absent) and second.title == "Flow completion times"
    result = CliRunner().invoke(app, ["report", str(run)])
    assert result.exit_code == 0
    html = (run / "report.html").read_text()
    assert "<b>Queue over time (s1:eth1)</b>: not shown, s1:eth1 was not sampled (probes.queues)." in html
    assert "Not shown: s1:eth1 was not sampled (probes.queues)." in figures_of(run)._repr_html_()
    assert not any("buffer" in file.name for file in write_pictures([run], tmp_path / "pictures"))


def test_so_does_that_of_a_sweep(tmp_path: Path) -> None:
    directory = incast_sweep(tmp_path / "sweep", senders=(1, 4))
    for run in directory.glob("points/*"):
        with_figures(
            run,
            {"kind": "metric", "metric": "job_ns", "x": "senders"},
            {"kind": "metric", "metric": "goodput_bps", "x": "senders"},
            {"kind": "queue", "where": {"variant": ["bbr"]}},
        )
    assert absent(directory) == {
        "Job completion time against senders": "no point has Job completion time",
        "Queue over time": "no point with the parameters of its `where` has results",
    }


def test_figures_that_nobody_asked_for_leave_nothing(tmp_path: Path) -> None:
    assert absent(with_figures(incast_run(tmp_path / "run", 4))) == {}
