"""What Hadoop says of its jobs becomes tables and a figure.

`tests/golden/hadoop` was taken of a run of labs/hadoop (Hadoop 3.4.2, seed 1): its history without the schema, of the
logs the lines that are read, and of the data nodes' those of a megabyte and more. Of `hadoop-lost-node` c2 went down
at 6 s, between maps and reducers (settings: a node is lost after 10 s); of `hadoop-cut` the link of c2 was down from
8.005 to 20 s, in the shuffle (a reducer waits for 2 s).
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from repository import ROOT
from sample_plans import star
from sample_traffic import KINDS
from synthetic_hadoop_run import whole_hadoop_run

from fabriclab.formats.plan.model import Plan
from fabriclab.hadoop.results.history import read_history
from fabriclab.hadoop.results.metrics import DEGREES, application_metrics
from fabriclab.hadoop.results.tables import application_tables
from fabriclab.hadoop.results.tez import read_tez_history
from fabriclab.hadoop.results.times import PARTS
from fabriclab.hadoop.results.transfers import fetch_failures
from fabriclab.hadoop.results.under_way import of_tasks
from fabriclab.lab import parse_lab
from fabriclab.registry.applications import HADOOP
from fabriclab.report.drawing.exhibits import Picture
from fabriclab.report.selection import run_exhibits
from fabriclab.resolve import resolve_plan
from fabriclab.results import ResultsError, read_run

GOLDEN = ROOT / "tests" / "golden" / "hadoop"
FAILED = GOLDEN.with_name("hadoop-failed") / "job_1767225600011_0001.jhist"
LOST_NODE = GOLDEN.with_name("hadoop-lost-node") / "job_1767225600011_0001.jhist"
CUT = GOLDEN.with_name("hadoop-cut")
TEZ = GOLDEN.with_name("hadoop-tez")
LAB = ROOT / "labs" / "hadoop"
MS = 10**6
SUMMARY = (
    "2026-01-01 00:00:18,355 INFO resourcemanager.RMAppManager$ApplicationSummary: "
    "appId=application_1767225600011_0001,name=TeraSort,user=root,queue=root.default,state=FINISHED,trackingUrl=http://master:8088/x,appMasterHost=c1,"
    "submitTime=1767225601103,startTime=1767225601103,launchTime=1767225602011,finishTime=1767225617045,"
    "finalStatus=FAILED,memorySeconds=3121,preemptedResources=<memory:0\\, vCores:0>,applicationNodeLabel=,"
    "diagnostics=Task failed task_1767225600011_0001_r_000001\\nJob failed as tasks failed. failedMaps:0"
    " failedReduces:1\\n,totalAllocatedContainers=11\n"
)
"""As Hadoop 3.4.2's ResourceManager wrote it; some of its fields."""
TOLD = (
    "Running job: job_1767225600011_0001\n"
    "Task Id : attempt_1767225600011_0001_r_000000_0, Status : FAILED\n"
    "Error: org.apache.hadoop.ipc.RemoteException(java.io.IOException): File x could only be written to 0, of 1\n"
    "\tat y\n"
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return resolve_plan(parse_lab(LAB), {})


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN, tmp_path / "run"))


def rows(run: Path, plan: Plan, table: str) -> list[dict[str, Any]]:
    return application_tables(run, plan)[0][table].to_dicts()


def test_a_job_has_hadoop_s_own_counters_and_the_lab_s_name(run: Path, plan: Plan) -> None:
    (job,) = rows(run, plan, "hadoop_jobs")
    assert application_tables(run, plan)[1] == []
    assert (job["cluster"], job["job"], job["name"], job["status"]) == ("hadoop", "sort", "TeraSort", "SUCCEEDED")
    assert (job["maps"], job["reduces"], job["diagnostics"]) == (2, 2, None)
    assert (job["submit_ns"], job["launch_ns"], job["end_ns"]) == (1279 * MS, 1997 * MS, 8062 * MS)
    assert (job["shuffled_bytes"], job["hdfs_written_bytes"], job["failed_shuffles"]) == (8_724_168, 8_388_600, 0)


def test_in_containers_the_epoch_says_what_the_clock_was(run: Path, plan: Plan) -> None:
    """Events count from the run's begin there."""
    (before,) = rows(run, plan, "hadoop_jobs")
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    told = [{**one, "clock_ns": one["t_ns"], "t_ns": 5} if one["event"] == "epoch" else one for one in events]
    (run / "events.jsonl").write_text("".join(json.dumps(one) + "\n" for one in told))
    assert rows(run, plan, "hadoop_jobs") == [before]


