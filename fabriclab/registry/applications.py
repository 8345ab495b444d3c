"""Applications: software whose clusters of programs are one kind of traffic, such as Hadoop; a folder each.

Core knows this list and no application's folder. It loads, mostly for a plan that has such traffic:

- `kind`: `KIND`, its kind of traffic (`fabriclab.traffic_kinds.kind`), which is loaded for a lab that names it;
- `lab.cluster`: `check_clusters(traffic, section)`, what is wrong with its clusters beside all other traffic;
- `unmeasured`: `metric_lacks(plan, name, place)`, why one of its metrics would be unknown;
- `compile.known`: `is_known(traffic)`, whether such traffic runs nothing that a lab brought along;
- `compile.cluster`: `node_files(node, plan)`, what a node's root holds for it; `setup_steps(plan, stock=...)`, what
  starts its clusters before the epoch; `last_programs(plan)`, what is fetched of them when the run is over;
  `job_archives(plan)`, the user's files that it finds in the run directory; `memory_bytes(plan)`, what it needs;
- `results.connections`: `servers_of(plan)`, what connections between its nodes were for;
- `results.tables`: `application_tables(run_dir, plan, connections, watched)`, what the application says of its jobs;
  `WORDS`, what columns of these tables mean;
- `results.metrics`: `application_metrics(tables, connections, plan, watched, job_ns)`, metrics by their names;
- `report.picture`: `picture(curve, port)`, the figure that has its name in `formats/figures.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from fabriclab.formats import flow_metrics

if TYPE_CHECKING:
    from fabriclab.formats.plan import Plan

Part = Literal[
    "kind",
    "lab.cluster",
    "unmeasured",
    "compile.cluster",
    "compile.known",
    "results.connections",
    "results.tables",
    "results.metrics",
    "report.picture",
]


@dataclass(frozen=True)
class Application:
    """An application: its name is that of its folder, and of its kind of traffic."""

    name: str
    tables: tuple[str, ...]
    """The tables of a run that are made of what it says."""
    metrics: tuple[str, ...]
    """The metrics that it adds to every run's summary: those of a run without it are unknown."""

    def load(self, part: Part) -> Any:
        """Return a module of its folder."""
        return import_module(f"fabriclab.{self.name}.{part}")


HADOOP = Application(
    "hadoop",
    tables=("hadoop_jobs", "hadoop_tasks", "hadoop_transfers", "hadoop_costs"),
    metrics=tuple(metric.name for metric in flow_metrics.HADOOP),
)
APPLICATIONS = (HADOOP,)


def application_of(kind: str) -> Application | None:
    """Return the application of a kind of traffic; None for traffic of another sort."""
    return next((application for application in APPLICATIONS if application.name == kind), None)


def application_with_metric(name: str) -> Application | None:
    """Return the application that a metric is of; None for a metric of another sort."""
    return next((application for application in APPLICATIONS if name in application.metrics), None)


def applications_of(plan: Plan) -> list[Application]:
    """Return the applications whose traffic a plan has."""
    kinds = {traffic.kind for traffic in plan.traffic}
    return [application for application in APPLICATIONS if application.name in kinds]
