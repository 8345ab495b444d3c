"""Clusters of `kind: hadoop`: from the lab to node files, to the steps before the epoch, to the clients of jobs."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from repository import ROOT
from sample_plans import changed, star
from sample_traffic import KINDS, MS
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.compile import compile_job, compile_node, machine_memory_bytes, needed_layers
from fabriclab.formats.plan import parse_plan_json, plan_json
from fabriclab.formats.plan.model import Event, Plan
from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.hadoop.compile.cluster import needs_history_server
from fabriclab.hadoop.compile.rpc import IDLE_KEY, LAB_S_IDLE_KEY, patch_command
from fabriclab.hadoop.lab.archives import archives, versions
from fabriclab.lab import parse_lab
from fabriclab.live.started_traffic import traffic_named
from fabriclab.resolve import resolve_plan
from fabriclab.runs.directory import write_inputs

LAB = ROOT / "labs" / "hadoop"
CLUSTER = KINDS["hadoop"]
assert isinstance(CLUSTER, HadoopTraffic)


def plan() -> Plan:
    return star(7, traffic=(CLUSTER,))


def properties(file: str, node: str = "h5") -> dict[str, str]:
    """Return what a file of a node's /etc/hadoop says."""
    (found,) = (each for each in plan().nodes if each.name == node)
    text = compile_node(found, plan()).root[f"etc/hadoop/{file}"]
    pairs = (
        (one.findtext("name") or "", one.findtext("value") or "")
        for one in ElementTree.fromstring(text).iter("property")
    )
    return dict(pairs)


def test_a_cluster_is_made_and_filled_before_the_epoch() -> None:
    """Each step waits for what it needs: ports that are listened on, and steps that must succeed, once."""
    setup = compile_job(plan())["setup"]
    assert [step["program"]["name"] for step in setup] == [
        *(
            "cluster-clock@h1",
            "cluster-classes@h1",
            "cluster-format@h1",
            "cluster-namenode@h1",
            "cluster-namenode-listen@h1",
        ),
        *("cluster-datanode@h3", "cluster-datanode@h4", "cluster-resourcemanager@h2"),
        *("cluster-datanodes-listen@h1", "cluster-resourcemanager-listen@h1"),
        *("cluster-nodemanager@h5", "cluster-nodemanager-h5-listen@h1"),
        *("cluster-nodemanager@h6", "cluster-nodemanager-h6-listen@h1", "cluster-sort-data@h1"),
    ]
    daemons = {step["program"]["name"]: step["kind"] == "daemon" for step in setup}
    assert [name for name, is_daemon in daemons.items() if not is_daemon] == [
        name for name in daemons if name.endswith(("-clock@h1", "-classes@h1", "-format@h1", "-listen@h1", "-data@h1"))
    ]
    assert {step.get("tries") for step in setup if step["kind"] == "health"} == {1}
    listen = setup[8]["program"]["argv"]
    assert "/dev/tcp/$node/9866" in listen[2] and listen[4:] == ["h3", "h4"]
    assert setup[-1]["program"]["argv"][2:] == ["Generate", "/in"]


def test_disks_have_a_size_on_nodes_that_keep_blocks_or_run_tasks() -> None:
    """Not the NameNode's, which leaves its safe mode only with 100 MB free."""
    sized = star(7, traffic=(changed(CLUSTER, disk_bytes=2**24, data_nodes=("h3", "h5")),))
    disks = [
        step["program"] for step in compile_job(sized)["setup"] if step["program"]["name"].startswith("cluster-disk")
    ]
    assert [one["node"] for one in disks] == ["h3", "h5", "h6"] and disks[0]["argv"][-2:] == [str(2**24), "/data"]
    policy = "dfs.datanode.round-robin-volume-choosing-policy.additional-available-space"
    assert policy in compile_node(sized.nodes[4], sized).root["etc/hadoop/hdfs-site.xml"]
    assert policy not in properties("hdfs-site.xml")
    daemons = [step["program"]["argv"] for step in compile_job(sized)["setup"] if step["kind"] == "daemon"]
    assert all("tmpfs" not in word for argv in daemons for word in argv), "a node that boots has its files"


