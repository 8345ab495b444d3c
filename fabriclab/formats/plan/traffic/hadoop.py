"""A Hadoop cluster and the jobs that it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.constraints import Record
from fabriclab.formats import names, ranges
from fabriclab.formats.names import NodeName, SettingName, Word
from fabriclab.formats.plan.traffic.program import Awaited, ProgramTraffic
from fabriclab.formats.plan.traffic.record import Direction, TrafficRecord
from fabriclab.formats.run_directory import HADOOP


@dataclass(frozen=True, kw_only=True)
class HadoopCosts(Record):
    """What a node's disk and a container's processor take, after scaling; 0: nothing.

    The order of the fields is that of `struct costs` in `images/machine/preload/costs.c`.
    """

    disk_bytes_per_s: Annotated[int, ranges.DISK_RATE]
    seek_ns: Annotated[int, ranges.COST_NS]
    extent_bytes: Annotated[int, ranges.DISK_RATE]
    """A disk serves so much of a file before another one has its turn."""
    page_cache_bytes: Annotated[int, ranges.CACHE_BYTES]
    map_ns_per_mb: Annotated[int, ranges.COST_NS]
    """Of what a map reads from HDFS."""
    spill_ns_per_mb: Annotated[int, ranges.COST_NS]
    """Of what a map writes to its node's disk."""
    merge_ns_per_mb: Annotated[int, ranges.COST_NS]
    """Of what a reducer fetches."""
    reduce_ns_per_mb: Annotated[int, ranges.COST_NS]
    """Of what a reducer writes to HDFS."""
    jvm_start_ns: Annotated[int, ranges.COST_NS]

    def numbers(self) -> tuple[int, ...]:
        """Return the fields in their order."""
        disk = (self.disk_bytes_per_s, self.seek_ns, self.extent_bytes, self.page_cache_bytes)
        tasks = (self.map_ns_per_mb, self.spill_ns_per_mb, self.merge_ns_per_mb, self.reduce_ns_per_mb)
        return (*disk, *tasks, self.jvm_start_ns)


JobKind = Literal["terasort", "wordcount", "dfsio", "jar"]
Framework = Literal["mapreduce", "tez"]
JAVA_PACKAGE = "openjdk-21-jre-headless"
JAVA_HOME = "/usr/lib/jvm/java-21-openjdk-amd64"
JAVA = f"{JAVA_HOME}/bin/java"
OPTIONS_FILE = "/etc/hadoop/java.options"
"""What every JVM of the cluster is given: its class path, its collector, its heap."""
CLIENT_MEMORY_BYTES = 300 * 10**6
"""A JVM with a heap of 128 MB; 150 to 190 MB were resident."""


@dataclass(frozen=True, kw_only=True)
class HadoopJob(Record):
    """A job of a cluster: what fills HDFS for it before the epoch, the job itself, and what proves its result."""

    name: Annotated[str, names.TRAFFIC_NAME]
    kind: JobKind
    framework: Framework = "mapreduce"
    start_ns: Annotated[int, ranges.DURATION]
    size_bytes: Annotated[int, ranges.JOB_BYTES] | None = None
    """Of its input, or of what it writes; None: a program of the user's own knows."""
    prepare: tuple[Word, ...] = ()
    """A main class and its arguments, run before the epoch."""
    run: tuple[Word, ...]
    """A main class and its arguments."""
    prove: tuple[Word, ...] = ()
    """A main class and its arguments, run when all jobs have ended."""
    file: Annotated[str, names.LAB_PATH] | None = None
    """The user's own archive, in the lab's directory."""


