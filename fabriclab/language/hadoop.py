"""The keys of `kind: hadoop`, and of its jobs."""

from __future__ import annotations

from fabriclab.lab.traffic.bounds import LONGEST_NS
from fabriclab.lab.traffic.hadoop_archives import versions
from fabriclab.lab.traffic.hadoop_cluster import (
    LARGEST_BLOCK_BYTES,
    LARGEST_DISK_BYTES,
    MOST_SLOTS,
    PROPERTY,
    SMALLEST_BLOCK_BYTES,
    SMALLEST_DISK_BYTES,
)
from fabriclab.lab.traffic.hadoop_costs import FASTEST_DISK_BYTES, LARGEST_CACHE_BYTES, LONGEST_COST_NS
from fabriclab.lab.traffic.hadoop_jobs import (
    DEFAULT_REDUCERS,
    DFSIO_MODES,
    FRAMEWORKS,
    JOB_KINDS,
    JOB_NAME,
    LARGEST_JOB_BYTES,
    MAIN,
    MOST_TASKS,
    SMALLEST_JOB_BYTES,
)
from fabriclab.language.keys import Key, Keys, Named
from fabriclab.language.sources import constant, plain, words
from fabriclab.language.values import Factor, Flag, Number, Quantity, Several, Text, Word, or_none
from fabriclab.units import DURATION, SIZE

_TIME = Quantity(DURATION, 0, LONGEST_NS)
_HOST = Text("a host's name")
_HOSTS = Several(Text("a host"), "a count, a range such as `h1..h4`, a group, a list of these, or `all`")
_PROPERTY = Named(Text("a value"), "a mapping of Hadoop's properties", PROPERTY)
_JOB = Keys(
    "hadoop-job",
    "A job of a Hadoop cluster",
    (
        Key("kind", Word(JOB_KINDS), "What the job is.", required=True),
        Key(
            "framework",
            Word(FRAMEWORKS),
            "What its maps and reducers run on: MapReduce's own application master, or Tez, which reuses containers.",
            plain(FRAMEWORKS[0]),
        ),
        Key("start", _TIME, "When its client starts, in virtual time.", constant("START_NS"), ("10 s",)),
        Key(
            "size",
            Quantity(SIZE, SMALLEST_JOB_BYTES, LARGEST_JOB_BYTES),
            "Bytes that the job reads, or that `dfsio` writes; must be written but for `jar`.",
            words("none"),
            ("10 GB",),
        ),
        Key(
            "splits",
            Number(1, MOST_TASKS),
            "How many parts its input has, each read by one map; of `dfsio`, how many files are written or read.",
            words("one a block"),
        ),
        Key("reducers", Number(1, MOST_TASKS), "How many reducers there are.", plain(DEFAULT_REDUCERS)),
        Key("mode", Word(DFSIO_MODES), "What `dfsio` does.", plain(DFSIO_MODES[0])),
        Key(
            "file",
            Text("a file's name"),
            "Of `jar`: the Java archive, in the lab's directory.",
            words("must be written with `kind: jar`"),
            ("mine.jar",),
        ),
        Key(
            "main",
            Text("a class", MAIN),
            "Of `jar`: the class that is run.",
            words("what the archive's manifest says"),
            ("org.example.Job",),
        ),
        Key(
            "arguments",
            Several(Text("a word"), "a list of words"),
            "Of `jar`: what the class is given.",
            words("none"),
            (("/in", "/out"),),
        ),
        Key(
            "enabled",
            Flag(),
            "With `false` the job is checked but not run, so that a variant or a matrix chooses among several.",
            plain(True),
        ),
    ),
)
_COST = Quantity(DURATION, 0, LONGEST_COST_NS)
COSTS = Keys(
    "hadoop-costs",
    "What disks and processors of a Hadoop cluster take",
    (
        Key(
            "scale",
            Factor("a factor from 1/1000000 to 1000"),
            "What disks' rates, the page cache and processors' speeds are multiplied with, for labs whose links are so "
            "much slower than a real fabric's. Times (`seek`, `jvm_start`) stay.",
            words("1"),
            ("1/25",),
        ),
        Key(
            "disk",
            Quantity(SIZE, 0, FASTEST_DISK_BYTES),
            "Bytes a second of a node's disk; with `0 B` it takes no time.",
            constant("DISK_BYTES"),
            ("200 MB",),
        ),
        Key("seek", _COST, "The time that a disk takes to another file.", constant("DISK_SEEK_NS")),
        Key(
            "page_cache",
            Quantity(SIZE, 0, LARGEST_CACHE_BYTES),
            "What a node wrote last is read without the disk; a fifth of it may wait to be written.",
            constant("PAGE_CACHE_BYTES"),
        ),
        Key("map", _COST, "Computing for a megabyte that a map reads from HDFS.", constant("HADOOP_MAP_NS")),
        Key("spill", _COST, "Sorting a megabyte that a map writes to its disk.", constant("HADOOP_SPILL_NS")),
        Key("merge", _COST, "Merging a megabyte that a reducer fetches.", constant("HADOOP_MERGE_NS")),
        Key("reduce", _COST, "Reducing a megabyte that a reducer writes to HDFS.", constant("HADOOP_REDUCE_NS")),
        Key("jvm_start", _COST, "Computing of a container's JVM before it does anything.", constant("JVM_START_NS")),
    ),
)
HADOOP: tuple[Key, ...] = (
    Key("version", Word(versions()), "The version of Hadoop.", words("the newest of them")),
    Key("namenode", _HOST, "The host that HDFS's NameNode and the clients of jobs run on.", required=True),
    Key("resourcemanager", _HOST, "The host that YARN's ResourceManager runs on.", words("the NameNode's")),
    Key("data_nodes", _HOSTS, "The hosts that keep HDFS's blocks.", examples=("d1..d7",), required=True),
    Key("compute_nodes", _HOSTS, "The hosts that run tasks.", examples=("c1..c14",), required=True),
    Key(
        "replication",
        Number(1, 10**18 - 1),
        "How many copies of a block there are; each lies on a data node of its own.",
        words("3, or as many as there are data nodes"),
    ),
    Key(
        "block_size",
        Quantity(SIZE, SMALLEST_BLOCK_BYTES, LARGEST_BLOCK_BYTES),
        "The size of HDFS's blocks, a multiple of 512 B.",
        constant("HDFS_BLOCK_BYTES"),
        ("16 MiB",),
    ),
    Key(
        "slots",
        Number(1, MOST_SLOTS),
        "How many containers a compute node runs at once: maps, reducers, and a job's application master.",
        constant("HADOOP_SLOTS"),
    ),
    Key(
        "disk_size",
        Quantity(SIZE, SMALLEST_DISK_BYTES, LARGEST_DISK_BYTES),
        "How much each node's disk holds: HDFS's blocks and what tasks write lie there.",
        words("no bound but the machine's memory"),
        ("1 GiB",),
    ),
    Key(
        "jobs",
        Named(
            _JOB, "a mapping of names of jobs", JOB_NAME, "The name of a job has letters, digits, '-' and '_'.", least=1
        ),
        "The jobs, by their names.",
        required=True,
    ),
    Key(
        "costs",
        or_none(COSTS),
        "What disks and processors take, which the machine has for nothing: each byte costs its process a wait.",
        words("the defaults of its keys"),
    ),
    Key(
        "settings", _PROPERTY, "Hadoop's own properties; they precede what follows from the keys above.", words("none")
    ),
)
