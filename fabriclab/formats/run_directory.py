"""A run directory and a sweep's: what their files are called, and the versions of those that are JSON.

`runs` writes them, the engines fill `raw/`, `logs/` and `collect/`, `results` reads them (`images/machine/README.md`).
"""

from __future__ import annotations

MANIFEST = "manifest.json"
"""What ran, from what, and how it ended: the file that makes a directory a run directory."""
RUN_FORMAT = "fabriclab-run-1"
PLAN = "plan.json"
"""The plan (`fabriclab.formats.plan`)."""
SUMMARY = "summary.json"
"""The metrics of the run, and what was missing in its logs."""
SUMMARY_FORMAT = "fabriclab-summary-1"
PAUSES = "pauses.json"
"""Who paused whom (`fabriclab.formats.pauses`), of a run with PFC."""
SWEEP = "sweep.json"
"""The points of a matrix: the file that makes a directory a sweep's."""
SWEEP_FORMAT = "fabriclab-sweep-1"

LAB = "lab"
"""The lab's own files, as they were when it ran."""
INPUTS = ("machine", "nodes", "traffic")
"""The directories of what an engine is given, made from the plan."""

TRACE_FILE = "traffic/trace.csv"
"""The flow trace (`fabriclab.formats.trace`)."""
HOSTS_FILE = "traffic/hosts.csv"
JOB_FILE = "machine/job.json"
"""What an engine carries out (`fabriclab.formats.job`)."""
SAMPLER_FILE = "machine/sampler.json"
SAMPLER_FORMAT = "fabriclab-sampler-1"
MODULES = "machine/modules"
"""The user's own algorithms, each as it was written (`NAME.c`) and as the kernel takes it (`NAME.ko`)."""
RAW = "raw"
"""Logs as they were written (`fabriclab.formats.logs`); gone when they have become Parquet."""
LOGS = "logs"
"""What each process said, and what its own logs say."""
COLLECT = "collect"
"""What was asked in nodes at the end."""
SCRATCH = "scratch"
"""Where the virtual machine writes as long as it runs; what is a plain file of it then becomes part of the run."""
FLOW_LOGS = "raw/flows"
IPERF3_LOGS = "raw/iperf3"
PROGRAM_LOGS = "raw/programs"
COST_LOGS = "raw/costs"
"""What Hadoop's processes waited for disks and processors, by the name of the cluster."""
OUTPUT = "output"
"""What programs of the lab's own wrote, where it has a file of its own."""
HADOOP = "hadoop"
"""What Hadoop wrote of its jobs, by the name of the cluster."""
HADOOP_DATE = "date"
"""Ends the name of what says, of a cluster, how far its date is ahead of CLOCK_MONOTONIC, nanoseconds."""
RAW_PCAP = "raw/pcap"
"""tcpdump's own files, one a port."""
PCAP = "pcap"
"""What they become: pcapng."""


PART = "part"
"""Begins the name of a directory below RAW that has what one of several machines wrote."""


def part_file(path: str, part: int) -> str:
    """Return where one of several machines has a file: its job and its sampler's configuration beside the whole lab's,
    its logs in a directory of its own."""
    directory, _, name = path.rpartition("/")
    if directory.endswith("machine"):
        stem, _, ending = name.rpartition(".")
        return f"{directory}/{stem}-{part}.{ending}"
    return f"{directory}/{PART}-{part}/{name}"


def capture_name(port: str) -> str:
    """Return what the files of a captured port (`node:interface`) are called, without their endings."""
    return port.replace(":", "-")


def captured_epoch(port: str) -> str:
    """Return the file that has the epoch beside the packets of a port, nanoseconds of the machine's monotonic clock."""
    return f"{RAW_PCAP}/{capture_name(port)}.epoch"
