"""Tez' own history of its jobs, and what its reducers fetched: the files `history.txt...` that application masters
write, a record of JSON before each byte 1, and the logs of attempts.

Source: SimpleHistoryLoggingService, HistoryEventJsonConversion and ShuffleScheduler of Tez 0.10; times are milliseconds
of the cluster's date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from fabriclab.hadoop.ports import SHUFFLE_PORT
from fabriclab.hadoop.results.history import SHUFFLE_ERRORS, Columns, counted, ended_early, follow
from fabriclab.hadoop.results.transfers import Row
from fabriclab.results.csv_logs import ResultsError

_MS = 10**6
_END = "\x01"
_COUNTERS: Columns = {
    "hdfs_read_bytes": "HDFS_BYTES_READ",
    "hdfs_written_bytes": "HDFS_BYTES_WRITTEN",
    "shuffled_bytes": "SHUFFLE_BYTES",
    "spilled_records": "SPILLED_RECORDS",
    "failed_shuffles": "NUM_FAILED_SHUFFLE_INPUTS",
    **SHUFFLE_ERRORS,
}
_RECORDS: Mapping[str, Columns] = {
    "map": {"input_records": "INPUT_RECORDS_PROCESSED", "output_records": "OUTPUT_RECORDS"},
    "reduce": {"input_records": "REDUCE_INPUT_RECORDS", "output_records": "OUTPUT_RECORDS"},
}
_PROCESSORS = {"MapProcessor": "map", "ReduceProcessor": "reduce"}
_PARTS = 6
"""Of an attempt's name: cluster, application, DAG, vertex, task, attempt."""
_NUMBERS = {"map": "maps", "reduce": "reduces"}
_FETCHED = re.compile(
    r".*Completed fetch for attempt: \{\d+, \d+, (?P<map>attempt_(?:\d+_){6})\w*\} to \w+, csize=(?P<bytes>\d+), "
    r"dsize=\d+, EndTime=(?P<end_ms>\d+), TimeTaken=(?P<took_ms>\d+)"
)


def tez_histories(logs: Path) -> list[list[Path]]:
    """Return the files of each application's history below a cluster's logs, one of each application master: where one
    was lost, the next goes on."""
    found: dict[str, list[Path]] = {}
    for path in sorted(logs.rglob("history.txt.appattempt_*"), key=lambda path: path.name):
        found.setdefault(path.name.rpartition("_")[0], []).append(path)
    return list(found.values())


def read_tez_history(paths: Iterable[Path], zero_ns: int) -> tuple[Row, list[Row]]:
    """Return the row of a history's job and those of its tasks' attempts, as `read_history` does for MapReduce's.

    `paths`: the files of its application masters, in their order. `zero_ns`: what the cluster's date was at the epoch.
    Raises ResultsError, with file and record, for what is none.
    """
    job: Row = {}
    vertices: dict[str, str] = {}
    tasks: dict[str, Row] = {}
    lost: set[str] = set()
    for entity, kind, at_ms, record in chain.from_iterable(map(_events, paths)):
        info: Mapping[str, Any] = record.get("otherinfo", {})
        at_ns = at_ms * _MS - zero_ns
        job |= _of_job(entity, kind, at_ns, record, zero_ns)
        match kind:
            case "VERTEX_INITIALIZED":
                vertices[entity.partition("_")[2]] = task = _task_of(info)
                job |= {_NUMBERS[task]: info["numTasks"]} if task in _NUMBERS else {}
            case "TASK_ATTEMPT_STARTED":
                task = vertices.get("_".join(entity.split("_")[1:5]), "")
                tasks[entity] = {
                    "attempt": entity,
                    "task": task,
                    "container": _related(record, "containerId"),
                    "node": _related(record, "nodeId").partition(":")[0],
                    "start_ns": at_ns,
                    "status": None,
                }
            case "TASK_ATTEMPT_FINISHED":
                row = tasks.setdefault(entity, {"attempt": entity})
                follow(row, _ended(info, at_ns, zero_ns, str(row.get("task", ""))), lost)
    for row in tasks.values():
        row["job_id"] = job.get("job_id")
    return job | ended_early(tasks.values(), lost), list(tasks.values())


