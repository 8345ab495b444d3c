"""Hadoop's own history of its jobs: the `.jhist` files that an application master writes, one event a line.

Source: org.apache.hadoop.mapreduce.jobhistory of Hadoop 3.4 (EventWriter, Events.avpr); times are milliseconds of the
cluster's date.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fabriclab.hadoop.results.times import TIME_COLUMNS
from fabriclab.hadoop.unmeasured import OF_CONNECTIONS as SHUFFLE_LOSSES
from fabriclab.results.csv_logs import ResultsError

HEAD = "Avro-Json"
_MS = 10**6
Row = dict[str, Any]
Columns = Mapping[str, str | tuple[str, ...]]
"""Of each column the counter, or those that are added up."""
SHUFFLE_ERRORS: Columns = {
    "shuffle_connection_errors": "CONNECTION",
    "shuffle_io_errors": "IO_ERROR",
    "shuffle_data_errors": ("BAD_ID", "WRONG_LENGTH", "WRONG_MAP", "WRONG_REDUCE"),
}
"""Hadoop's group `Shuffle Errors`; Tez counts the same."""
_COUNTERS: Columns = {
    "hdfs_read_bytes": "HDFS_BYTES_READ",
    "hdfs_written_bytes": "HDFS_BYTES_WRITTEN",
    "shuffled_bytes": "REDUCE_SHUFFLE_BYTES",
    "spilled_records": "SPILLED_RECORDS",
    "failed_shuffles": "FAILED_SHUFFLE",
    **SHUFFLE_ERRORS,
}
"""Columns of Hadoop's counters, of jobs and of attempts."""
_RECORDS: Mapping[str, Columns] = {
    "map": {"input_records": "MAP_INPUT_RECORDS", "output_records": "MAP_OUTPUT_RECORDS"},
    "reduce": {"input_records": "REDUCE_INPUT_RECORDS", "output_records": "REDUCE_OUTPUT_RECORDS"},
}
JOB_COLUMNS = (
    *("cluster", "job", "job_id", "name", "submit_ns", "launch_ns", "end_ns", "status", "maps", "reduces"),
    *_COUNTERS,
    *TIME_COLUMNS,
    *("fetch_failures", *SHUFFLE_LOSSES, "failed_attempts", "killed_attempts", "rerun_maps", "diagnostics"),
)
TASK_COLUMNS = (
    *("cluster", "job_id", "attempt", "container", "task", "node", "start_ns", "shuffle_end_ns", "sort_end_ns"),
    *("end_ns", "status", "input_records", "output_records"),
    *_COUNTERS,
    *("fetch_failures", "diagnostics"),
)
TEXTS = ("cluster", "job", "job_id", "name", "status", "diagnostics", "attempt", "container", "task", "node")
"""Columns that hold text; the others hold whole numbers."""


def read_history(path: Path, zero_ns: int) -> tuple[Row, list[Row]]:
    """Return the row of a history's job, without its cluster and its name in the lab, and those of its tasks' attempts.

    `zero_ns`: what the cluster's date was at the epoch. Raises ResultsError, with file and line, for what is none.
    """
    job: Row = {}
    tasks: dict[str, Row] = {}
    lost: set[str] = set()
    for kind, event in _events(path):
        if kind in ("JOB_SUBMITTED", "JOB_INITED"):
            job |= _began(event, zero_ns)
        elif kind.startswith("JOB_") and "finishTime" in event:
            job |= _ended(event, zero_ns)
        elif kind == "AM_STARTED":
            job.setdefault("job_id", _job_of(event["applicationAttemptId"]))
            row = {
                "attempt": event["containerId"],
                "container": event["containerId"],
                "task": "master",
                "node": event["nodeManagerHost"],
            }
            tasks[event["containerId"]] = row | {"start_ns": _time(event["startTime"], zero_ns), "status": None}
        elif "_ATTEMPT_" in kind:
            row = tasks.setdefault(event["attemptId"], {"attempt": event["attemptId"]})
            follow(row, _attempt(event, zero_ns), lost)
    for row in tasks.values():
        row["job_id"] = job.get("job_id")
        if row.get("task") == "master":
            # Nobody writes down its end: it writes the history, and ends when the job has.
            row |= {"end_ns": job.get("end_ns"), "status": job.get("status")}
    return job | ended_early(tasks.values(), lost), list(tasks.values())


