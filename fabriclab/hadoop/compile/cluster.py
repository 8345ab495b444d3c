"""Clusters of `kind: hadoop`: their nodes' files, and the steps of the job's `setup` that come before the epoch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fabriclab.formats.job import Program, SetupStep
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.formats.plan.traffic.hadoop import JAVA_HOME, java
from fabriclab.formats.run_directory import HADOOP, HADOOP_DATE
from fabriclab.hadoop.compile.costs import charging_command, daemon_variables
from fabriclab.hadoop.compile.java import option_files
from fabriclab.hadoop.compile.rpc import patch_command
from fabriclab.hadoop.compile.settings import DATA, configuration_files
from fabriclab.hadoop.ports import DATA_PORT, HISTORY_PORT, NAMENODE_PORT, SHUFFLE_PORT, TRACKER_PORT

_HDFS, _YARN = "org.apache.hadoop.hdfs.server", "org.apache.hadoop.yarn.server"
_DATE_S = 1_767_225_600
"""1 January 2026. The machine's clock begins in 1970, and Hadoop's caches take an age of seconds for "just refreshed".
"""
_SET_DATE = ("date", f"--set=@{_DATE_S}")
_S = 10**9
_START_NS, _PREPARE_NS, _FETCH_S = 120 * _S, 24 * 3600 * _S, 60
_DAEMON_MEMORY_BYTES = 300 * 10**6
_CONTAINER_MEMORY_BYTES = 220 * 10**6
_COPIES = 5
"""Of a job's data there are at once, at most: input, map output, spills, what was fetched, output (nodes' files are
in memory)."""


def _clusters(plan: Plan) -> list[HadoopTraffic]:
    """Return a plan's clusters."""
    return [traffic for traffic in plan.traffic if isinstance(traffic, HadoopTraffic)]


def node_files(node: str, plan: Plan) -> dict[str, str]:
    """Return the files of a node that Hadoop reads, by their paths below its root."""
    files: dict[str, str] = {}
    for cluster in _clusters(plan):
        if node in cluster.program_nodes():
            files |= {f"etc/hadoop/{name}": text for name, text in configuration_files(cluster).items()}
            files |= {path.lstrip("/"): text for path, text in option_files(cluster).items()}
    return files


def setup_steps(plan: Plan, *, stock: bool = False) -> list[SetupStep]:
    """Return the steps that start the plan's clusters and fill their HDFS, one after another. `stock`: in containers,
    which have the host's date."""
    steps = [step for cluster in _clusters(plan) for step in _cluster(cluster, plan)]
    return [step for step in steps if not (stock and step["program"]["argv"] == [*_SET_DATE])]


def last_programs(plan: Plan) -> list[Program]:
    """Return what asks for the date that logs count from, and what fetches the history of all jobs out of HDFS,
    when the run is over: nobody measures then."""
    return [program for cluster in _clusters(plan) for program in _histories(cluster)]


def job_archives(plan: Plan) -> dict[str, set[str]]:
    """Return the directories of the run that clusters find below `/job`, each with the archives of the user's own that
    belong there, by their names in the lab's directory."""
    return {
        f"{HADOOP}/{cluster.name}": {job.file for job in cluster.jobs if job.file is not None}
        for cluster in _clusters(plan)
    }


def memory_bytes(plan: Plan) -> int:
    """Return the memory that daemons and containers need, and the data that nodes hold."""
    return sum(_memory_bytes(cluster, plan) for cluster in _clusters(plan))


def _memory_bytes(cluster: HadoopTraffic, plan: Plan) -> int:
    daemons = 2 + needs_history_server(cluster, plan) + len(cluster.data_nodes) + len(cluster.compute_nodes)
    containers = cluster.slots * len(cluster.compute_nodes)
    data = _COPIES * cluster.replication * sum(job.size_bytes or 0 for job in cluster.jobs)
    return daemons * _DAEMON_MEMORY_BYTES + containers * _CONTAINER_MEMORY_BYTES + data


def needs_history_server(cluster: HadoopTraffic, plan: Plan) -> bool:
    """Return whether clients may lose sight of an application master: with its node, with a link, or where it ends at
    once as it could not write its history."""
    fails = any(event.action in ("down", "blackhole") or event.loss_ppm for event in plan.events)
    return fails or cluster.disk_bytes is not None


