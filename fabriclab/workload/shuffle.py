"""A MapReduce job's network phases as flows that wait for each other.

`NAME/input/h3`: mapper h3 pulls its share of the input.
`NAME/shuffle/h5/2/7`: reducer h5 pulls partitions in parallel_copies slots, here the eighth of slot 2, which follows
the seventh; the first of a slot follows the whole of `NAME/input`. (Hadoop's fetchers take the next partition from one
queue; here each has its own share.) `NAME/output/h5/1`: what h5 received goes to the host of the second copy when all
of `NAME/shuffle/h5` is complete, and from there on to the next (`/2`): the pipeline forwards while it receives, so its
hops start together. Copies lie as HDFS puts them: the first on the writer itself, the second in another rack, the third
in the second's (K. Shvachko et al., "The Hadoop Distributed File System", MSST 2010).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
import polars as pl

from fabriclab.formats.plan.traffic import ShuffleTraffic
from fabriclab.formats.trace import SMALLEST_BYTES
from fabriclab.workload.collective_schedules import split
from fabriclab.workload.flows import flow_table
from fabriclab.workload.pairs import permutation
from fabriclab.workload.site import Site, TraceError


class _Copy(NamedTuple):
    """A flow of the job; `after` is None for one that starts with the job."""

    src: str
    dst: str
    size_bytes: int
    mode: str
    group: str
    after: str | None


def shuffle_table(traffic: ShuffleTraffic, site: Site) -> pl.DataFrame:
    """Return the flows of a job phase by phase.

    Raises TraceError where a share is too small to be a flow, or hosts are too few.
    """
    inputs = list(_inputs(traffic, site))
    job = f"{traffic.name}/input" if inputs else None
    copies = [*inputs, *_partitions(traffic, site, job), *_outputs(traffic, site, job)]
    src, dst, sizes, modes, groups, after = zip(*copies, strict=True) if copies else ((),) * 6
    columns = {
        "start_ns": np.array([traffic.start_ns if group is None else 0 for group in after], dtype=np.int64),
        "src": site.indices(src),
        "dst": site.indices(dst),
        "size_bytes": np.array(sizes, dtype=np.int64),
        "mode": pl.Series(modes, dtype=pl.String()),
        "group": pl.Series(groups, dtype=pl.String()),
        "after": pl.Series(after, dtype=pl.String()),
    }
    return flow_table(site, traffic.name, traffic.carrier, columns)


def _inputs(traffic: ShuffleTraffic, site: Site) -> Iterator[_Copy]:
    if not traffic.sources:
        return
    sources = permutation(traffic.mappers, traffic.sources, site.stream(traffic.name, "", "sources"), traffic.name)
    sizes = dict(zip(traffic.mappers, _split(traffic, traffic.size_bytes, len(traffic.mappers)), strict=True))
    for mapper in site.order(traffic.name, traffic.mappers):
        yield _Copy(sources[mapper], mapper, sizes[mapper], "pull", f"{traffic.name}/input/{mapper}", None)


def _partitions(traffic: ShuffleTraffic, site: Site, job: str | None) -> Iterator[_Copy]:
    """Yield the partitions that travel, in the order in which slots take them."""
    shares = _split(traffic, traffic.size_bytes, len(traffic.mappers) * len(traffic.reducers))
    sizes = dict(
        zip(((reducer, mapper) for reducer in traffic.reducers for mapper in traffic.mappers), shares, strict=True)
    )
    reducers = site.order(traffic.name, traffic.reducers)
    fetched = {
        reducer: site.stream(traffic.name, reducer, "partitions").shuffled(_others(traffic.mappers, reducer))
        for reducer in reducers
    }
    for place in range(0, max(map(len, fetched.values())), traffic.parallel_copies):
        turn = place // traffic.parallel_copies
        for reducer in reducers:
            for slot, mapper in enumerate(fetched[reducer][place : place + traffic.parallel_copies]):
                chain = f"{traffic.name}/shuffle/{reducer}/{slot}"
                after = f"{chain}/{turn - 1}" if turn else job
                yield _Copy(mapper, reducer, sizes[reducer, mapper], "pull", f"{chain}/{turn}", after)


def _outputs(traffic: ShuffleTraffic, site: Site, job: str | None) -> Iterator[_Copy]:
    if traffic.replicas == 1:
        return
    sizes = dict(zip(traffic.reducers, _split(traffic, traffic.size_bytes, len(traffic.reducers)), strict=True))
    for reducer in site.order(traffic.name, traffic.reducers):
        # A reducer all of whose partitions are its own has nothing to wait for but the job's input.
        after = f"{traffic.name}/shuffle/{reducer}" if _others(traffic.mappers, reducer) else job
        chain = [reducer, *_replicas(traffic, reducer, site)]
        for hop, here, there in zip(count(1), chain, chain[1:], strict=False):
            yield _Copy(here, there, sizes[reducer], "push", f"{traffic.name}/output/{reducer}/{hop}", after)


def _replicas(traffic: ShuffleTraffic, reducer: str, site: Site) -> list[str]:
    """Return the hosts of the further copies of what a reducer writes, in pipeline order."""
    members = dict.fromkeys((*traffic.mappers, *traffic.reducers, *traffic.sources))
    free = site.stream(traffic.name, reducer, "replicas").shuffled(_others(list(members), reducer))
    if len(free) < traffic.replicas - 1:
        raise TraceError(
            f"traffic.{traffic.name}: replicas: {traffic.replicas} copies need {traffic.replicas} hosts; "
            f"the job has {len(members)}"
        )
    # A stable sort: false comes first, and the random order stands where several are as good.
    free.sort(key=lambda host: site.racks[host] == site.racks[reducer])
    first = free.pop(0)
    free.sort(key=lambda host: site.racks[host] != site.racks[first])
    return [first, *free[: traffic.replicas - 2]]


def _others(hosts: Sequence[str], host: str) -> list[str]:
    return [other for other in hosts if other != host]


def _split(traffic: ShuffleTraffic, size_bytes: int, shares: int) -> list[int]:
    """Return the shares of a phase, each of which can be a flow. Raises TraceError where they are too small."""
    if size_bytes // shares < SMALLEST_BYTES:
        raise TraceError(
            f"traffic.{traffic.name}: size: {size_bytes} bytes can't be divided into {shares} shares of "
            f"{SMALLEST_BYTES} bytes or more each"
        )
    return split(size_bytes, shares)