def test_where_nodes_may_be_lost_a_history_server_runs() -> None:
    """Clients that lost sight of an application master ask it."""
    down = Event(name="dies", at_ns=MS, links=(), node="h5", action="down")
    lossy = plan().model_copy(update={"events": (down,)})
    names = [step["program"]["name"] for step in compile_job(lossy)["setup"]]
    assert names[-3:] == ["cluster-historyserver@h1", "cluster-historyserver-listen@h1", "cluster-sort-data@h1"]
    assert machine_memory_bytes(lossy) > machine_memory_bytes(plan())
    assert properties("mapred-site.xml")["mapreduce.jobhistory.address"] == "h1:10020"
    slower = down.model_copy(update={"action": "change", "rate_bps": 10**6})
    assert isinstance(CLUSTER, HadoopTraffic)
    assert not needs_history_server(CLUSTER, plan().model_copy(update={"events": (slower,)}))


def test_how_long_connections_may_be_idle_is_read_by_another_name() -> None:
    """The class that reads it is changed, so that none sets it to 0."""
    idle = changed(CLUSTER, settings=((IDLE_KEY, "2000"),))
    text = compile_node(plan().nodes[4], star(7, traffic=(idle,))).root["etc/hadoop/core-site.xml"]
    assert text.count("<value>2000</value>") == 2 and LAB_S_IDLE_KEY in text
    assert LAB_S_IDLE_KEY not in properties("core-site.xml") and len(IDLE_KEY) == len(LAB_S_IDLE_KEY)


def test_jobs_are_programs_and_proofs_wait_for_all_of_them() -> None:
    programs = {program["name"]: program["argv"] for program in compile_job(plan())["traffic"]}
    assert list(programs) == ["cluster-sort@h1", "cluster-own@h1", "cluster-sort-proof@h1"]
    assert "--at-ns" in programs["cluster-sort@h1"] and str(MS) in programs["cluster-sort@h1"]
    assert programs["cluster-sort@h1"][-4:] == ["@/etc/hadoop/java.options", "Sort", "/in", "/out"]
    proof = programs["cluster-sort-proof@h1"]
    assert [proof[index + 1] for index, word in enumerate(proof) if word == "--after"] == [
        "cluster-sort",
        "cluster-own",
    ]
    assert [one["name"] for one in compile_job(plan())["collect"] if "history" in one["name"]] == ["cluster-history@h1"]


def test_configuration_files_say_what_the_lab_says_and_settings_precede() -> None:
    assert properties("core-site.xml")["fs.defaultFS"] == "hdfs://h1:8020"
    hdfs, yarn = properties("hdfs-site.xml"), properties("yarn-site.xml")
    assert (hdfs["dfs.replication"], hdfs["dfs.blocksize"]) == ("2", "1048576"), "the size of blocks is of `settings`"
    assert hdfs["dfs.namenode.safemode.min.datanodes"] == "2"
    assert yarn["yarn.resourcemanager.hostname"] == "h2" and yarn["yarn.acl.enable"] == "a<b"
    assert int(yarn["yarn.nodemanager.resource.memory-mb"]) == 2 * int(
        properties("mapred-site.xml")["mapreduce.map.memory.mb"]
    )
    assert set(properties("capacity-scheduler.xml")) >= {"yarn.scheduler.capacity.root.queues"}


