"""What iperf3 measured, as rows of the flow log. The reports are cut from what iperf 3.18 wrote in the machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabriclab.formats.logs import EXEC_LOG, FLOW_LOG
from fabriclab.results.csv_logs import ResultsError, schema_of
from fabriclab.results.iperf3 import scan_iperf3

CLIENT_ENDED = "interrupt - the client has terminated"
SERVER_ENDED = "interrupt - the server has terminated"
FAREWELL = "the client has terminated"
REFUSED = "unable to connect to server - server may have stopped running: Connection refused"


def sender(seconds: float = 0.99949, bytes_: int = 120_422_400) -> dict[str, Any]:
    mine = {"seconds": seconds, "bytes": bytes_, "retransmits": 42, "max_rtt": 1176, "min_rtt": 1176, "mean_rtt": 1176}
    return {"streams": [{"sender": mine, "receiver": {"seconds": seconds, "bytes": 0}}]}


def receiver(seconds: float, bytes_: int = 117_751_808) -> dict[str, Any]:
    return {
        "streams": [{"sender": {"seconds": seconds, "bytes": 0}, "receiver": {"seconds": seconds, "bytes": bytes_}}]
    }


def write(run_dir: Path, name: str, record: str, report: dict[str, Any] | str = "") -> None:
    text = report if isinstance(report, str) else json.dumps(report, indent="\t") + "\n"
    path = run_dir / "raw" / "iperf3" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{EXEC_LOG.head}{record}\n{text}")


def rows_of(run_dir: Path) -> dict[str, dict[str, Any]]:
    """Return what is there of each row, by flow and side."""
    rows = scan_iperf3(run_dir).rows.collect().to_dicts()
    return {
        f"{row['flow']}-{row['side']}": {name: value for name, value in row.items() if value is not None}
        for row in rows
    }


def test_both_sides_that_were_ended_tell_their_own_time(tmp_path: Path) -> None:
    write(tmp_path, "7-src.log", "256,1000000256,until,exit 1", {"end": sender(), "error": CLIENT_ENDED})
    write(
        tmp_path, "7-dst.log", "-10928536,1002000256,until,exit 1", {"end": receiver(1.001542), "error": SERVER_ENDED}
    )
    assert rows_of(tmp_path) == {
        "7-dst": {
            "flow": 7,
            "side": "dst",
            "status": "stopped",
            "first_byte_ns": 458_256,
            "end_ns": 1_002_000_256,
            "bytes": 117_751_808,
        },
        "7-src": {
            "flow": 7,
            "side": "src",
            "status": "stopped",
            "start_ns": 256,
            "first_byte_ns": 510_256,
            "end_ns": 1_000_000_256,
            "bytes": 120_422_400,
            "retransmits": 42,
            "srtt_us": 1176,
        },
    }


def test_a_server_that_the_farewell_ended_takes_the_senders_begin(tmp_path: Path) -> None:
    write(tmp_path, "0-src.log", "256,1000000256,until,exit 1", {"end": sender(), "error": CLIENT_ENDED})
    write(tmp_path, "0-dst.log", "-10928536,1001193288,itself,exit 0", {"end": receiver(0.01146), "error": FAREWELL})
    row = rows_of(tmp_path)["0-dst"]
    assert (row["status"], row["first_byte_ns"], row["end_ns"]) == ("stopped", 510_256, 1_001_193_288)
    (tmp_path / "raw" / "iperf3" / "0-src.log").unlink()
    assert "first_byte_ns" not in rows_of(tmp_path)["0-dst"], "nobody knows"


def test_an_error_is_a_failure(tmp_path: Path) -> None:
    write(tmp_path, "0-src.log", "256,105792,itself,exit 1", {"end": {}, "error": REFUSED})
    write(tmp_path, "0-dst.log", "-9,1002000256,until,exit 1", {"end": {}, "error": SERVER_ENDED})
    rows = rows_of(tmp_path)
    assert rows["0-src"] == {"flow": 0, "side": "src", "status": f"failed: {REFUSED}", "start_ns": 256}
    assert rows["0-dst"] == {"flow": 0, "side": "dst", "status": "unstarted"}


@pytest.mark.parametrize("end", [{}, {"streams": []}, {"streams": None}])
def test_a_client_that_never_connected_is_unstarted(tmp_path: Path, end: dict[str, Any]) -> None:
    write(tmp_path, "0-src.log", "256,1000000256,until,exit 1", {"end": end, "error": CLIENT_ENDED})
    assert rows_of(tmp_path)["0-src"] == {"flow": 0, "side": "src", "status": "unstarted", "start_ns": 256}


def test_a_time_that_never_came_is_unstarted(tmp_path: Path) -> None:
    write(tmp_path, "3-src.log", ",,signal,")
    assert rows_of(tmp_path) == {"3-src": {"flow": 3, "side": "src", "status": "unstarted"}}


def test_rows_have_the_flow_logs_columns_and_order(tmp_path: Path) -> None:
    assert scan_iperf3(tmp_path).rows.collect().is_empty(), "without a directory"
    for flow in (10, 9, 2):
        write(tmp_path, f"{flow}-src.log", "256,1000000256,until,exit 1", {"end": sender(), "error": CLIENT_ENDED})
    rows = scan_iperf3(tmp_path).rows.collect()
    assert dict(rows.schema) == schema_of(FLOW_LOG)
    assert rows["flow"].to_list() == [2, 9, 10]


@pytest.mark.parametrize("kept", [0, 5, len(EXEC_LOG.first_line) + 1, len(EXEC_LOG.head), 100, 300])
def test_a_file_that_is_cut_off_is_noted(tmp_path: Path, kept: int) -> None:
    write(tmp_path, "0-src.log", "256,1000000256,until,exit 1", {"end": sender(), "error": CLIENT_ENDED})
    path = tmp_path / "raw" / "iperf3" / "0-src.log"
    path.write_text(path.read_text()[:kept])
    scan = scan_iperf3(tmp_path)
    assert scan.rows.collect().is_empty()
    (note,) = scan.notes
    assert note.startswith("raw/iperf3/0-src.log: ")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        (
            "0-src.log",
            "exec-1",
            "exec-2",
            r"raw/iperf3/0-src.log:1: '# fabriclab-exec-2': must be '# fabriclab-exec-1'",
        ),
        ("0-src.log", "start_ns", "start", r"raw/iperf3/0-src.log:2: 'start,end_ns"),
        (
            "0-src.log",
            "until",
            "lunch",
            r"raw/iperf3/0-src.log:3: '256,1000000256,lunch,exit 1': must be the values of start_ns,",
        ),
        ("zero.log", "", "", r"raw/iperf3/zero.log: the name must be that of a flow and a side"),
    ],
)
def test_what_replay_exec_did_not_write_is_an_error(
    tmp_path: Path, name: str, old: str, new: str, message: str
) -> None:
    write(tmp_path, name, "256,1000000256,until,exit 1", {"end": sender(), "error": CLIENT_ENDED})
    path = tmp_path / "raw" / "iperf3" / name
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ResultsError, match=message):
        scan_iperf3(tmp_path)


@pytest.mark.parametrize("report", ["", {"end": sender(), "error": CLIENT_ENDED}])
def test_a_side_whose_host_went_down_has_failed(tmp_path: Path, report: dict[str, Any] | str) -> None:
    write(tmp_path, "7-src.log", "256,500000000,power,signal 9", report)
    row = rows_of(tmp_path)["7-src"]
    assert (row["status"], row["start_ns"]) == ("failed: EHOSTDOWN", 256)
    assert ("bytes" in row) is bool(report)