def test_attempts_have_their_node_their_phases_and_their_records(run: Path, plan: Plan) -> None:
    tasks = rows(run, plan, "hadoop_tasks")
    assert [(one["task"], one["node"]) for one in tasks] == [
        *(("master", "c2"), ("map", "c2"), ("map", "c1"), ("reduce", "c2"), ("reduce", "c1")),
    ]
    assert sum(one["input_records"] for one in tasks if one["task"] == "map") == 83_886
    last = tasks[-1]
    assert (last["start_ns"], last["shuffle_end_ns"], last["end_ns"]) == (7997 * MS, 8019 * MS, 8061 * MS)
    assert (last["shuffled_bytes"], last["spilled_records"]) == (4_362_084, 41_943)
    assert tasks[0]["end_ns"] == 8062 * MS and tasks[0]["shuffled_bytes"] is None, "a master ends with its job"
    assert tasks[1]["shuffle_end_ns"] is None, "a map has no such phase"


def test_transfers_are_told_apart_by_phase_and_add_up_to_the_counters(run: Path, plan: Plan) -> None:
    table = application_tables(run, plan)[0]["hadoop_transfers"]
    assert set(table["phase"].unique()) == {"hdfs-read", "hdfs-write", "shuffle"}
    fetched = table.filter(pl.col("phase") == "shuffle")
    assert fetched["bytes"].sum() == 8_724_168, "Hadoop's counter of the job"
    assert set(fetched.select("src", "dst").rows()) == {("c1", "c1"), ("c1", "c2"), ("c2", "c1"), ("c2", "c2")}
    written = table.filter((pl.col("phase") == "hdfs-write") & pl.col("of").str.contains("_r_"))
    assert written["bytes"].sum() == 8_388_600 and set(written["port"]) == {9866}
    assert set(written["of"]) == set(fetched["of"]), "the reducers' attempts"
    before = table.filter(pl.col("start_ns") < -500 * MS)
    assert set(before["src"]) == {"master"}, "TeraGen wrote before the epoch"


def test_a_job_s_parts_its_fetches_and_its_in_cast_are_metrics(run: Path, plan: Plan) -> None:
    # Of two maps and two reducers on two nodes each reducer fetches one map output from the other node.
    tables = application_tables(run, plan)[0]
    found = application_metrics(tables, None, plan, frozenset(), None)
    (job,) = tables["hadoop_jobs"].to_dicts()
    parts = [found[f"job_{part}_ns[hadoop-sort]"] for part in PARTS]
    assert parts == [job[f"{part}_ns"] for part in PARTS]
    assert sum(job[f"{part}_ns"] for part in PARTS) == found["job_ns"]
    assert (found["fetch_median_ns"], found["fetch_max_ns[hadoop-sort]"]) == (23_500_000, 27_000_000)
    transfers = of_tasks(tables["hadoop_transfers"])
    for phase, name in DEGREES.items():
        each = [
            list(times)
            for times in transfers.filter(pl.col("phase") == phase).select("dst", "start_ns", "end_ns").rows()
        ]
        # The most are under way at the beginning of one of them.
        most = max(
            sum(dst == other[0] and other[1] <= start < max(other[2], other[1] + 10**6) for other in each)
            for dst, start, _ in each
        )
        assert found[name] == found[f"{name}[hadoop-sort]"] == most


def test_without_a_job_s_history_its_metrics_are_unknown(run: Path, plan: Plan) -> None:
    found = application_metrics({}, None, plan, frozenset(), None)
    assert set(HADOOP.metrics) <= set(found) and set(found.values()) == {None}


def test_what_did_not_arrive_has_no_end(run: Path, plan: Plan) -> None:
    log = run / "logs/hadoop/container_1767225600011_0001_01_000004/syslog.shuffle"
    log.write_text(
        "".join(line for line in log.read_text().splitlines(keepends=True) if "InMemoryMapOutput" not in line)
    )
    ends = [one["end_ns"] for one in rows(run, plan, "hadoop_transfers") if one["phase"] == "shuffle"]
    assert ends.count(None) == 2


