"""The keys of a Hadoop cluster, of its jobs, and of what its disks and processors take."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, get_args

from fabriclab.formats import ranges
from fabriclab.formats.plan.traffic.hadoop import Framework, JobKind
from fabriclab.hadoop.lab.archives import versions
from fabriclab.keys.mappings import Key, Keys, Named
from fabriclab.keys.quantities import LARGEST, Factor, Flag, Number, Quantity
from fabriclab.keys.values import Several, Text, Word, or_none
from fabriclab.lab.traffic.keys import DSCP, HOST, HOSTS, JARS, TIME, keys_of_kind
from fabriclab.units import DURATION, SIZE

PROPERTY = r"[A-Za-z][A-Za-z0-9_.-]*"
JOB_NAME = r"[A-Za-z0-9][A-Za-z0-9_-]*"
MAIN = r"[A-Za-z_$][A-Za-z0-9_$.]*"
JOB_KIND = Key("kind", Word[JobKind](get_args(JobKind)), "The kind of the job.", required=True)
JOB_FRAMEWORK = Key(
    "framework",
    Word[Framework](get_args(Framework)),
    "The framework that its maps and reducers run on: MapReduce's own application master, or Tez, which reuses "
    "containers.",
    default="mapreduce",
)
JOB_START = Key("start", TIME, "When its client starts, in virtual time.", default=0, examples=("10 s",))
JOB_SIZE = Key(
    "size",
    Quantity(SIZE, *ranges.JOB_BYTES),
    "Bytes that the job reads, or that `dfsio` writes. Required except for `jar`.",
    unset="none",
    examples=("10 GB",),
)
JOB_SPLITS = Key(
    "splits",
    Number(1, 10_000),
    "The number of parts of its input, each read by one map. For `dfsio`: the number of files that are written or "
    "read.",
    unset="one per block",
)
JOB_REDUCERS = Key(
    "reducers", Number(1, 10_000), "The number of reducers.", default=1, source="Hadoop: mapreduce.job.reduces"
)
JOB_MODE = Key("mode", Word[str](("write", "read")), "Whether `dfsio` writes or reads.", default="write")
JOB_FILE = Key(
    "file",
    Text("a file's name"),
    "For `jar`: the Java archive, in the lab's directory.",
    unset="required with `kind: jar`",
    examples=("mine.jar",),
)
JOB_MAIN = Key(
    "main",
    Text("a class", MAIN),
    "For `jar`: the class that is run.",
    unset="what the archive's manifest says",
    examples=("org.example.Job",),
)
JOB_ARGUMENTS = Key(
    "arguments",
    Several(Text("a word"), "a list of words"),
    "For `jar`: the arguments of the class.",
    unset="none",
    examples=(("/in", "/out"),),
)
JOB_ENABLED = Key(
    "enabled",
    Flag(),
    "With `false` the job is checked but not run. So a variant or a matrix can choose among several jobs.",
    default=True,
)
JOB = Keys(
    "hadoop-job",
    "A job of a Hadoop cluster",
    (
        *(JOB_KIND, JOB_FRAMEWORK, JOB_START, JOB_SIZE, JOB_SPLITS, JOB_REDUCERS, JOB_MODE, JOB_FILE, JOB_MAIN),
        *(JOB_ARGUMENTS, JOB_ENABLED),
    ),
)
_COST = Quantity(DURATION, 0, 100 * 10**9)
COST_SCALE = Key(
    "scale",
    Factor("a factor from 1/1000000 to 1000", Fraction(1, 10**6), Fraction(1000)),
    "The factor for the rates of disks, the page cache and the speeds of processors, for labs whose links are slower "
    "than a real fabric's. Times (`seek`, `jvm_start`) do not change.",
    default=Fraction(1),
    examples=("1/25",),
)
COST_DISK = Key(
    "disk",
    Quantity(SIZE, 0, 10**12, why="bytes per second"),
    "The rate of a node's disk, in bytes per second. With `0 B` the disk takes no time.",
    default=200 * 10**6,
    source="A disk with 7,200 revolutions per minute, at its outer tracks; bytes per second",
    examples=("200 MB",),
)
COST_SEEK = Key(
    "seek",
    _COST,
    "The time that a disk takes to switch to another file.",
    default=12_700_000,
    source="The same: 8.5 ms on average, and half a revolution",
)
COST_PAGE_CACHE = Key(
    "page_cache",
    Quantity(SIZE, 0, 1 << 44),
    "The size of a node's page cache: data that were written last are read without the disk. A fifth of it may wait "
    "to be written.",
    default=4 * 10**9,
)
COST_MAP = Key(
    "map",
    _COST,
    "The computing time for a megabyte that a map reads from HDFS.",
    default=8_000_000,
    source="TeraSort of 300 MB, Hadoop 3.4.2, OpenJDK 17, a core of an AMD EPYC: the first 134 MB that a JVM mapped",
)
COST_SPILL = Key(
    "spill",
    _COST,
    "The time for sorting a megabyte that a map writes to its disk.",
    default=30_000_000,
    source="The same: sorting and writing them",
)
COST_MERGE = Key(
    "merge",
    _COST,
    "The time for merging a megabyte that a reducer fetches.",
    default=6_000_000,
    source="The same: fetching and merging 156 MB",
)
COST_REDUCE = Key(
    "reduce",
    _COST,
    "The time for reducing a megabyte that a reducer writes to HDFS.",
    default=9_000_000,
    source="The same: reducing and writing them",
)
COST_JVM_START = Key(
    "jvm_start",
    _COST,
    "The computing time of a container's JVM before it does any work.",
    default=1_000_000_000,
    source="The same: what a task's JVM computes until it asks its master what to do",
)
COSTS = Keys(
    "hadoop-costs",
    "The time that disks and processors of a Hadoop cluster take",
    (
        *(COST_SCALE, COST_DISK, COST_SEEK, COST_PAGE_CACHE, COST_MAP, COST_SPILL, COST_MERGE, COST_REDUCE),
        COST_JVM_START,
    ),
)
_PROPERTY = Named(Text("a value"), "a mapping of Hadoop's properties", PROPERTY)
VERSION = Key("version", Word[str](versions()), "The version of Hadoop.", unset="the newest of them")
NAMENODE = Key("namenode", HOST, "The host that HDFS's NameNode and the clients of jobs run on.", required=True)
RESOURCEMANAGER = Key("resourcemanager", HOST, "The host that YARN's ResourceManager runs on.", unset="the NameNode's")
DATA_NODES = Key("data_nodes", HOSTS, "The hosts that keep HDFS's blocks.", examples=("d1..d7",), required=True)
COMPUTE_NODES = Key("compute_nodes", HOSTS, "The hosts that run tasks.", examples=("c1..c14",), required=True)
REPLICATION = Key(
    "replication",
    Number(1, LARGEST),
    "The number of copies of a block; each is on a data node of its own.",
    unset="3, or as many as there are data nodes",
)
BLOCK_SIZE = Key(
    "block_size",
    Quantity(SIZE, *ranges.BLOCK_BYTES, step=512),
    "The size of HDFS's blocks, a multiple of 512 B.",
    default=128 * 2**20,
    source="HDFS: dfs.blocksize",
    examples=("16 MiB",),
)
SLOTS = Key(
    "slots",
    Number(*ranges.SLOTS),
    "The number of containers that a compute node runs at once: maps, reducers, and a job's application master.",
    default=2,
    source="YARN's own default is 8. Each container is a JVM, and the JVMs of 14 nodes must fit into 16 GB",
)
DISK_SIZE = Key(
    "disk_size",
    Quantity(SIZE, *ranges.DISK_BYTES),
    "The size of each node's disk, which holds HDFS's blocks and the files of tasks.",
    unset="limited only by the virtual machine's memory",
    examples=("1 GiB",),
)
JOBS: Key[Any] = Key(
    "jobs",
    Named(JOB, "a mapping of names of jobs", JOB_NAME, "The name of a job has letters, digits, '-' and '_'.", least=1),
    "The jobs, by their names.",
    required=True,
)
CLUSTER_COSTS: Key[Any] = Key(
    "costs",
    or_none(COSTS),
    "The time that disks and processors take. In the virtual machine they take none, so each byte makes its process "
    "wait.",
    unset="the defaults of its keys",
)
SETTINGS: Key[Any] = Key(
    "settings",
    _PROPERTY,
    "Hadoop's own properties; they override the values that follow from the keys above.",
    unset="none",
)
KEYS = keys_of_kind(
    "hadoop",
    "A Hadoop cluster: HDFS and YARN on hosts of the fabric, and the jobs that they run.",
    *(VERSION, NAMENODE, RESOURCEMANAGER, DATA_NODES, COMPUTE_NODES, REPLICATION, BLOCK_SIZE, SLOTS, DISK_SIZE, JOBS),
    *(CLUSTER_COSTS, DSCP, SETTINGS),
    JARS.but(
        about="A file in the lab's directory that lists Java archives beside Hadoop's own, as for `kind: program`."
    ),
)
