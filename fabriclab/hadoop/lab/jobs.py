"""What a lab writes of a Hadoop cluster's jobs (`jobs` of `kind: hadoop`): each becomes main classes with arguments."""

from __future__ import annotations

import re
from typing import NamedTuple

from fabriclab.formats import ranges
from fabriclab.formats.names import TRAFFIC_NAME
from fabriclab.formats.plan.traffic import HadoopJob
from fabriclab.formats.plan.traffic.hadoop import JobKind, job_file
from fabriclab.hadoop.lab import keys as hadoop_keys
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.files import LARGEST_ARCHIVE_BYTES, UnreadableError, own_name, read_lab_file
from fabriclab.lab.reading.section import Section, value_of, value_or
from fabriclab.lab.traffic.scope import Scope, complain_unreadable, read_start
from fabriclab.units import format_size

_RECORD_BYTES = 100
"""TeraGen's."""
_BELONGS: dict[JobKind, tuple[str, ...]] = {
    "terasort": ("framework", "size", "splits", "reducers"),
    "wordcount": ("framework", "size", "splits", "reducers"),
    "dfsio": ("framework", "size", "splits", "mode"),
    "jar": ("file", "main", "arguments"),
}
_EXAMPLES = "org.apache.hadoop.examples"
_LOCAL = "-Dmapreduce.framework.name=local"
"""In one process on the NameNode's machine: HDFS deals out to data nodes what is written there."""
_TEZ = "-Dmapreduce.framework.name=yarn-tez"
_TEXT = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"
_DFSIO = "org.apache.hadoop.fs.TestDFSIO"
MAIN_CLASSES = frozenset(
    {
        *(f"{_EXAMPLES}.terasort.{name}" for name in ("TeraGen", "TeraSort", "TeraValidate")),
        *(f"{_EXAMPLES}.{name}" for name in ("RandomTextWriter", "WordCount")),
        _DFSIO,
    }
)
"""What jobs run that bring no archive of their own."""
PROPERTIES = frozenset(
    {
        *("mapreduce.framework.name", "mapreduce.job.reduces", "mapreduce.terasort.output.replication"),
        *("mapreduce.input.fileinputformat.split.minsize", "mapreduce.input.fileinputformat.split.maxsize"),
        *("mapreduce.randomtextwriter.totalbytes", "mapreduce.randomtextwriter.bytespermap", "test.build.data"),
    }
)
"""What their arguments set; none of these names a program or a class."""
FLAGS = frozenset({"-outFormat", "-write", "-read", "-nrFiles", "-size", "-resFile"})
"""Their other options."""


class Cluster(NamedTuple):
    """What jobs need to know of their cluster."""

    name: str
    replication: int
    block_bytes: int