def test_a_job_that_fails_says_why() -> None:
    # Of a run whose maps had a heap of 10 MB.
    job, attempts = read_history(FAILED, 0)
    assert (job["status"], job["job_id"]) == ("FAILED", "job_1767225600011_0001")
    assert str(job["diagnostics"]).startswith("Task failed task_1767225600011_0001_m_000001")
    failed = [one for one in attempts if one["task"] == "map" and one["status"] == "FAILED"]
    assert len(failed) == 7 and all("java.lang.OutOfMemoryError" in one["diagnostics"] for one in failed)
    assert failed[0].get("spilled_records") is None and failed[0]["node"] == "c2"
    killed = [one for one in attempts if one["task"] == "reduce"]
    assert [one["status"] for one in killed] == ["KILLED"] * 2, "they never began"
    assert all(one.get("start_ns") is None and one.get("end_ns") is None and one.get("node") is None for one in killed)


def test_a_failed_job_s_tasks_are_a_table(run: Path, plan: Plan) -> None:
    (run / "hadoop/hadoop/job_1767225600011_0001.jhist").write_bytes(FAILED.read_bytes())
    (run / "logs/hadoop-sort@master.log").write_text("Running job: job_1767225600011_0001\n")
    assert len(rows(run, plan, "hadoop_tasks")) == 11
    (why,) = application_tables(run, plan)[1]
    assert why.startswith("hadoop: sort ended as FAILED: Task failed task_1767225600011_0001_m_000001; ")
    assert why.endswith('Exception in thread "main" java.lang.OutOfMemoryError: Java heap space')


def test_a_map_whose_node_was_lost_is_killed_though_it_had_ended_and_runs_again() -> None:
    job, attempts = read_history(LOST_NODE, 0)
    assert (job["status"], job["rerun_maps"], job["killed_attempts"], job["failed_attempts"]) == ("SUCCEEDED", 1, 1, 0)
    lost, again = (one for one in attempts if "_m_000001_" in one["attempt"])
    assert (lost["status"], lost["node"]) == ("KILLED", "c2") and "unusable node c2" in lost["diagnostics"]
    assert lost["input_records"] > 0, "what it had counted stays"
    assert (again["status"], again["node"]) == ("SUCCEEDED", "c1") and again["start_ns"] > lost["end_ns"]


def test_fetches_that_fail_are_counted_by_hadoop_and_by_reducers_logs(run: Path, plan: Plan) -> None:
    shutil.copytree(CUT / "logs", run / "logs", dirs_exist_ok=True)
    shutil.copy(CUT / "job_1767225600011_0001.jhist", run / "hadoop/hadoop")
    (job,) = rows(run, plan, "hadoop_jobs")
    assert (job["status"], job["failed_shuffles"], job["fetch_failures"], job["rerun_maps"]) == ("SUCCEEDED", 2, 2, 0)
    errors = [job[f"shuffle_{kind}_errors"] for kind in ("io", "connection", "data")]
    assert errors == [2, 0, 0]
    tasks = rows(run, plan, "hadoop_tasks")
    assert [one["fetch_failures"] for one in tasks if one["task"] == "reduce"] == [1, 1]
    assert {one["fetch_failures"] for one in tasks if one["task"] != "reduce"} == {None}
    fetched = [one for one in rows(run, plan, "hadoop_transfers") if one["phase"] == "shuffle"]
    assert len(fetched) == 6 and sum(one["end_ns"] is None for one in fetched) == 2


def test_both_frameworks_say_alike_that_a_fetch_failed(tmp_path: Path) -> None:
    """As their sources have it (Fetcher, FetcherOrderedGrouped)."""
    log = tmp_path / "log"
    mapreduce = "2026-01-01 00:00:09,019 WARN [fetcher#1] org.apache.hadoop.mapreduce.task.reduce.Fetcher: "
    tez = "2026-01-01 00:00:09,019 [WARN] [Fetcher_O {v} #1] |orderedgrouped.FetcherOrderedGrouped|: "
    lines = (
        f"{mapreduce}Failed to connect to c2:13562 with 3 map outputs",
        f"{mapreduce}copyMapOutput failed for tasks [a_0, b_0]",
        f"{tez}copyMapOutput failed for tasks [a]",
        f"{tez}FAILURE: Failed to connect from c1 to c2 with 2 inputs, url: x",
        f"{tez}fetched it, though it failed to connect to c2 once",
    )
    log.write_text("\n".join(lines))
    assert fetch_failures(log) == 3 + 2 + 1 + 2
    assert fetch_failures(tmp_path / "absent") == 0


