"""Why what is known of shuffles would stay unknown: nobody watches the connections of a node."""

from __future__ import annotations

from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.traffic import HadoopTraffic
from fabriclab.keys.wording import listed

_CONNECTIONS = "write probes: {connections: {}}, which has all hosts that run programs"


def metric_lacks(plan: Plan, place: str) -> str:
    """Return why nobody sees the connections of a shuffle, of all clusters or of one job; empty where somebody does."""
    every = [traffic for traffic in plan.traffic if isinstance(traffic, HadoopTraffic)]
    clusters = [each for each in every if not place or place in (f"{each.name}-{job.name}" for job in each.jobs)]
    if not clusters:
        return f"there is no Hadoop job{f' {place}' if place else ''}"
    nodes = {node for each in clusters for node in each.compute_nodes}
    unseen = nodes.difference(plan.probes.connection_hosts)
    return f"connections of {listed(sorted(unseen))} are not seen; {_CONNECTIONS}" if unseen else ""