def _of_job(entity: str, kind: str, at_ns: int, record: Mapping[str, Any], zero_ns: int) -> Row:
    """Return what an event says of the job; nothing for one of a part of it."""
    info: Mapping[str, Any] = record.get("otherinfo", {})
    match kind:
        case "AM_LAUNCHED":
            return {"job_id": _job_of(entity), "submit_ns": info["appSubmitTime"] * _MS - zero_ns}
        case "DAG_SUBMITTED":
            return {"name": record["primaryfilters"]["dagName"], "status": "RUNNING"}
        case "DAG_STARTED":
            return {"launch_ns": at_ns}
        case "DAG_FINISHED":
            row: Row = {"end_ns": at_ns, "status": info["status"], "diagnostics": info.get("diagnostics") or None}
            return row | _counted(info, _COUNTERS)
    return {}


def _related(record: Mapping[str, Any], kind: str) -> str:
    return str(next(one["entity"] for one in record["relatedEntities"] if one["entitytype"] == kind))


def tez_fetches(log: Path, reducer: str, where: Mapping[str, str], zero_ns: int) -> Iterator[Row]:
    """Yield what a reducer's log says of the map outputs that it fetched; `where`: the node of each attempt. Those of
    its own node it reads from the disk."""
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if match := _FETCHED.match(line):
            end_ns = int(match["end_ms"]) * _MS - zero_ns
            yield {
                "phase": "shuffle",
                "src": where.get(match["map"].rstrip("_")),
                "dst": where.get(reducer),
                "port": SHUFFLE_PORT,
                "bytes": int(match["bytes"]),
                "start_ns": end_ns - int(match["took_ms"]) * _MS,
                "end_ns": end_ns,
                "of": reducer,
            }


def tez_names(tasks: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """Yield what HDFS calls attempts of Tez, by MapReduce's names without the cluster's number, and their own names.

    Tez runs MapReduce's maps and reducers under names such as `attempt_17672256000111_0001_r_000000_0`, where the
    cluster's number has its own vertex' behind it.
    """
    for row in tasks:
        _, *parts = str(row["attempt"]).split("_")
        if len(parts) == _PARTS and row.get("task") in _NUMBERS:
            _, application, _, _, task, attempt = parts
            yield f"{application}_{str(row['task'])[0]}_{task}_{attempt}", str(row["attempt"])


def without_cluster(attempt: str) -> str:
    """Return an attempt's name without the cluster's number."""
    return attempt.split("_", 2)[-1]


def _events(path: Path) -> Iterator[tuple[str, str, int, Mapping[str, Any]]]:
    """Yield each event: of what, its kind, when in milliseconds, and the whole record."""
    records = path.read_text(encoding="utf-8", errors="replace").split(_END)
    for number, text in enumerate(records, start=1):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
            for event in record.get("events", ()):
                yield str(record["entity"]), str(event["eventtype"]), int(event["ts"]), record
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            if number == len(records):
                return  # cut: the application master was killed
            raise ResultsError(f"{path}: record {number}: no event of Tez' history: {text.strip()[:60]!r}") from error


def _ended(info: Mapping[str, Any], at_ns: int, zero_ns: int, task: str) -> Row:
    row: Row = {"end_ns": at_ns, "status": info["status"], "diagnostics": info.get("diagnostics") or None}
    took = _counted(info, {"shuffle": "SHUFFLE_PHASE_TIME", "merge": "MERGE_PHASE_TIME"})
    if task == "reduce" and len(took) == 2:
        start_ns = info["startTime"] * _MS - zero_ns
        row |= {"shuffle_end_ns": start_ns + took["shuffle"] * _MS, "sort_end_ns": start_ns + took["merge"] * _MS}
    return row | _counted(info, {**_COUNTERS, **_RECORDS.get(task, {})})


def _task_of(info: Mapping[str, Any]) -> str:
    processor = str(info.get("processorClassName", "")).rpartition(".")[2]
    return _PROCESSORS.get(processor, str(info.get("vertexName", "")))


def _counted(info: Mapping[str, Any], columns: Columns) -> Row:
    groups = info.get("counters", {}).get("counterGroups", ())
    return counted({one["counterName"]: one["counterValue"] for group in groups for one in group["counters"]}, columns)


def _job_of(entity: str) -> str:
    """Return the job of `dag_1767225600011_0001_1`, or of `tez_appattempt_1767225600011_0001_000001`."""
    match = re.search(r"_(\d+_\d+)_", entity)
    return f"job_{match[1]}" if match else entity