_ENDED = r'trap "kill \$!; wait \$!; exit 0" TERM; "$@" & wait $!'
"""A JVM that is asked to end says that it was: 143. Whoever ends by itself has its own status."""
_FETCHED = ("sh", "-c", f'sleep 1; timeout {_FETCH_S} "$@" || :', "sh")
"""A second for application masters to end in. Where HDFS is gone, or no job has begun, there is no history, which is no
other failure: results say so."""
_FETCH = (
    "org.apache.hadoop.fs.FsShell",
    "-get",
    "-f",
    "/staging/history/done*",
    "/staging/*/.staging/*/*.jhist",
)
"""Histories of jobs that have ended, and what was written of others: of those that the run's end met, or that were lost
with their application masters."""
_MOUNT = 'mkdir -p "$2" && exec mount -t tmpfs -o "size=$1" disk "$2"'
_DATE = "import time; print(time.time_ns() - time.clock_gettime_ns(time.CLOCK_MONOTONIC))"


def _histories(cluster: HadoopTraffic) -> Iterator[Program]:
    master = cluster.namenode
    yield _program(f"{cluster.name}-{HADOOP_DATE}", master, ("python3", "-c", _DATE))
    yield _program(f"{cluster.name}-history", master, (*_FETCHED, *java(*_FETCH, f"/job/{HADOOP}/{cluster.name}")))


def _cluster(cluster: HadoopTraffic, plan: Plan) -> Iterator[SetupStep]:
    master, manager = cluster.namenode, cluster.resourcemanager
    yield _done(cluster, "clock", master, _SET_DATE)
    yield _done(cluster, "classes", master, patch_command(cluster))
    for node in cluster.nodes_with_disks() if cluster.disk_bytes is not None else ():
        yield _done(cluster, "disk", node, ("sh", "-c", _MOUNT, "sh", str(cluster.disk_bytes), DATA))
    yield _done(cluster, "format", master, java(f"{_HDFS}.namenode.NameNode", "-format", "-nonInteractive"))
    yield _daemon(cluster, "namenode", master, f"{_HDFS}.namenode.NameNode")
    yield _listening(cluster, "namenode", [master], NAMENODE_PORT, master)
    for node in cluster.data_nodes:
        yield _daemon(cluster, "datanode", node, f"{_HDFS}.datanode.DataNode")
    yield _daemon(cluster, "resourcemanager", manager, f"{_YARN}.resourcemanager.ResourceManager")
    yield _listening(cluster, "datanodes", cluster.data_nodes, DATA_PORT, master)
    yield _listening(cluster, "resourcemanager", [manager], TRACKER_PORT, master)
    for node in cluster.compute_nodes:
        # One after the other: of many JVMs that start at one instant some wait for each other by sched_yield, which
        # takes no virtual time, and nobody else's turn comes (14 at once stood still).
        yield _daemon(cluster, "nodemanager", node, f"{_YARN}.nodemanager.NodeManager")
        yield _listening(cluster, f"nodemanager-{node}", [node], SHUFFLE_PORT, master)
    if needs_history_server(cluster, plan):
        # Of a job that has ended a client asks there where it had lost sight of the application master.
        yield _daemon(cluster, "historyserver", master, "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer")
        yield _listening(cluster, "historyserver", [master], HISTORY_PORT, master)
    for job in cluster.jobs:
        if job.prepare:
            yield _done(cluster, f"{job.name}-data", master, java(*job.prepare), _PREPARE_NS)
    for node in sorted(cluster.program_nodes()) if cluster.costs is not None else ():
        yield _done(cluster, f"costs-{node}", node, charging_command(cluster))


def _daemon(cluster: HadoopTraffic, role: str, node: str, main: str) -> SetupStep:
    # The node manager starts containers with its own environment.
    variables = (f"{name}={value}" for name, value in daemon_variables(cluster, role))
    words = (
        "env",
        f"JAVA_HOME={JAVA_HOME}",
        "HADOOP_CONF_DIR=/etc/hadoop",
        *variables,
        "bash",
        "-c",
        _ENDED,
        "bash",
        *java(main),
    )
    return SetupStep(kind="daemon", program=_program(f"{cluster.name}-{role}", node, words), again=True)


def _done(cluster: HadoopTraffic, name: str, node: str, argv: tuple[str, ...], limit_ns: int = _START_NS) -> SetupStep:
    """Return a step that must succeed."""
    program = _program(f"{cluster.name}-{name}", node, argv)
    return SetupStep(kind="health", program=program, interval_ns=0, limit_ns=limit_ns, tries=1)


def _listening(cluster: HadoopTraffic, name: str, nodes: Iterable[str], port: int, asking: str) -> SetupStep:
    """Return a step that waits until all of the nodes listen on a TCP port."""
    script = f"for node; do until (exec 3<>/dev/tcp/$node/{port}) 2>/dev/null; do sleep 0.01; done; done"
    return _done(cluster, f"{name}-listen", asking, ("bash", "-c", script, "bash", *nodes))


def _program(name: str, node: str, argv: tuple[str, ...]) -> Program:
    return {"name": f"{name}@{node}", "node": node, "argv": list(argv)}