def test_a_job_without_a_history_has_what_yarn_said(run: Path, plan: Plan) -> None:
    """Disks were full: there was no room for the history either."""
    (run / "hadoop/hadoop/job_1767225600011_0001.jhist").unlink()
    (run / "logs/hadoop-resourcemanager@master.log").write_text(SUMMARY)
    (run / "logs/hadoop-sort@master.log").write_text(TOLD)
    (job,) = rows(run, plan, "hadoop_jobs")
    assert (job["job"], job["name"], job["status"], job["maps"]) == ("sort", "TeraSort", "FAILED", None)
    assert job["end_ns"] - job["submit_ns"] == 15_942 * MS
    assert job["failed_attempts"] is None, "not 0: nobody knows"
    why, lost = application_tables(run, plan)[1]
    assert why.startswith(
        "hadoop: sort ended as FAILED: Task failed task_1767225600011_0001_r_000001; Error: org.apache"
    )
    assert why.endswith("could only be written to 0, of 1") and lost == "hadoop: there is no history of sort"


def test_of_a_job_whose_history_is_cut_yarn_knows_the_end(run: Path, plan: Plan) -> None:
    whole = run / "hadoop/hadoop/job_1767225600011_0001.jhist"
    lines = whole.read_text().splitlines(keepends=True)
    whole.rename(whole.with_stem("job_1767225600011_0001_1")).write_text("".join(lines[:-6]))
    (run / "logs/hadoop-resourcemanager@master.log").write_text(f"{SUMMARY}other\n")
    (job,) = rows(run, plan, "hadoop_jobs")
    assert (job["status"], job["maps"], job["killed_attempts"]) == ("FAILED", 2, 0)
    assert str(job["diagnostics"]).endswith("failedMaps:0 failedReduces:1")


def test_of_a_job_that_had_not_ended_its_last_master_s_history_is_read(run: Path, plan: Plan) -> None:
    """A history that is whole precedes."""
    whole = run / "hadoop/hadoop/job_1767225600011_0001.jhist"
    text = whole.read_text().splitlines(keepends=True)
    for master, lines in (("1", text[:5]), ("2", text[:-6])):
        whole.with_stem(f"job_1767225600011_0001_{master}").write_text("".join(lines))
    assert [one["status"] for one in rows(run, plan, "hadoop_jobs")] == ["SUCCEEDED"]
    whole.unlink()
    (job,) = rows(run, plan, "hadoop_jobs")
    assert (job["status"], job["end_ns"], job["maps"]) == ("RUNNING", None, 2)
    assert application_tables(run, plan)[1] == [
        "hadoop: sort had not ended: there is what its application master wrote until then"
    ]


def test_tez_jobs_have_the_same_columns(run: Path, plan: Plan) -> None:
    """Its history was cut: the application master was killed while it wrote."""
    (run / "hadoop/hadoop/job_1767225600011_0001.jhist").unlink()
    shutil.rmtree(run / "logs/hadoop")
    shutil.copytree(TEZ, run / "logs/hadoop")
    (job,) = rows(run, plan, "hadoop_jobs")
    assert (job["job"], job["name"], job["maps"], job["reduces"]) == ("sort", "TeraSort", 2, 2)
    tasks = rows(run, plan, "hadoop_tasks")
    assert [(one["task"], one["node"]) for one in tasks] == [
        *(("map", "c1"), ("map", "c2"), ("reduce", "c1"), ("reduce", "c2")),
    ]
    assert sum(one["input_records"] for one in tasks if one["task"] == "reduce") == 83_886
    fetched = [one for one in rows(run, plan, "hadoop_transfers") if one["phase"] == "shuffle"]
    assert sum(one["bytes"] for one in fetched) == sum(one["shuffled_bytes"] or 0 for one in tasks)
    assert {(one["src"], one["dst"]) for one in fetched} == {("c1", "c1"), ("c1", "c2"), ("c2", "c1"), ("c2", "c2")}
    assert all(one["container"].startswith("container_") for one in tasks)


