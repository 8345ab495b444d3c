"""What a lab writes of a Hadoop cluster's disks and processors (`costs` of `kind: hadoop`)."""

from __future__ import annotations

from fabriclab.formats.plan.traffic.hadoop import HadoopCosts
from fabriclab.hadoop.lab import keys
from fabriclab.keys.mappings import Key
from fabriclab.lab.reading.document import MappingValue
from fabriclab.lab.reading.or_none import read_part
from fabriclab.lab.reading.section import Section

_EXTENT_BYTES = 4 << 20
"""What a data node reads ahead (HDFS: dfs.datanode.readahead.bytes), of a disk at its full speed."""


def read_costs(cluster: Section) -> HadoopCosts | None:
    """Return a cluster's costs, the defaults where nothing is written; None: `costs: none`."""
    if "costs" not in cluster:
        return _read(Section(MappingValue({}, {}, cluster.place), cluster.path("costs"), cluster.problems, keys.COSTS))
    return read_part(cluster, "costs", keys.COSTS, _read, None)


def _read(section: Section) -> HadoopCosts:
    scale = keys.COST_SCALE.or_default(section.read(keys.COST_SCALE))

    def cost(key: Key[int]) -> int:
        return key.or_default(section.read(key))

    return HadoopCosts(
        disk_bytes_per_s=round(cost(keys.COST_DISK) * scale),
        seek_ns=cost(keys.COST_SEEK),
        extent_bytes=round(_EXTENT_BYTES * scale),
        page_cache_bytes=round(cost(keys.COST_PAGE_CACHE) * scale),
        map_ns_per_mb=round(cost(keys.COST_MAP) / scale),
        spill_ns_per_mb=round(cost(keys.COST_SPILL) / scale),
        merge_ns_per_mb=round(cost(keys.COST_MERGE) / scale),
        reduce_ns_per_mb=round(cost(keys.COST_REDUCE) / scale),
        jvm_start_ns=cost(keys.COST_JVM_START),
    )
