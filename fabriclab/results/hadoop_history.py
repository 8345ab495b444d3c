"""Hadoop's own history of its jobs: the `.jhist` files that an application master writes, one event a line.

Source: org.apache.hadoop.mapreduce.jobhistory of Hadoop 3.4 (EventWriter, Events.avpr); times are milliseconds of the
cluster's date.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fabriclab.results.csv_logs import ResultsError
from fabriclab.results.hadoop_times import TIME_COLUMNS

HEAD = "Avro-Json"
_MS = 10**6
Row = dict[str, Any]
_COUNTERS = {
    "hdfs_read_bytes": "HDFS_BYTES_READ",
    "hdfs_written_bytes": "HDFS_BYTES_WRITTEN",
    "shuffled_bytes": "REDUCE_SHUFFLE_BYTES",
    "spilled_records": "SPILLED_RECORDS",
    "failed_shuffles": "FAILED_SHUFFLE",
}
"""Columns of Hadoop's counters, of jobs and of attempts."""
_RECORDS = {
    "map": {"input_records": "MAP_INPUT_RECORDS", "output_records": "MAP_OUTPUT_RECORDS"},
    "reduce": {"input_records": "REDUCE_INPUT_RECORDS", "output_records": "REDUCE_OUTPUT_RECORDS"},
}
JOB_COLUMNS = (
    *("cluster", "job", "job_id", "name", "submit_ns", "launch_ns", "end_ns", "status", "maps", "reduces"),
    *_COUNTERS,
    *TIME_COLUMNS,
    "diagnostics",
)
TASK_COLUMNS = (
    *(
        "cluster",
        "job_id",
        "attempt",
        "container",
        "task",
        "node",
        "start_ns",
        "shuffle_end_ns",
        "sort_end_ns",
        "end_ns",
        "status",
    ),
    *("input_records", "output_records"),
    *_COUNTERS,
    "diagnostics",
)
TEXTS = ("cluster", "job", "job_id", "name", "status", "diagnostics", "attempt", "container", "task", "node")
"""Columns that hold text; the others hold whole numbers."""


def read_history(path: Path, zero_ns: int) -> tuple[Row, list[Row]]:
    """Return the row of a history's job, without its cluster and its name in the lab, and those of its tasks' attempts.

    `zero_ns`: what the cluster's date was at the epoch. Raises ResultsError, with file and line, for what is none.
    """
    job: Row = {}
    tasks: dict[str, Row] = {}
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
            row |= _attempt(event, zero_ns)
    for row in tasks.values():
        row["job_id"] = job.get("job_id")
        if row.get("task") == "master":
            # Nobody writes down its end: it writes the history, and ends when the job has.
            row |= {"end_ns": job.get("end_ns"), "status": job.get("status")}
    return job, list(tasks.values())


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


def _counted(counters: Mapping[str, Any] | None, columns: Mapping[str, str]) -> Row:
    """Return Hadoop's counters that have a column; None of one that was not counted."""
    groups = (counters or {}).get("groups", ())
    values = {one["name"]: one["value"] for group in groups for one in group["counts"]}
    return {column: values.get(counter) for column, counter in columns.items()}


def _optional(value: Any) -> str | None:
    """Return a text that may be null; Avro's JSON names the type of such a one."""
    text = value.get("string") if isinstance(value, dict) else value
    return text or None


def _job_of(application: str) -> str:
    _, cluster, number, *_ = application.split("_")
    return f"job_{cluster}_{number}"


def _time(date_ms: int, zero_ns: int) -> int:
    return date_ms * _MS - zero_ns
