"""A run directory, read back: it can be reopened, compared and shared without the lab."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from fabriclab.formats.clock import Clock, clock_of
from fabriclab.formats.manifest import Manifest
from fabriclab.formats.pauses import PauseTree
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import Sent
from fabriclab.formats.run_directory import RAW, SUMMARY
from fabriclab.formats.where_clause import Scalar
from fabriclab.results.collectives import COLLECTIVES
from fabriclab.results.ingest import ingest_run, read_manifest, read_plan, read_summary
from fabriclab.results.parquet import open_parquet
from fabriclab.results.pause_tree import pause_tree
from fabriclab.results.queue_metrics import over_all_ports
from fabriclab.results.summary import Measured, Metrics
from fabriclab.results.switch_tables import SwitchTables
from fabriclab.results.tables import FlowTables
from fabriclab.scratch import Scratch


@dataclass(frozen=True)
class Results(FlowTables):
    """What one run measured.

    Tables are lazy; their columns are those of the formats (README files of traffic and probes).
    """

    directory: Path
    manifest: Manifest
    """Without its copy of the plan."""
    plan: Plan
    summary: Metrics
    notes: tuple[str, ...]
    """What was missing or cut in the logs."""
    measured: Measured

    @property
    def flows(self) -> pl.LazyFrame:
        """One row a flow (`fabriclab.results.flows`)."""
        return self.measured.flows

    @property
    def collectives(self) -> pl.DataFrame | None:
        """One row for each iteration of a collective operation (`fabriclab.results.collectives`); None without any."""
        table = open_parquet(self.directory / f"{COLLECTIVES}.parquet")
        return None if table is None else table.collect()

    @property
    def switches(self) -> SwitchTables:
        """What was sampled of switches with a shared buffer."""
        return self.measured.switches

    @cached_property
    def pause_tree(self) -> PauseTree:
        """Who paused whom, back to where it began."""
        return pause_tree(self.measured, self.plan)

    @property
    def status(self) -> str:
        """How the run ended: complete, limit, starved (invalid: real time, and no CPU for it), stopped, failed,
        crashed or interrupted."""
        return self.manifest.status

    @property
    def clock(self) -> Clock:
        """The clock that the run's times are of."""
        return clock_of(self.manifest.engine)

    @property
    def is_whole(self) -> bool:
        """Whether the run ended by itself, every flow finished and every log is whole."""
        return self.status == "complete" and not self.notes and self.summary.get("flows_incomplete") == 0

    @property
    def title(self) -> str:
        """The experiment's title, or the lab's name."""
        return self.plan.title or self.plan.lab or self.directory.name

    @property
    def settings(self) -> dict[str, Scalar]:
        """What this run changed in the lab, by parameter."""
        return dict(self.plan.settings)

    @property
    def parameters(self) -> dict[str, Scalar]:
        """Every parameter's value in this run, changed or not."""
        return self.plan.parameters | self.plan.settings

    @property
    def congestion_control(self) -> str:
        """The congestion control of all that is sent, the traffic's own or its senders', `mixed` when they differ.

        Over RoCE it is that of their NICs, `roce` without one; over Homa `homa`.
        """
        sent = [each for each in self.plan.traffic if isinstance(each, Sent)]
        over_roce = {name for each in sent if each.carrier.transport == "roce" for name in each.senders}
        over_homa = {name for each in sent if each.carrier.transport == "homa" for name in each.senders}
        others = [each for each in sent if each.carrier.transport not in ("roce", "homa")]
        of_hosts = {
            node.name: node.transport.congestion_control for node in self.plan.nodes if node.transport is not None
        }
        used = {
            each.carrier.congestion_control or of_hosts[name]
            for each in others
            for name in each.senders
            if name in of_hosts
        }
        used |= set() if sent else set(of_hosts.values())
        used |= {
            "roce" if port.nic.roce.control is None else port.nic.roce.control.name
            for node in self.plan.nodes
            for port in node.ports
            if node.name in over_roce and port.nic is not None and port.nic.roce is not None
        }
        used |= {"homa"} if over_homa else set()
        return used.pop() if len(used) == 1 else "mixed"


def read_run(run_dir: Path) -> Results:
    """Read a run directory. A run that was never ingested is ingested first.

    One that never ended was killed with its host, or still runs: what it has so far is shown, and its raw logs are left
    alone.

    Raises ResultsError when it is not a run directory or a file of it is broken.
    """
    manifest = read_manifest(run_dir)
    plan = read_plan(run_dir, manifest)
    # One copy is enough: it is the larger part of a manifest, and a sweep has a thousand.
    manifest.plan = None
    if manifest.ended is None:
        Scratch(run_dir).copy_out()
    if not (run_dir / SUMMARY).exists() or (run_dir / RAW).is_dir():
        ingest_run(run_dir, keep_raw=manifest.ended is None)
    summary = read_summary(run_dir / SUMMARY)
    # Older versions wrote the first port's numbers under the names of all ports.
    metrics = summary.metrics | over_all_ports(summary.metrics, plan.probes.queue_ports)
    return Results(run_dir, manifest, plan, metrics, tuple(summary.notes), Measured.open(run_dir))
