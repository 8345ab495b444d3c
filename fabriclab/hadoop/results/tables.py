"""What Hadoop itself says of its jobs, as tables of a run: `hadoop_jobs`, `hadoop_tasks`, `hadoop_transfers`; and what
disks and processors took of its processes, `hadoop_costs`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import polars as pl

from fabriclab.files import read_text
from fabriclab.formats.json_text import LARGEST_JSON_BYTES, parse_json
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.formats.run_directory import HADOOP as DIRECTORY
from fabriclab.formats.run_directory import HADOOP_DATE, HOSTS_FILE
from fabriclab.hadoop.results.applications import errors_told, read_applications
from fabriclab.hadoop.results.costs import COST_COLUMNS, read_costs
from fabriclab.hadoop.results.history import JOB_COLUMNS, TASK_COLUMNS, TEXTS, Row, read_history
from fabriclab.hadoop.results.shuffles import add_shuffle_losses
from fabriclab.hadoop.results.tez import read_tez_history, tez_fetches, tez_histories, tez_names, without_cluster
from fabriclab.hadoop.results.times import job_times
from fabriclab.hadoop.results.transfers import TRANSFER_COLUMNS, block_transfers, fetch_failures, fetches, reducer_of
from fabriclab.registry.applications import HADOOP

WORDS = {
    "task": "map, reduce, or master (a job's application master)",
    "of": "the attempt of a task that a transfer belongs to; empty: another client's",
    "shuffle_end_ns": "when a reducer had all map outputs, nanoseconds after the beginning of the traffic",
    "spilled_records": "records written to a node's disk by maps and reducers, Hadoop's counter",
    "failed_shuffles": "fetches of map outputs that failed in successful attempts, Hadoop's counter",
    "shuffle_io_errors": "Hadoop's counter IO_ERROR: a node could not be reached, or stopped sending",
    "shuffle_connection_errors": "Hadoop's counter CONNECTION",
    "shuffle_data_errors": "Hadoop's counters BAD_ID, WRONG_LENGTH, WRONG_MAP and WRONG_REDUCE together",
    "fetch_failures": "fetches of map outputs that failed in all attempts, by the logs of reducers",
    "failed_attempts": "attempts of maps and reducers that failed",
    "killed_attempts": "attempts of maps and reducers that were killed",
    "rerun_maps": "maps that ran again because their output was lost after their end",
}


JOBS, TASKS, TRANSFERS, COSTS = HADOOP.tables
_COLUMNS = {JOBS: JOB_COLUMNS, TASKS: TASK_COLUMNS, TRANSFERS: TRANSFER_COLUMNS, COSTS: COST_COLUMNS}
_TEXTS = (*TEXTS, "phase", "src", "dst", "of", "process", "what")
_HISTORY = re.compile(r"job_\d+_\d+")
_UNFINISHED = re.compile(_HISTORY.pattern + r"_(?P<master>\d+)\.jhist")
_LARGEST_BYTES = 1 << 20
_ERROR = re.compile(r"\b[\w.$]+(?:Error|Exception)\b(?!\s+from container-launch)")
Tables = dict[str, pl.DataFrame]


def application_tables(
    run_dir: Path, plan: Plan, connections: pl.DataFrame | None = None, watched: frozenset[str] = frozenset()
) -> tuple[Tables, list[str]]:
    """Return the tables of a plan's clusters, none without any, and notes on what there is not.

    `connections`: the table of that name; `watched`: the nodes of which it has every one.

    Raises ResultsError, with file and line, for a history that Hadoop did not write.
    """
    clusters = [traffic for traffic in plan.traffic if isinstance(traffic, HadoopTraffic)]
    rows: dict[str, list[Row]] = {name: [] for name in _COLUMNS}
    notes: list[str] = []
    for cluster in clusters:
        epoch_ns = _epoch_ns(run_dir)
        ahead_ns = _ahead_ns(run_dir, cluster)
        if epoch_ns is None or ahead_ns is None:
            notes.append(
                f"{cluster.name}: the run ended before the cluster's date was asked for: no tables of its jobs"
            )
            continue
        found = _of_cluster(run_dir, cluster, ahead_ns + epoch_ns)
        found[COSTS] = list(read_costs(run_dir, cluster.name, epoch_ns))
        for job in found[JOBS]:
            job |= job_times(job, found[TASKS], found[TRANSFERS], found[COSTS])
        add_shuffle_losses(found[JOBS], cluster, connections, watched)
        for name in _COLUMNS:
            rows[name] += [{"cluster": cluster.name, **row} for row in found[name]]
        notes += [f"{cluster.name}: {text}" for row in found[JOBS] if (text := _why(row, found[TASKS]))]
        known = {row.get("job") for row in found[JOBS] if "maps" in row}
        notes += [f"{cluster.name}: there is no history of {job.name}" for job in cluster.jobs if job.name not in known]
    return ({name: _table(name, rows[name]) for name in _COLUMNS} if clusters else {}), notes


def _why(job: Row, tasks: list[Row]) -> str:
    """Return why a job failed: the first line of what YARN says, and the first error of an attempt; empty of others."""
    if job.get("status") == "RUNNING":
        return (
            f"{job.get('job') or job.get('name')} had not ended: there is what its application master wrote until then"
        )
    if job.get("status") in (None, "SUCCEEDED"):
        return ""
    own = (
        str(task["diagnostics"])
        for task in tasks
        if task.get("job_id") == job.get("job_id") and task.get("diagnostics")
    )
    first, _, more = str(job.get("diagnostics") or "").partition("\n")
    errors = (line.strip() for text in (*own, more) for line in text.splitlines() if _ERROR.search(line))
    said = [first, next(errors, "")]
    return f"{job.get('job') or job.get('name')} ended as {job['status']}: {'; '.join(filter(None, said))}"


def _of_cluster(run_dir: Path, cluster: HadoopTraffic, zero_ns: int) -> dict[str, list[Row]]:
    clients = _clients(run_dir, cluster)
    jobs: list[Row] = []
    tasks: list[Row] = []
    for job, attempts in _histories(run_dir, cluster, zero_ns):
        jobs.append(job)
        tasks += sorted(attempts, key=_begun)
    _add_what_yarn_said(run_dir, cluster, zero_ns, jobs)
    failures = _fetch_failures(run_dir, cluster)
    for row in tasks:
        row["fetch_failures"] = failures.get(str(row["attempt"]))
    for job in jobs:
        job["job"] = clients.get(str(job.get("job_id")))
        own = "attempt" + str(job.get("job_id")).removeprefix("job")
        job["fetch_failures"] = sum(failures[one] for one in failures if one.startswith(own)) if failures else None
    where = {str(row["attempt"]): str(row["node"]) for row in tasks if row.get("node")}
    named = dict(tez_names(tasks))
    transfers = sorted(
        chain(_blocks(run_dir, cluster, zero_ns), _fetched(run_dir, cluster, where, zero_ns)),
        key=lambda row: (row["start_ns"], row["phase"], str(row["src"]), str(row["dst"]), row["bytes"]),
    )
    for row in transfers:
        row["of"] = named.get(row["of"] and without_cluster(row["of"]), row["of"])
    return {JOBS: jobs, TASKS: tasks, TRANSFERS: transfers}


def _add_what_yarn_said(run_dir: Path, cluster: HadoopTraffic, zero_ns: int, jobs: list[Row]) -> None:
    """Add how jobs ended whose history does not tell: it is cut, or there is none."""
    logs = run_dir / "logs"
    told: dict[str, str] = {}
    for job in cluster.jobs:
        told |= errors_told(logs / f"{cluster.name}-{job.name}@{cluster.namenode}.log")
    rows = {row.get("job_id"): row for row in jobs}
    for said in read_applications(logs / f"{cluster.name}-resourcemanager@{cluster.resourcemanager}.log", zero_ns):
        row = rows.get(said["job_id"])
        if row is None:
            jobs.append(row := {})
        if row.get("status") in (None, "RUNNING"):
            texts = (said["diagnostics"], told.get(said["job_id"]))
            row |= said | {"diagnostics": "\n".join(filter(None, texts)) or None}


def _histories(run_dir: Path, cluster: HadoopTraffic, zero_ns: int) -> Iterator[tuple[Row, list[Row]]]:
    found = sorted((run_dir / DIRECTORY / cluster.name).rglob("*.jhist"), key=_age)
    # A job whose application master was lost has one of each; the last tells what those before it did, too.
    last = {match[0] if (match := _HISTORY.match(path.name)) else path.name: path for path in found}
    for path in last.values():
        yield read_history(path, zero_ns)
    for paths in tez_histories(run_dir / "logs" / cluster.name):
        yield read_tez_history(paths, zero_ns)


def _age(path: Path) -> tuple[bool, int]:
    """Order histories: those that were being written, by the number of their application master, before a whole one."""
    unfinished = _UNFINISHED.fullmatch(path.name)
    return unfinished is None, 0 if unfinished is None else int(unfinished["master"])


def _begun(row: Row) -> tuple[int, str]:
    """Order attempts by their start; one that was given up before it had one comes when it ended."""
    begun = row.get("start_ns", row.get("end_ns"))
    return (0 if begun is None else int(begun)), str(row["attempt"])


def _blocks(run_dir: Path, cluster: HadoopTraffic, zero_ns: int) -> Iterator[Row]:
    nodes = dict(line.split(",")[1::-1] for line in (run_dir / HOSTS_FILE).read_text().splitlines()[2:])
    for node in cluster.data_nodes:
        yield from block_transfers(run_dir / "logs" / f"{cluster.name}-datanode@{node}.log", nodes, zero_ns)


def _fetch_failures(run_dir: Path, cluster: HadoopTraffic) -> dict[str, int]:
    """Return of each reducer that has a log how many fetches failed."""
    logs = run_dir / "logs" / cluster.name
    own = {reducer: log for log in sorted(logs.rglob("syslog.shuffle")) if (reducer := reducer_of(log)) is not None}
    own |= {log.name.removeprefix("syslog_"): log for log in sorted(logs.rglob("syslog_attempt_*"))}
    return {reducer: fetch_failures(log) for reducer, log in own.items()}


def _fetched(run_dir: Path, cluster: HadoopTraffic, where: dict[str, str], zero_ns: int) -> Iterator[Row]:
    for log in sorted((run_dir / "logs" / cluster.name).rglob("syslog.shuffle")):
        reducer = reducer_of(log)
        if reducer is not None:
            yield from fetches(log, reducer, where, zero_ns)
    for log in sorted((run_dir / "logs" / cluster.name).rglob("syslog_attempt_*")):
        yield from tez_fetches(log, log.name.removeprefix("syslog_").removesuffix("_post"), where, zero_ns)


def _clients(run_dir: Path, cluster: HadoopTraffic) -> dict[str, str]:
    """Return the lab's name of each job that a client says it runs."""
    found: dict[str, str] = {}
    for job in cluster.jobs:
        log = run_dir / "logs" / f"{cluster.name}-{job.name}@{cluster.namenode}.log"
        text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
        found |= dict.fromkeys(re.findall(r"Running job: (job_\d+_\d+)", text), job.name)
    return found


def _ahead_ns(run_dir: Path, cluster: HadoopTraffic) -> int | None:
    """Return how far the cluster's date, nanoseconds after 1970, is ahead of the machine's clock; None where the run
    did not come so far as to ask."""
    ahead = run_dir / "collect" / f"{cluster.name}-{HADOOP_DATE}@{cluster.namenode}"
    if not ahead.is_file() or not ahead.read_text().strip().isdigit():
        return None
    return int(read_text(ahead, _LARGEST_BYTES))


def _epoch_ns(run_dir: Path) -> int | None:
    """Return when the traffic began by the machine's clock; None where the run did not come so far."""
    events = run_dir / "events.jsonl"
    for line in read_text(events, LARGEST_JSON_BYTES).splitlines() if events.is_file() else ():
        if '"epoch"' in line and (event := parse_json(line))["event"] == "epoch":
            # In the machine events' times are its clock's own.
            return int(event.get("clock_ns", event["t_ns"]))
    return None


def _table(name: str, rows: list[Row]) -> pl.DataFrame:
    columns = _COLUMNS[name]
    schema = {column: pl.String if column in _TEXTS else pl.Int64 for column in columns}
    return pl.DataFrame([{column: row.get(column) for column in columns} for row in rows], schema=schema)