class _Data(NamedTuple):
    """How much a job reads or writes, in how many parts."""

    job: str
    size_bytes: int
    splits: int
    reducers: int

    @property
    def each_bytes(self) -> int:
        """Bytes of a part."""
        return -(-self.size_bytes // self.splits)

    @property
    def divided(self) -> tuple[str, ...]:
        """Makes so many splits of the one file, however many blocks it has."""
        split = "-Dmapreduce.input.fileinputformat.split"
        return f"{split}.minsize={self.each_bytes}", f"{split}.maxsize={self.each_bytes}"


def read_jobs(section: Section, scope: Scope, cluster: Cluster) -> tuple[HadoopJob, ...]:
    """Return the jobs that are enabled; what is wrong is recorded, and left out."""
    section.require("jobs", example="jobs: with a name and a kind (terasort, wordcount, dfsio, jar) for each")
    jobs = section.section("jobs", None)
    found: list[HadoopJob] = []
    read: list[HadoopJob | None] = []
    for name in () if jobs is None else jobs.names():
        value = jobs.get(name) if jobs is not None else None
        if (re.fullmatch(hadoop_keys.JOB_NAME, name) is None or not TRAFFIC_NAME.is_in(name)) and jobs is not None:
            message = f"{shown(name)} cannot name a job; write letters, digits, '-' and '_'"
            section.problems.add(jobs.mapping.key_place(name), jobs.path(name), message, name)
        elif value is not None and jobs is not None:
            written = Section(value, jobs.path(name), section.problems, hadoop_keys.JOB)
            enabled = hadoop_keys.JOB_ENABLED.or_default(written.read(hadoop_keys.JOB_ENABLED))
            job = _read_job(written, name, scope, cluster)
            read.append(job)
            found += [job] if job is not None and enabled else []
    if jobs is not None and not jobs.names():
        section.complain("jobs", "there is no job; name at least one")
    elif read and not found and None not in read:
        section.complain("jobs", "no job is enabled; leave at least one")
    return tuple(found)


def _read_job(section: Section, name: str, scope: Scope, cluster: Cluster) -> HadoopJob | None:
    section.require("kind", example=f"kind: one of {', '.join(_BELONGS)}")
    kind = section.read(hadoop_keys.JOB_KIND)
    start_ns = read_start(section)
    if kind is None:
        return None
    for key in section.names():
        if key in hadoop_keys.JOB.names and key not in ("kind", "start", "enabled", *_BELONGS[kind.value]):
            owners = ", ".join(one for one, keys in _BELONGS.items() if key in keys)
            section.complain(key, f"belongs to jobs of kind {owners}, not of {kind.value}")
    if kind.value == "jar":
        return _read_jar(section, name, scope, cluster, start_ns)
    data = _read_data(section, name, cluster)
    if data is None:
        return None
    if kind.value == "dfsio":
        prepare, run = _dfsio(data, hadoop_keys.JOB_MODE.or_default(section.read(hadoop_keys.JOB_MODE)))
        prove: tuple[str, ...] = ()
    elif kind.value == "wordcount":
        (prepare, run), prove = _wordcount(data), ()
    else:
        prepare, run, prove = _terasort(data, cluster)
    framework = hadoop_keys.JOB_FRAMEWORK.or_default(section.read(hadoop_keys.JOB_FRAMEWORK))
    return HadoopJob(
        name=name,
        kind=kind.value,
        framework=framework,
        start_ns=start_ns,
        size_bytes=data.size_bytes,
        prepare=prepare,
        run=(run[0], _TEZ, *run[1:]) if framework == "tez" else run,
        prove=prove,
    )


def _read_data(section: Section, name: str, cluster: Cluster) -> _Data | None:
    section.require("size", example="size: bytes of the job's input, such as 1 GB")
    size = section.read(hadoop_keys.JOB_SIZE)
    splits = section.read(hadoop_keys.JOB_SPLITS)
    reducers = section.read(hadoop_keys.JOB_REDUCERS)
    if size is None:
        return None
    parts = value_or(splits, -(-size.value // cluster.block_bytes))
    if size.value < parts * ranges.JOB_BYTES.least and splits is not None:
        least = format_size(ranges.JOB_BYTES.least)
        splits.complain(
            section.problems, f"{shown(size.text)} can't be divided into {parts} splits of at least {least}"
        )
    return _Data(name, size.value, parts, hadoop_keys.JOB_REDUCERS.or_default(reducers))


def _terasort(data: _Data, cluster: Cluster) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    tera, job = f"{_EXAMPLES}.terasort", data.job
    rows = str(data.size_bytes // _RECORD_BYTES)
    copies = f"-Dmapreduce.terasort.output.replication={cluster.replication}"
    reducers = f"-Dmapreduce.job.reduces={data.reducers}"
    return (
        (f"{tera}.TeraGen", _LOCAL, rows, f"/{job}/in"),
        (f"{tera}.TeraSort", reducers, *data.divided, copies, f"/{job}/in", f"/{job}/out"),
        (f"{tera}.TeraValidate", _LOCAL, f"/{job}/out", f"/{job}/report"),
    )


def _wordcount(data: _Data) -> tuple[tuple[str, ...], tuple[str, ...]]:
    writer = "-Dmapreduce.randomtextwriter"
    sizes = (f"{writer}.totalbytes={data.size_bytes}", f"{writer}.bytespermap={data.size_bytes}")
    return (
        (f"{_EXAMPLES}.RandomTextWriter", _LOCAL, *sizes, "-outFormat", _TEXT, f"/{data.job}/in"),
        (
            *(f"{_EXAMPLES}.WordCount", f"-Dmapreduce.job.reduces={data.reducers}", *data.divided),
            *(f"/{data.job}/in", f"/{data.job}/out"),
        ),
    )


def _dfsio(data: _Data, mode: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    main, place = _DFSIO, f"-Dtest.build.data=/{data.job}"
    files = ("-nrFiles", str(data.splits), "-size", f"{data.each_bytes}B", "-resFile", f"/tmp/{data.job}.txt")
    prepare = (main, _LOCAL, place, "-write", *files) if mode == "read" else ()
    return prepare, (main, place, f"-{mode}", *files)


def _read_jar(section: Section, name: str, scope: Scope, cluster: Cluster, start_ns: int) -> HadoopJob | None:
    section.require("file", example="file: the Java archive, a file in the lab's directory")
    file = section.scalar("file", "a file's name")
    main = section.convert("main", "a class", _main)
    arguments = [word.value for word in section.words("arguments") or []]
    if file is None:
        return None
    try:
        archive = read_lab_file(scope.directory, file.value, LARGEST_ARCHIVE_BYTES)
    except UnreadableError as error:
        complain_unreadable(file, section, scope.directory, error, "*.jar")
        return None
    if not archive.startswith(b"PK"):
        file.complain(
            section.problems, f"{shown(file.value)} is not a Java archive: it does not begin as a ZIP file does"
        )
    named = value_of(main)
    path = own_name(scope.directory, file.value)
    words = (job_file(cluster.name, path), *([named] if named else []), *arguments)
    run = ("org.apache.hadoop.util.RunJar", *words)
    return HadoopJob(name=name, kind="jar", start_ns=start_ns, run=run, file=path)


def _main(text: str) -> str:
    if re.fullmatch(hadoop_keys.MAIN, text) is None:
        raise ValueError(f"{shown(text)} is not the name of a class, such as org.example.WordCount")
    return text