def test_blocks_of_tez_attempts_have_their_names(run: Path, plan: Plan) -> None:
    """HDFS calls them by MapReduce's names, with the vertex behind the cluster's number."""
    (run / "hadoop/hadoop/job_1767225600011_0001.jhist").unlink()
    shutil.rmtree(run / "logs/hadoop")
    shutil.copytree(TEZ, run / "logs/hadoop")
    log = run / "logs/hadoop-datanode@d1.log"
    log.write_text(re.sub(r"attempt_1767225600011_0001_r", "attempt_17672256000111_0001_r", log.read_text()))
    blocks = [one["of"] for one in rows(run, plan, "hadoop_transfers") if one["phase"] == "hdfs-write" and one["of"]]
    assert set(blocks) <= {one["attempt"] for one in rows(run, plan, "hadoop_tasks")} and blocks


def test_tez_histories_of_two_application_masters_are_one_job_s(run: Path, plan: Plan) -> None:
    """The first was killed, in a record, when the vertices had begun; the second does not say again what they are."""
    (run / "hadoop/hadoop/job_1767225600011_0001.jhist").unlink()
    shutil.rmtree(run / "logs/hadoop")
    shutil.copytree(TEZ, run / "logs/hadoop")
    (history,) = (run / "logs/hadoop").rglob("history.txt.appattempt_*")
    records = history.read_text().split("\x01")
    first = next(at for at, text in enumerate(records) if "TASK_ATTEMPT_STARTED" in text)
    whole = rows(run, plan, "hadoop_jobs"), rows(run, plan, "hadoop_tasks")
    history.write_text("\x01".join([*records[:first], records[first][:50]]))
    (history.parent / history.name.replace("_000001", "_000002")).write_text("\x01".join(records[first:]))
    assert (rows(run, plan, "hadoop_jobs"), rows(run, plan, "hadoop_tasks")) == whole


def test_a_history_that_tez_did_not_write_is_named(tmp_path: Path) -> None:
    history = tmp_path / "history.txt.appattempt_1"
    history.write_text('{"entity": 1}\x01{"ent\x01{}')
    with pytest.raises(ResultsError, match=r"history\.txt\.appattempt_1: record 2: no event"):
        read_tez_history([history], 0)


def test_a_history_that_hadoop_did_not_write_is_named_and_one_that_is_cut_is_read(tmp_path: Path) -> None:
    history = tmp_path / "job.jhist"
    begun = (
        'Avro-Json\n{}\n{"type":"JOB_SUBMITTED","event":{"a":{"jobid":"job_1_0001","jobName":"x","submitTime":1}}}\n'
    )
    history.write_text(begun + '{"type":"JOB_FIN')
    assert read_history(history, 0)[0]["status"] == "RUNNING"
    history.write_text(begun + '{"type":"JOB_FIN\n{}\n')
    with pytest.raises(ResultsError, match=r"job\.jhist:4: no event"):
        read_history(history, 0)
    history.write_text("Obj\x01")
    with pytest.raises(ResultsError, match=r"job\.jhist:1: .* begins with 'Avro-Json'"):
        read_history(history, 0)


def test_what_there_is_not_is_said(run: Path, plan: Plan) -> None:
    (run / "hadoop/hadoop/job_1767225600011_0001.jhist").unlink()
    tables, notes = application_tables(run, plan)
    assert notes == ["hadoop: there is no history of sort"] and tables["hadoop_jobs"].height == 0
    (run / "collect/hadoop-date@master").unlink()
    assert "before the cluster's date was asked for" in application_tables(run, plan)[1][0]
    assert application_tables(run, star(3, traffic=(KINDS["long"],))) == ({}, []), "no cluster, no tables"


def test_tasks_are_drawn_above_in_cast_and_queue(run: Path, plan: Plan) -> None:
    whole_hadoop_run(run, plan)
    results = read_run(run)
    (picture,) = run_exhibits(results, kinds=("hadoop",))
    assert isinstance(picture, Picture)
    assert (
        "2 maps, 2 reducers" in picture.caption and "sort: succeeded in 6.783 s, 8.724 MB shuffled" in picture.caption
    )
    assert all(
        f">{word}<" in picture.svg for word in ("c1", "c2", "map", "shuffle", "sort and reduce", "blocks written")
    )
    assert (
        "Map outputs fetched: 2 transfers between nodes, with a median time of 27 ms and a maximum of 27 ms."
        in picture.caption
    )
    for table in ("hadoop_jobs", "hadoop_tasks", "hadoop_transfers"):
        (run / f"{table}.parquet").unlink()
    assert run_exhibits(results, kinds=("hadoop",)) == []
