"""`kind: hadoop`: HDFS and YARN on nodes of the fabric, and the jobs that they run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.hadoop.lab.archives import TEZ_VERSION, archives, tez_archives, versions
from fabriclab.hadoop.lab.cluster import (
    read_disk_size,
    read_host,
    read_settings,
)
from fabriclab.hadoop.lab.costs import read_costs
from fabriclab.hadoop.lab.jobs import Cluster, read_jobs
from fabriclab.hadoop.lab.keys import BLOCK_SIZE, KEYS, SLOTS, VERSION
from fabriclab.keys.quantities import Number
from fabriclab.lab.reading.names import HostReader
from fabriclab.lab.reading.section import Section, value_or
from fabriclab.lab.traffic.carrier import read_dscp
from fabriclab.lab.traffic.programs import read_jars
from fabriclab.lab.traffic.scope import Scope
from fabriclab.traffic_kinds import words
from fabriclab.traffic_kinds.kind import Kind
from fabriclab.units import format_count, format_size

if TYPE_CHECKING:
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.formats.plan.traffic.hadoop import HadoopCosts
    from fabriclab.workload.site import Site


_REPLICATION = 3
"""HDFS: dfs.replication; fewer where there are fewer data nodes."""


class Hadoop(Kind[HadoopTraffic]):
    """A Hadoop cluster with its jobs."""

    keys = KEYS

    def read(self, section: Section, name: str, scope: Scope) -> HadoopTraffic | None:
        """Return the cluster; None after recording what is wrong."""
        section.require("namenode", example="namenode: the host that HDFS's NameNode runs on")
        section.require(
            "data_nodes", example="data_nodes: a count, a range such as d1..d7, a group, or a list of hosts"
        )
        section.require("compute_nodes", example="compute_nodes: a count, a range such as c1..c14, a group, or a list")
        reader = HostReader(section, scope.names)
        version = value_or(section.read(VERSION), versions()[-1])
        namenode, manager = read_host(section, "namenode", scope), read_host(section, "resourcemanager", scope)
        data_nodes, compute_nodes = reader.hosts("data_nodes"), reader.hosts("compute_nodes")
        most = len(data_nodes or scope.names.hosts) or 1
        why = "each copy lies on a data node of its own"
        replication = value_or(section.value("replication", Number(1, most, why=why)), min(_REPLICATION, most))
        block_bytes = BLOCK_SIZE.or_default(section.read(BLOCK_SIZE))
        slots = SLOTS.or_default(section.read(SLOTS))
        disk_bytes = read_disk_size(section, block_bytes)
        jobs = read_jobs(section, scope, Cluster(name, replication, block_bytes))
        settings, jars = read_settings(section), read_jars(section, scope.directory)
        costs, dscp = read_costs(section), read_dscp(section)
        if namenode is None or data_nodes is None or compute_nodes is None:
            return None
        has_tez = any(job.framework == "tez" for job in jobs)
        return HadoopTraffic(
            name=name,
            version=version,
            tez_version=TEZ_VERSION if has_tez else None,
            namenode=namenode,
            resourcemanager=manager or namenode,
            data_nodes=data_nodes,
            compute_nodes=compute_nodes,
            replication=replication,
            block_bytes=block_bytes,
            slots=slots,
            disk_bytes=disk_bytes,
            jobs=jobs,
            costs=costs,
            dscp=dscp,
            settings=settings,
            jars=tuple(dict.fromkeys((*archives(version), *(tez_archives(TEZ_VERSION) if has_tez else ()), *jars))),
        )

    def flows(self, traffic: HadoopTraffic, site: Site) -> pl.DataFrame:
        """Return no flows: what Hadoop sends is its own."""
        import numpy as np

        from fabriclab.workload.flows import flow_table

        none = np.zeros(0, dtype=np.int64)
        return flow_table(site, traffic.name, traffic.carried_by, {"start_ns": none, "src": none, "dst": none})

    def sentences(self, traffic: HadoopTraffic, plan: Plan) -> Iterator[str]:
        """Yield who has which part, and the jobs with their starts."""
        yield f"Hadoop {traffic.version}: NameNode on {traffic.namenode}, ResourceManager on {traffic.resourcemanager}"
        yield f"data on {', '.join(traffic.data_nodes)}; tasks on {', '.join(traffic.compute_nodes)}"
        copies = format_count(traffic.replication, "copy")
        slots = format_count(traffic.slots, "container")
        disk = "" if traffic.disk_bytes is None else f", a disk of {format_size(traffic.disk_bytes)}"
        yield f"blocks of {format_size(traffic.block_bytes)}, {copies} of each; {slots} a node{disk}"
        yield from _costs(traffic.costs)
        for job in traffic.jobs:
            size = "" if job.size_bytes is None else f" of {format_size(job.size_bytes)}"
            on = f", on Tez {traffic.tez_version}" if job.framework == "tez" else ""
            yield f"{job.name} ({job.kind}{size}{on}) from {words.time(job.start_ns)}"


def _costs(costs: HadoopCosts | None) -> Iterator[str]:
    if costs is None:
        yield "disks and processors take no time"
        return
    yield f"disks of {format_size(costs.disk_bytes_per_s)} a second, seeks of {words.time(costs.seek_ns)}"
    parts = {"map": costs.map_ns_per_mb, "spill": costs.spill_ns_per_mb, "merge": costs.merge_ns_per_mb}
    parts["reduce"] = costs.reduce_ns_per_mb
    each = ", ".join(f"{name} {words.time(value)}" for name, value in parts.items())
    yield f"computing a megabyte: {each}; a JVM's start {words.time(costs.jvm_start_ns)}"


KIND = Hadoop()
