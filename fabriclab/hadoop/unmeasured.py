"""Why a metric of Hadoop's would stay unknown: there is no such job, or nobody watches the connections of a node."""

from __future__ import annotations

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.keys.wording import listed

OF_CONNECTIONS = ("shuffle_retransmits", "shuffle_timeouts")
"""The metrics that the connections of shuffles tell."""
_CONNECTIONS = "write probes: {connections: {}}, which has all hosts that run programs"


def metric_lacks(plan: Plan, name: str, place: str) -> str:
    """Return why a metric of all clusters or of one job would be unknown; empty where it is measured."""
    every = [traffic for traffic in plan.traffic if isinstance(traffic, HadoopTraffic)]
    clusters = [each for each in every if not place or place in (f"{each.name}-{job.name}" for job in each.jobs)]
    if not clusters:
        return f"there is no Hadoop job{f' {place}' if place else ''}"
    if name not in OF_CONNECTIONS:
        return ""
    nodes = {node for each in clusters for node in each.compute_nodes}
    unseen = nodes.difference(plan.probes.connection_hosts)
    return f"connections of {listed(sorted(unseen))} are not seen; {_CONNECTIONS}" if unseen else ""