def follow(row: Row, later: Row, lost: set[str]) -> None:
    """Add to an attempt's row what is said of it later. One that had ended well and then failed or is killed is lost:
    its output was, with its node, or because reducers could not fetch it."""
    if row.get("status") == "SUCCEEDED" and later.get("status") not in (None, "SUCCEEDED"):
        lost.add(row["attempt"])
    row |= later


def ended_early(tasks: Iterable[Row], lost: Collection[str]) -> Row:
    """Return how many attempts of tasks failed, how many were killed, and how many of the maps had ended well before:
    they run again."""
    ended = [row.get("status") for row in tasks if row.get("task") != "master"]
    numbers = {"failed_attempts": ended.count("FAILED"), "killed_attempts": ended.count("KILLED")}
    return numbers | {"rerun_maps": len(lost)}


def counted(values: Mapping[str, int], columns: Columns) -> Row:
    """Return Hadoop's counters that have a column, out of their values by name; nothing of one that was not counted."""
    row: Row = {}
    for column, counters in columns.items():
        found = [values[name] for name in ((counters,) if isinstance(counters, str) else counters) if name in values]
        row |= {column: sum(found)} if found else {}
    return row


def _events(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    if not lines or lines[0] != HEAD:
        raise ResultsError(f"{path}:1: {lines[0][:40] if lines else ''!r}; a job's history begins with {HEAD!r}")
    # The second line is the schema; the last one may be cut where the application master died.
    for number, line in enumerate(lines[2:], start=3):
        if line.strip():
            try:
                found = json.loads(line)
                (event,) = found["event"].values()
                yield str(found["type"]), event
            except (ValueError, KeyError, AttributeError, TypeError) as error:
                if number == len(lines):
                    return
                raise ResultsError(f"{path}:{number}: no event of a job's history: {line[:60]!r}") from error


def _began(event: Mapping[str, Any], zero_ns: int) -> Row:
    row: Row = {"job_id": event["jobid"]}
    if "submitTime" in event:
        row |= {"name": event["jobName"], "submit_ns": _time(event["submitTime"], zero_ns), "status": "RUNNING"}
    if "launchTime" in event:
        row |= {"launch_ns": _time(event["launchTime"], zero_ns)}
        row |= {"maps": event["totalMaps"], "reduces": event["totalReduces"]}
    return row


def _ended(event: Mapping[str, Any], zero_ns: int) -> Row:
    row: Row = {"end_ns": _time(event["finishTime"], zero_ns), "status": event.get("jobStatus", "SUCCEEDED")}
    row["diagnostics"] = _optional(event.get("diagnostics"))
    return row | _counted(event.get("totalCounters"), _COUNTERS)


def _attempt(event: Mapping[str, Any], zero_ns: int) -> Row:
    task = str(event["taskType"]).lower()
    row: Row = {"task": task}
    if "startTime" in event:
        node = event.get("trackerName") or ""
        begun = {"container": event.get("containerId"), "start_ns": _time(event["startTime"], zero_ns), "status": None}
        return row | {"node": node.partition(":")[0], **begun}
    row["status"] = event.get("taskStatus") or event.get("status")
    # One that was given up before it began has ended at 0, on a node that is unknown.
    if event["finishTime"] > 0:
        row |= {"end_ns": _time(event["finishTime"], zero_ns), "node": event.get("hostname")}
    if error := _optional(event.get("error")):
        row["diagnostics"] = error
    if task == "reduce" and event.get("shuffleFinishTime", -1) > 0:
        row["shuffle_end_ns"] = _time(event["shuffleFinishTime"], zero_ns)
        row["sort_end_ns"] = _time(event["sortFinishTime"], zero_ns)
    return row | _counted(event.get("counters"), {**_COUNTERS, **_RECORDS.get(task, {})})


def _counted(counters: Mapping[str, Any] | None, columns: Columns) -> Row:
    groups = (counters or {}).get("groups", ())
    return counted({one["name"]: one["value"] for group in groups for one in group["counts"]}, columns)


def _optional(value: Any) -> str | None:
    """Return a text that may be null; Avro's JSON names the type of such a one."""
    text = value.get("string") if isinstance(value, dict) else value
    return text or None


def _job_of(application: str) -> str:
    _, cluster, number, *_ = application.split("_")
    return f"job_{cluster}_{number}"


def _time(date_ms: int, zero_ns: int) -> int:
    return date_ms * _MS - zero_ns