@dataclass(frozen=True, kw_only=True)
class HadoopTraffic(TrafficRecord):
    """HDFS and YARN on nodes of the fabric, and the jobs that run there. What they send nobody knows beforehand: it has
    no flows."""

    kind: Literal["hadoop"] = "hadoop"
    is_job: ClassVar[bool] = True
    version: Annotated[str, names.VERSION]
    """Of Hadoop."""
    tez_version: Annotated[str, names.VERSION] | None = None
    """Of Tez; None: no job runs on it."""
    namenode: NodeName
    resourcemanager: NodeName
    data_nodes: tuple[NodeName, ...]
    compute_nodes: tuple[NodeName, ...]
    replication: Annotated[int, ranges.REPLICAS]
    block_bytes: Annotated[int, ranges.BLOCK_BYTES]
    slots: Annotated[int, ranges.SLOTS]
    """How many containers a compute node runs at once."""
    disk_bytes: Annotated[int, ranges.DISK_BYTES] | None = None
    """The size of each node's disk; None: as much as the machine has memory."""
    jobs: tuple[HadoopJob, ...]
    costs: HadoopCosts | None = None
    """None: disks and processors take no time."""
    dscp: Annotated[int, ranges.DSCP] = 0
    """Of all that its processes and the jobs' clients send."""
    settings: tuple[tuple[SettingName, Word], ...] = ()
    """Hadoop's own properties, in place of ours and of its defaults."""
    jars: tuple[Annotated[str, names.JAR], ...]
    """Hadoop's archives and the user's, each `GROUP:ARTIFACT:VERSION[:CLASSIFIER]=SHA256`."""

    @property
    def flows(self) -> int:
        """It has none that the plan knows of."""
        return 0

    @property
    def last_time_ns(self) -> int:
        """When its last job starts."""
        return max((job.start_ns for job in self.jobs), default=0)

    def sending(self, every: Iterable[str]) -> frozenset[str]:
        """Return nobody: no flow of the plan's is sent."""
        return frozenset()

    def directions(self, every: Iterable[str]) -> Iterator[Direction]:
        """Yield that all of its nodes may send to each other."""
        yield Direction("push", self.program_nodes(), self.program_nodes())

    def program_nodes(self) -> frozenset[str]:
        """Return the nodes of the cluster."""
        return frozenset((self.namenode, self.resourcemanager, *self.data_nodes, *self.compute_nodes))

    def nodes_with_disks(self) -> tuple[str, ...]:
        """Return the nodes that keep blocks or run tasks, each once."""
        return tuple(dict.fromkeys((*self.data_nodes, *self.compute_nodes)))

    def needed_packages(self) -> frozenset[str]:
        """Return Debian's Java."""
        return frozenset((JAVA_PACKAGE,))

    def needed_jars(self) -> frozenset[str]:
        """Return Hadoop's archives."""
        return frozenset(self.jars)

    def programs(self) -> tuple[ProgramTraffic, ...]:
        """Return the clients of the jobs, and what proves their results, when all jobs have ended."""
        jobs = [self._client(job, job.name, job.run, start_ns=job.start_ns) for job in self.jobs]
        ended = tuple(Awaited(program=job.name) for job in jobs)
        proofs = [self._client(job, f"{job.name}-proof", job.prove, after=ended) for job in self.jobs if job.prove]
        return (*jobs, *proofs)

    def contradictions(self) -> Iterator[str]:
        """Yield jobs that have one name, or nothing to run."""
        seen = [job.name for job in self.jobs]
        yield from (f".jobs: {name!r} occurs twice" for at, name in enumerate(seen) if name in seen[:at])
        yield from (f".jobs.{job.name}.run: no main class" for job in self.jobs if not job.run)

    def _client(
        self, job: HadoopJob, name: str, words: tuple[str, ...], *, start_ns: int = 0, after: tuple[Awaited, ...] = ()
    ) -> ProgramTraffic:
        return ProgramTraffic(
            name=f"{self.name}-{name}",
            node=self.namenode,
            argv=java(*words),
            start_ns=start_ns,
            after=after,
            memory_bytes=CLIENT_MEMORY_BYTES,
            dscp=self.dscp,
        )


def job_file(cluster: str, name: str) -> str:
    """Return where nodes find an archive of the user's own."""
    return f"/job/{HADOOP}/{cluster}/{name}"


def java(*words: str) -> tuple[str, ...]:
    """Return the command that runs a class of the cluster's with its arguments."""
    return (JAVA, f"@{OPTIONS_FILE}", *words)