def test_only_nodes_of_the_cluster_have_files_layers_and_memory() -> None:
    outside = next(node for node in plan().nodes if node.name == "h7")
    assert not compile_node(outside, plan()).root
    layers = {node["name"]: node.get("layers") for node in compile_job(plan())["nodes"]}
    assert layers["h6"] == ["jars", "packages"] and layers["h7"] is None and layers["s1"] is None
    assert needed_layers(plan())["packages"] == ("openjdk-21-jre-headless",)
    more = changed(CLUSTER, slots=4)
    assert machine_memory_bytes(star(7, traffic=(more,))) > machine_memory_bytes(plan()) > 2 * 10**9


def test_the_class_path_has_archives_by_name_and_those_of_tests_last() -> None:
    """Archives of tests bring configurations of their own; a task's directory has its job's."""
    root = compile_node(plan().nodes[4], plan()).root
    daemon, task = (root[f"etc/hadoop/{name}.options"].splitlines() for name in ("java", "task"))
    own = ["/job/hadoop/cluster/classes", "/opt/jars/tool-1.0.jar", "/etc/hadoop", "/opt/jars/tool-1.0-tests.jar"]
    assert daemon[-1].split(":") == own and task[-1].split(":") == [*own, ".", "job.jar"]
    assert daemon[-2] == task[-2] == "-cp"


def test_a_plan_is_the_same_when_it_is_read_again() -> None:
    assert parse_plan_json(plan_json(plan())) == plan()


def test_the_user_s_archive_goes_into_the_run(tmp_path: Path) -> None:
    (tmp_path / "a.jar").write_bytes(b"PK")
    write_inputs(plan(), tmp_path, tmp_path / "run")
    assert (tmp_path / "run/hadoop/cluster/a.jar").read_bytes() == b"PK"
    assert (tmp_path / "run/nodes/h1/root/etc/hadoop/core-site.xml").is_file()


def test_a_container_has_the_host_s_date() -> None:
    setup = {stock: compile_job(plan(), stock=stock)["setup"] for stock in (False, True)}
    names = {stock: {step["program"]["name"] for step in steps} for stock, steps in setup.items()}
    assert names[False] - names[True] == {"cluster-clock@h1"} and names[True]


def test_it_starts_with_its_lab_only() -> None:
    with pytest.raises(Exception, match="cluster: a program can start only with its lab"):
        traffic_named(plan(), "cluster")


def jobs_of(tmp_path: Path, jobs: str) -> dict[str, tuple[str, ...]]:
    """Return what the lab's jobs run, by the part and the name."""
    text = (LAB / "experiment.yml").read_text()
    begin, end = text.index("      sort:"), text.index("probes:")
    lab = tmp_path / "lab"
    lab.mkdir()
    (lab / "experiment.yml").write_text(f"{text[:begin]}{jobs}\n{text[end : text.index('parameters:')]}")
    (lab / "topology.clab.yml").write_text((LAB / "topology.clab.yml").read_text())
    (lab / "own.jar").write_bytes(b"PK\x03\x04")
    (cluster,) = resolve_plan(parse_lab(lab), {}).traffic
    assert isinstance(cluster, HadoopTraffic)
    parts = ((f"{part}-{job.name}", getattr(job, part)) for job in cluster.jobs for part in ("prepare", "run", "prove"))
    return {name: words for name, words in parts if words}


def test_jobs_become_hadoop_s_own_classes(tmp_path: Path) -> None:
    jobs = """\
      sort: {kind: terasort, size: 10 MB, splits: 3, reducers: 4}
      words: {kind: wordcount, size: 9 MiB}
      write: {kind: dfsio, size: 8 MB, splits: 2}
      read: {kind: dfsio, size: 8 MB, splits: 2, mode: read}
      own: {kind: jar, file: own.jar, main: org.example.Main, arguments: [/in, -x]}"""
    found = jobs_of(tmp_path, jobs)
    assert list(found) == [
        *("prepare-sort", "run-sort", "prove-sort", "prepare-words", "run-words", "run-write"),
        *("prepare-read", "run-read", "run-own"),
    ]
    assert found["prepare-sort"][-2:] == ("100000", "/sort/in"), "records of 100 bytes"
    assert "-Dmapreduce.job.reduces=4" in found["run-sort"]
    assert "-Dmapreduce.input.fileinputformat.split.maxsize=3333334" in found["run-sort"]
    assert "-Dmapreduce.input.fileinputformat.split.maxsize=3145728" in found["run-words"], "three blocks of 4 MiB"
    assert found["run-write"][-7:-3] == ("-write", "-nrFiles", "2", "-size") and "4000000B" in found["run-read"]
    assert found["run-own"] == (
        *("org.apache.hadoop.util.RunJar", "/job/hadoop/hadoop/own.jar", "org.example.Main", "/in", "-x"),
    )


