"""What a lab writes of a Hadoop cluster's disks and processors (`costs` of `kind: hadoop`)."""

from __future__ import annotations

from fractions import Fraction

from fabriclab.formats.plan.traffic.hadoop_costs import HadoopCosts
from fabriclab.lab.reading import defaults
from fabriclab.lab.reading.document import MappingValue
from fabriclab.lab.reading.fraction import parse_fraction
from fabriclab.lab.reading.or_none import read_part
from fabriclab.lab.reading.problems import shown
from fabriclab.lab.reading.section import Section, value_or

COST_KEYS = ("scale", "disk", "seek", "page_cache", "map", "spill", "merge", "reduce", "jvm_start")
FASTEST_DISK_BYTES = 10**12
"""A second."""
LONGEST_COST_NS = 100 * 10**9
LARGEST_CACHE_BYTES = 1 << 44
SMALLEST_SCALE, LARGEST_SCALE = Fraction(1, 10**6), Fraction(1000)
_EXTENT_BYTES = 4 << 20
"""What a data node reads ahead (HDFS: dfs.datanode.readahead.bytes), of a disk at its full speed."""


def read_costs(cluster: Section) -> HadoopCosts | None:
    """Return a cluster's costs, the defaults where nothing is written; None: `costs: none`."""
    if "costs" not in cluster:
        return _read(Section(MappingValue({}, {}, cluster.place), cluster.path("costs"), cluster.problems, COST_KEYS))
    return read_part(cluster, "costs", COST_KEYS, _read, None)


def _read(section: Section) -> HadoopCosts:
    scale = value_or(section.read("scale", "a factor such as 1/25", _scale), Fraction(1))
    disk = section.size("disk", 0, FASTEST_DISK_BYTES, "bytes a second")
    cache = section.size("page_cache", 0, LARGEST_CACHE_BYTES)

    def cost_ns(key: str, default_ns: int) -> int:
        return value_or(section.duration(key, 0, LONGEST_COST_NS), default_ns)

    return HadoopCosts(
        disk_bytes_per_s=round(value_or(disk, defaults.DISK_BYTES) * scale),
        seek_ns=cost_ns("seek", defaults.DISK_SEEK_NS),
        extent_bytes=round(_EXTENT_BYTES * scale),
        page_cache_bytes=round(value_or(cache, defaults.PAGE_CACHE_BYTES) * scale),
        map_ns_per_mb=round(cost_ns("map", defaults.HADOOP_MAP_NS) / scale),
        spill_ns_per_mb=round(cost_ns("spill", defaults.HADOOP_SPILL_NS) / scale),
        merge_ns_per_mb=round(cost_ns("merge", defaults.HADOOP_MERGE_NS) / scale),
        reduce_ns_per_mb=round(cost_ns("reduce", defaults.HADOOP_REDUCE_NS) / scale),
        jvm_start_ns=cost_ns("jvm_start", defaults.JVM_START_NS),
    )


def _scale(text: str) -> Fraction:
    factor = parse_fraction(text)
    if factor is None or not SMALLEST_SCALE <= factor <= LARGEST_SCALE:
        raise ValueError(f"{shown(text)} is no scale; write a factor from 1/1000000 to 1000 such as 1/25")
    return Fraction(factor)
