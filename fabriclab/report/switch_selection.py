"""What a report shows of switches with a shared buffer; nothing where no run sampled any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabriclab.report.drawing.curves import Curve
from fabriclab.report.drawing.exhibits import DataTable, Exhibit
from fabriclab.report.drawing.pools import PooledRuns
from fabriclab.report.figures.buffer import buffer_picture
from fabriclab.report.figures.causes import dropped, drops_of_points, drops_of_ports, drops_over_time
from fabriclab.report.figures.pauses import pauses_picture
from fabriclab.report.tables.pauses import pause_tree_table
from fabriclab.report.tables.switches import congestion_event_table, switch_point_table, switch_port_table
from fabriclab.results import Results

Figure = dict[str, Any]


def switch_exhibits(curve: Curve, figure: Figure) -> list[Exhibit | None]:
    """Return what a figure shows of one run; empty for a figure of another kind,
    or of a port that no switch counted."""
    match figure["kind"]:
        case "buffer":
            return [buffer_picture(curve, figure.get("switch"))]
        case "pauses":
            return [pauses_picture(curve), pause_tree_table(curve.results)]
        case "switch-ports":
            return [_with_rows(switch_port_table(curve.results))]
        case "congestion-events":
            return [_with_rows(congestion_event_table(curve.results))]
        case "drops" if counts_drops([curve.results], figure.get("port")):
            return [_drops(curve, figure.get("port"))]
    return []


def switch_point_exhibits(pools: Sequence[PooledRuns], figure: Figure) -> list[Exhibit | None]:
    """Return what a figure shows of all points of a sweep side by side; empty for a figure that
    shows runs one by one."""
    runs = [run for pool in pools for run in pool.runs[:1]]
    match figure["kind"]:
        case "switch-ports":
            return [_with_rows(switch_point_table(pools))]
        case "drops" if counts_drops(runs, figure.get("port")):
            return [drops_of_points(pools, figure.get("port"))]
    return []


def counts_drops(runs: Sequence[Results], port: str | None) -> bool:
    """Return whether a switch with a shared buffer counted the drops of the port, or without one of any."""
    return any(port is None or port in dropped(run) for run in runs if run.switches.queues is not None)


def _drops(curve: Curve, port: str | None) -> Exhibit | None:
    return drops_over_time(curve, port) if port is not None else drops_of_ports(curve.results)


def _with_rows(table: DataTable) -> DataTable | None:
    return table if table.row_count else None
