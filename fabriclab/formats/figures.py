"""The kinds of figure that an experiment may ask for (`report.figures`) and a report draws: a record each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Need = Literal["queues", "switches", "completion", "tcp"]
"""What must have been measured: sampled queues, switches with a shared buffer, completion times, TCP's samples."""


class FigureKind(NamedTuple):
    """What the layers know of a kind of figure; its drawing is in `fabriclab/report`."""

    name: str
    title: str
    """What it is called where it is not there."""
    keys: tuple[str, ...] = ()
    """What a lab may write for it beside `kind` and `where`; what a key means is the same for all kinds
    (`fabriclab.lab.figures`)."""
    in_run: int | None = None
    """Its place in the report of a run that does not ask for it; None: it is drawn where it is asked for."""
    in_sweep: int | None = None
    """Its place in that of a sweep, likewise."""
    needs: Need | None = None
    none_of: str = "nothing was measured"
    """Why it may be empty all the same."""


FIGURES = (
    FigureKind("metric", "", ("metric", "x", "series", "log_x"), in_sweep=1),
    # Before all others.
    FigureKind("hadoop", "Hadoop's tasks over time", ("port",), -1, none_of="no task of a Hadoop job began"),
    FigureKind("collective", "Iterations of collectives", ("traffic",), -2, none_of="there is no collective operation"),
    FigureKind("queue", "Queue over time", ("port", "queue"), 5, 8, "queues"),
    FigureKind("queue-distribution", "Queue lengths", ("port", "queue"), 6, 9, "queues"),
    # In a sweep it follows the switches' ports, where a switch counted drops.
    FigureKind("drops", "Drops and marks", ("port",), 8, needs="queues", none_of="nothing was dropped or marked"),
    FigureKind("fct-cdf", "Flow completion times", ("traffic",), 2, 3, "completion"),
    FigureKind("deadlines", "Deadlines", ("traffic",), 1, 2, "completion", "no flow has a deadline"),
    FigureKind("fct-table", "Table of flow completion times", ("traffic", "bins"), 3, 4, "completion"),
    FigureKind("slowdown", "Slowdown", ("traffic", "bins"), 4, 5, "completion"),
    FigureKind("buffer", "Buffer", ("switch",), 7, needs="switches"),
    FigureKind("pauses", "Pauses", (), 9, needs="switches", none_of="no pause was sent or received"),
    FigureKind("switch-ports", "Ports of switches", (), 10, 6, "switches"),
    FigureKind(
        "congestion-events",
        "Congestion events",
        (),
        11,
        needs="switches",
        none_of="no queue reached the length of its event",
    ),
    FigureKind(
        "throughput",
        "Throughput of long flows",
        (),
        12,
        10,
        "tcp",
        "no long flow was sampled (probes.tcp.traffic)",
    ),
    FigureKind(
        "cwnd",
        "Congestion window over time",
        (),
        13,
        needs="tcp",
        none_of="no flow with a congestion window was sampled; RoCE has none",
    ),
    FigureKind("rtt", "Round-trip time over time", (), needs="tcp"),
)
FIGURE_KINDS = tuple(kind.name for kind in FIGURES)
BY_NAME: Mapping[str, FigureKind] = {kind.name: kind for kind in FIGURES}
RUN_DEFAULT = tuple(kind.name for kind in sorted(FIGURES, key=lambda kind: kind.in_run or 0) if kind.in_run)
SWEEP_DEFAULT = tuple(kind.name for kind in sorted(FIGURES, key=lambda kind: kind.in_sweep or 0) if kind.in_sweep)
