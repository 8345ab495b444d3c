"""What clusters of one lab must not share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fabriclab.formats.plan.traffic import HadoopTraffic, Traffic
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.command import complain


def check_clusters(every: Sequence[Traffic], section: Section) -> None:
    """Record clients of jobs that have the name of another program, and nodes of two clusters, which would have the
    same ports and files."""
    clusters = [traffic for traffic in every if isinstance(traffic, HadoopTraffic)]
    names = Counter(program.name for traffic in every for program in traffic.programs())
    for cluster in clusters:
        for program in cluster.programs():
            if names[program.name] > 1:
                message = f"{shown(program.name)}, the client of a job, is the name of another program too"
                complain(section, cluster.name, "jobs", message)
    taken: dict[str, str] = {}
    for cluster in clusters:
        shared = sorted(cluster.program_nodes() & taken.keys())
        if shared:
            message = f"{shared[0]} belongs to {taken[shared[0]]} already; a node belongs to one cluster"
            complain(section, cluster.name, "namenode", message)
        taken |= dict.fromkeys(cluster.program_nodes(), cluster.name)