def test_a_job_that_is_not_enabled_is_checked_and_not_run(tmp_path: Path) -> None:
    jobs = "      sort: {kind: terasort, size: 10 MB}\n      other: {kind: terasort, size: 5 MB, enabled: false}"
    assert {name.split("-")[1] for name in jobs_of(tmp_path, jobs)} == {"sort"}


def test_every_version_s_archives_have_coordinates_and_checksums() -> None:
    assert versions() == ("3.4.2",)
    for version in versions():
        names = [jar.partition("=")[0] for jar in archives(version)]
        assert len(names) == len(set(names)) > 100 and f"org.apache.hadoop:hadoop-common:{version}" in names


def test_a_plan_says_what_the_cluster_is_and_jobs_can_be_set() -> None:
    told = CliRunner().invoke(app, ["plan", str(LAB), "--set", "traffic.hadoop.jobs.sort.size=16 MB"]).output
    assert "Hadoop 3.4.2: NameNode on master" in told and "sort (terasort of 16 MB) from 0 s" in told
    wrong = CliRunner().invoke(app, ["plan", str(LAB), "--set", "traffic.hadoop.jobs.sort.sizes=1"])
    assert wrong.exit_code != 0 and "'sizes' is unknown" in wrong.output
    found = json.loads(CliRunner().invoke(app, ["plan", str(LAB), "--json", "--set", "reducers=3"]).output)
    assert "-Dmapreduce.job.reduces=3" in found["traffic"][0]["jobs"][0]["run"]


def test_tez_jobs_bring_their_archives_and_their_settings(tmp_path: Path) -> None:
    jobs = "      sort: {kind: terasort, framework: tez, size: 8 MiB, reducers: 2}\n"
    found = jobs_of(tmp_path, jobs)
    assert found["run-sort"][1] == "-Dmapreduce.framework.name=yarn-tez" and found["prove-sort"][1].endswith("=local")
    tez = resolve_plan(parse_lab(tmp_path / "lab"), {})
    assert any(jar.startswith("org.apache.tez:tez-dag:0.10.4=") for jar in needed_layers(tez)["jars"])
    assert not any("org.apache.tez" in jar for jar in archives("3.4.2"))
    node = next(one for one in tez.nodes if one.name == "c1")
    root = compile_node(node, tez).root
    assert "@/etc/hadoop/task.options" in root["etc/hadoop/tez-site.xml"]


def test_a_class_is_changed_in_one_word_or_not_at_all(tmp_path: Path) -> None:
    """The command as the machine runs it, on an archive of its own."""
    assert isinstance(CLUSTER, HadoopTraffic)
    python, option, script, jar, _, name, old, new = patch_command(CLUSTER)
    assert jar.endswith(f"/hadoop-common-{CLUSTER.version}.jar")
    for text, succeeds in ((f"a{old}b", True), (f"{old}{old}", False)):
        with zipfile.ZipFile(tmp_path / "tez.jar", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, text)
        words = [sys.executable, option, script, str(tmp_path / "tez.jar"), str(tmp_path), name, old, new]
        assert (subprocess.run(words, capture_output=True).returncode == 0) == succeeds and python == "python3"
    assert (tmp_path / name).read_text() == f"a{new}b"
