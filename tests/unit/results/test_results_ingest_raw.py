"""Raw logs that are cut, broken or gone, and what becomes of them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from small_runs import small_run
from synthetic_run import FLOW_HEADER, QUEUE_HEADER, incast_run

from fabriclab.results import ResultsError, ingest_run, read_run, read_sweep


def test_raw_is_removed_and_ingesting_again_changes_nothing(tmp_path: Path) -> None:
    run = incast_run(tmp_path / "run", 4)
    ingest_run(run)
    before = {path.name: path.read_bytes() for path in run.glob("*.*")}
    ingest_run(run)
    assert not (run / "raw").exists()
    assert {path.name: path.read_bytes() for path in run.glob("*.*")} == before


def test_raw_of_a_run_that_may_still_run_is_left_alone(tmp_path: Path) -> None:
    run = incast_run(tmp_path / "run", 4, status="interrupted", ended=None)
    queues = run / "raw" / "queues.csv"
    text = queues.read_text()
    queues.write_text(text[:-5])
    first = read_run(run)
    assert sorted(path.name for path in (run / "raw").iterdir()) == ["flows", "queues.csv", "tcp.csv"]
    queues.write_text(text)
    ingest_run(run)
    assert not (run / "raw").exists()
    assert (first.notes, read_run(run).notes) == (("raw/queues.csv: the last line was cut off, and is left out",), ())


def test_flows_are_byte_identical_for_the_same_logs(tmp_path: Path) -> None:
    digests = set()
    for name in ("one", "two"):
        run = incast_run(tmp_path / name, 16)
        ingest_run(run)
        digests.add(hashlib.sha256((run / "flows.parquet").read_bytes()).hexdigest())
    assert len(digests) == 1
    assert hashlib.sha256((run / "flows.parquet").read_bytes()).hexdigest() in digests


def test_cut_last_line_is_dropped_with_a_note(tmp_path: Path) -> None:
    run = incast_run(tmp_path / "run", 4)
    queues = run / "raw" / "queues.csv"
    text = queues.read_text()
    queues.write_text(text[: text.rindex(",")])
    results = read_run(run)
    assert results.notes == ("raw/queues.csv: the last line was cut off, and is left out",)
    assert results.measured.queues is not None
    assert results.measured.queues.collect().height == text.count("\n") - 3
    assert not results.is_whole


@pytest.mark.parametrize("left", ["", "# fabriclab-flows-2\n", "# fabriclab-flows-2\nflow,side,sta"])
def test_empty_log_leaves_its_flows_lost(tmp_path: Path, left: str) -> None:
    run = incast_run(tmp_path / "run", 2, rounds=3)
    (run / "raw/flows/client.csv").write_text(left)
    results = read_run(run)
    assert results.notes == ("raw/flows/client.csv: empty",)
    assert (results.summary["flows"], results.summary["flows_lost"], results.summary["goodput_bps"]) == (6, 6, None)


def test_run_without_raw_is_all_lost(tmp_path: Path) -> None:
    run = small_run(tmp_path, "0,0,h1,h3,5000,,push,,,,web\n", {}, manifest={"status": "crashed"})
    results = read_run(run)
    assert results.summary["flows_lost"] == 1
    assert results.notes == ("raw/queues.csv: missing", "raw/tcp.csv: missing")


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("raw/queues.csv", "# fabriclab-queues-9\n\n", "raw/queues.csv:1: '# fabriclab-queues-9'"),
        (
            "raw/queues.csv",
            QUEUE_HEADER.replace("drops", "dropped"),
            "raw/queues.csv:2: columns: missing drops; unknown dropped",
        ),
        (
            "raw/queues.csv",
            QUEUE_HEADER + "0,p,0,0,0,0,0,0,0\n7,p,x1,0,0,0,0,0,0\n",
            "raw/queues.csv:4: bytes: 'x1' is not a number",
        ),
        (
            "raw/queues.csv",
            QUEUE_HEADER + "0,p,0,0,0,0,0,0,0\n7,p,1,0,0,0,0,0,0,0\n",
            "raw/queues.csv:4: the row has 10 values",
        ),
        ("raw/flows/h3.csv", FLOW_HEADER + "zero,dst,complete,,,,,,,,,,,,,\n", "raw/flows/h3.csv:3: flow: 'zero'"),
        ("raw/flows/h3.csv", FLOW_HEADER + "0,dst,complete,,,,,,,,,,,,,\n" * 2, "flow 0: one side has two rows"),
    ],
)
def test_broken_file_is_named_and_raw_is_kept(tmp_path: Path, file: str, text: str, message: str) -> None:
    run = small_run(tmp_path, "0,0,h1,h3,5000,,push,,,,web\n", {}, **{file: text})
    with pytest.raises(ResultsError) as caught:
        ingest_run(run)
    assert message in str(caught.value)
    assert (run / file).read_text() == text


def test_other_directories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match=r"manifest\.json: missing"):
        read_run(tmp_path)
    (tmp_path / "sweep.json").write_text('{"format": "fabriclab-sweep-2"}')
    with pytest.raises(ResultsError, match="fabriclab-sweep-2"):
        read_sweep(tmp_path)
