"""What takes a Hadoop cluster time besides the network: disks and processors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fabriclab.constraints import Record
from fabriclab.formats import ranges


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
