"""The numbers of a run's summary: what each is called, means and covers. `fabriclab.results` computes them.

The ending of a name is its unit: `_bps`, `_bytes` (and `bytes`), `_ns`, `_us`; without one it is a plain number. A
metric that was not measured is null. `docs/metrics.md` is made of this list.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Place = Literal["run", "traffic", "port", "switch-port", "queue", "pool"]
"""What a metric is of: the bare name is the run's; in brackets stand a class of flows, a sampled port, a port of a
switch with a shared buffer, one of its queues, a pool of its memory."""


class Metric(NamedTuple):
    """A number of the summary."""

    name: str
    title: str
    """What it is called in a report."""
    meaning: str
    """Its definition."""
    of: tuple[Place, ...] = ("run",)
    """Where checks and figures may name it; nowhere: it qualifies another one."""
    together: Literal["sum", "largest"] | None = None
    """What the run's own is of those of ports, queues, pools or jobs."""
    better: Literal["more", "less"] | None = None
    """Which of two values is the better one, all else being equal; None where that hangs on what one wants."""


_CLASS: tuple[Place, ...] = ("run", "traffic")
_PORT: tuple[Place, ...] = ("run", "port")
_SWITCH_PORT: tuple[Place, ...] = ("run", "switch-port")
_QUEUE: tuple[Place, ...] = ("run", "switch-port", "queue")
_POOL: tuple[Place, ...] = ("run", "pool")
_FCT, _SLOWDOWN, _COFLOW = "Flow completion time", "Slowdown", "Coflow completion time"
_OF_FCT = "completion times of complete sized flows"
_OF_SLOWDOWN = "completion time / ideal on an idle path (`fabriclab.results.idle_path`), of complete sized flows"
_OF_COFLOW = "completion times of complete coflows: rounds, queries, phases of a job (`fabriclab.results.coflows`)"
_OF_QUEUE = "of the queue's length over the busy time, weighted by time: a sample holds until the next"
_OF_SHUFFLES = (
    "the connections of Hadoop's shuffles from one node to another, both ends, where the probe `connections` has them; "
    "null of one job while others run"
)
_OF_PHASES = "phases of 100 ms and more in which the same sampled long flows run, two at least (`results.fairness`)"

FLOWS = (
    Metric("flows", "Flows", "flows of the trace", _CLASS),
    Metric(
        "flows_complete",
        "Flows complete",
        "sized flows read whole by the receiver, and long flows that ran to their stop time",
        _CLASS,
        better="more",
    ),
    Metric(
        "flows_incomplete",
        "Flows incomplete",
        "all others: cut, never started, failed or lost; they are part of `flows`, never dropped",
        _CLASS,
        better="less",
    ),
    Metric("flows_unstarted", "Flows unstarted", "of those, flows that never started", better="less"),
    Metric("flows_failed", "Flows failed", "of those, flows that failed", better="less"),
    Metric("flows_lost", "Flows lost", "of those, flows that nobody logged", better="less"),
    Metric(
        "flows_with_timeouts",
        "Flows that waited for a timeout",
        "flows whose retransmission timer ran out",
        _CLASS,
        better="less",
    ),
    Metric(
        "flows_with_setup_timeouts",
        "Flows whose connection waited for a timeout",
        "flows whose connection stood a second or more after their start: SYN or SYN-ACK was lost",
        _CLASS,
        better="less",
    ),
    Metric(
        "flows_fast_retransmit",
        "Flows with retransmissions, no timeout",
        "flows that sent segments again without a timeout",
    ),
    Metric("bytes", "Bytes received", "bytes that receivers read, of incomplete flows too", better="more"),
    Metric("goodput_bps", "Goodput", "8 x bytes / (last byte read - first start)", better="more"),
    Metric("timeouts", "Retransmission timeouts", "retransmission timeouts, summed over flows", _CLASS, better="less"),
    Metric("retransmits", "Segments sent again", "segments sent again, summed over flows", _CLASS, better="less"),
    Metric("marks", "Segments acknowledged with ECE", "segments acknowledged with ECE, summed over flows", _CLASS),
    Metric("fct_mean_ns", f"{_FCT}, mean", f"mean of {_OF_FCT}", _CLASS, better="less"),
    Metric("fct_std_ns", f"{_FCT}, standard deviation", f"standard deviation (divisor n - 1) of {_OF_FCT}", _CLASS),
    Metric("fct_median_ns", f"{_FCT}, median", f"nearest-rank median of {_OF_FCT}", _CLASS, better="less"),
    Metric(
        "fct_p95_ns", f"{_FCT}, 95th percentile", f"nearest-rank 95th percentile of {_OF_FCT}", _CLASS, better="less"
    ),
    Metric(
        "fct_p99_ns", f"{_FCT}, 99th percentile", f"nearest-rank 99th percentile of {_OF_FCT}", _CLASS, better="less"
    ),
    Metric(
        "fct_p999_ns",
        f"{_FCT}, 99.9th percentile",
        f"nearest-rank 99.9th percentile of {_OF_FCT}",
        _CLASS,
        better="less",
    ),
    Metric("fct_max_ns", f"{_FCT}, longest", f"longest of {_OF_FCT}", better="less"),
    Metric("fct_short_mean_ns", f"{_FCT} up to 10 KB, mean", f"mean of {_OF_FCT} of 10,000 B or less", better="less"),
    Metric(
        "fct_short_p99_ns",
        f"{_FCT} up to 10 KB, 99th percentile",
        f"nearest-rank 99th percentile of {_OF_FCT} of 10,000 B or less",
        better="less",
    ),
    Metric("slowdown_mean", f"{_SLOWDOWN}, mean", f"mean of {_OF_SLOWDOWN}", _CLASS, better="less"),
    Metric("slowdown_median", f"{_SLOWDOWN}, median", f"median of {_OF_SLOWDOWN}", _CLASS, better="less"),
    Metric("slowdown_p95", f"{_SLOWDOWN}, 95th percentile", f"95th percentile of {_OF_SLOWDOWN}", better="less"),
    Metric(
        "slowdown_p99", f"{_SLOWDOWN}, 99th percentile", f"99th percentile of {_OF_SLOWDOWN}", _CLASS, better="less"
    ),
    Metric("slowdown_p999", f"{_SLOWDOWN}, 99.9th percentile", f"99.9th percentile of {_OF_SLOWDOWN}", better="less"),
    Metric("coflow_mean_ns", f"{_COFLOW}, mean", f"mean of {_OF_COFLOW}", _CLASS, better="less"),
    Metric("coflow_median_ns", f"{_COFLOW}, median", f"median of {_OF_COFLOW}", _CLASS, better="less"),
    Metric("coflow_p95_ns", f"{_COFLOW}, 95th percentile", f"95th percentile of {_OF_COFLOW}", _CLASS, better="less"),
    Metric("coflow_p99_ns", f"{_COFLOW}, 99th percentile", f"99th percentile of {_OF_COFLOW}", _CLASS, better="less"),
    Metric("coflows", "Coflows", "coflows: rounds, queries, phases of a job; null where there are none", _CLASS),
    Metric(
        "coflows_with_timeouts",
        "Coflows that waited for a timeout",
        "coflows with a flow whose retransmission timer ran out",
        _CLASS,
        better="less",
    ),
    Metric(
        "coflow_deadline_misses",
        "Coflows that missed their deadline",
        "coflows that missed the deadline that all their flows have, incomplete ones included; null where none has one",
        _CLASS,
        better="less",
    ),
    Metric(
        "deadline_misses",
        "Deadlines missed",
        "sized flows that missed their deadline, incomplete ones included",
        _CLASS,
        better="less",
    ),
    Metric("deadline_flows", "Flows with a deadline", "sized flows that have a deadline", _CLASS),
    Metric("rounds_complete", "Rounds complete", "groups of the trace of which every flow is complete", better="more"),
    Metric("round_mean_ns", "Round, mean", "mean over those groups of (last byte read - first start)", better="less"),
    Metric(
        "mptcp_fallbacks",
        "Flows that fell back from MPTCP to TCP",
        "flows that asked for MPTCP and got TCP",
        better="less",
    ),
    Metric(
        "jain_fairness",
        "Jain's fairness index",
        "Jain's index of the long flows' own throughputs; needs two of them",
        better="more",
    ),
    Metric("min_rtt_us", "Round-trip time, smallest", "smallest round-trip time that any flow saw"),
    Metric("throughput_bps", "Goodput", "goodput of one class of flows", ("traffic",), better="more"),
)
"""Flows; those of a class are measured for the 100 classes with the most flows."""
JOBS = (
    Metric(
        "job_ns",
        "Job completion time",
        "completion time of a shuffle, all its phases, or of a Hadoop job from submission to end by Hadoop's own "
        "history; null while one job is not complete",
        _CLASS,
        "largest",
        better="less",
    ),
    Metric(
        "shuffle_retransmits",
        "Segments of the shuffle sent again",
        f"segments that TCP sent again in {_OF_SHUFFLES}",
        _CLASS,
        "sum",
        better="less",
    ),
    Metric(
        "shuffle_timeouts",
        "Timeouts in the shuffle",
        f"retransmission timeouts in {_OF_SHUFFLES}",
        _CLASS,
        "sum",
        better="less",
    ),
    Metric(
        "program_ns",
        "Program's time",
        "time from the start of a program of the lab's own to its end; null of one that did not run to it",
        _CLASS,
        "largest",
        better="less",
    ),
)
QUEUES = (
    Metric("queue_mean_bytes", "Queue, mean over time", f"mean {_OF_QUEUE}", _PORT, "largest", better="less"),
    Metric("queue_median_bytes", "Queue, median over time", f"median {_OF_QUEUE}", _PORT, "largest", better="less"),
    Metric(
        "queue_p99_bytes",
        "Queue, 99th percentile over time",
        f"99th percentile {_OF_QUEUE}",
        _PORT,
        "largest",
        better="less",
    ),
    Metric(
        "queue_max_bytes", "Queue, longest", "largest sample of the queue's length", _PORT, "largest", better="less"
    ),
    Metric(
        "drops", "Packets dropped", "packets dropped by the port, last sample minus first", _PORT, "sum", better="less"
    ),
    Metric("queue_marks", "Packets marked by the switch", "packets marked by the port, likewise", _PORT, "sum"),
    Metric(
        "stalls",
        "Silences of 10 ms or more",
        "times that the port sent nothing for 10 ms or more: waiting for a timer",
        _PORT,
        "sum",
        better="less",
    ),
    Metric("stalled_ns", "Time in such silences", "length of those silences in all", _PORT, "sum", better="less"),
    Metric(
        "sent_bps",
        "Rate sent by the port",
        "8 x bytes sent / busy time, by the samples around it; a frame is Ethernet's header and what it carries, not "
        "check sequence, preamble and gap",
        _PORT,
        "largest",
    ),
)
"""Sampled ports (`probes.queues`), over the busy time: from the first start to the last byte."""
TCP = (
    Metric(
        "srtt_mean_us",
        "Smoothed round-trip time, mean",
        "time-weighted mean of the senders' smoothed round-trip time over all sampled flows; each subflow of MPTCP "
        "counts",
        better="less",
    ),
    Metric(
        "jain_phase_mean",
        "Jain's fairness index, mean of phases",
        f"mean of Jain's index over {_OF_PHASES}",
        better="more",
    ),
    Metric(
        "jain_phase_min", "Jain's fairness index, least of phases", f"least Jain's index of {_OF_PHASES}", better="more"
    ),
    Metric(
        "rate_variation",
        "Variation of a flow's rate",
        "standard deviation over mean of the throughput of a sampled long flow in windows of 10 ms, from 100 ms after "
        "its start on; the mean over flows (`results.rate_variation`)",
        better="less",
    ),
    Metric(
        "fair_after_mean_ns",
        "Fair after a flow came or went, mean",
        "mean over those phases of the time after which what each has got since the phase began stays fair (index "
        "0.95); the whole phase counts where that never comes",
        better="less",
    ),
)
"""Sampled connections (`probes.tcp`)."""
ROUTING = (
    Metric(
        "convergence_ns",
        "Routing converged after",
        "from the start of the daemons until every switch's kernel had every expected route",
        better="less",
    ),
    Metric(
        "reconvergence_ns",
        "Routing followed the failure after",
        "from the first change of links that any route must follow until every switch's kernel had followed; as "
        "configured, until the last change of any node's routes",
        better="less",
    ),
    Metric(
        "convergence_within_ns",
        "Routing may have converged sooner, by up to",
        "how much sooner it may have been, of an engine that can't look at all routes at once",
        (),
    ),
    Metric(
        "reconvergence_within_ns",
        "Routing may have followed sooner, by up to",
        "how much sooner it may have been, likewise; as configured, at most a hundredth of a change's distance",
        (),
    ),
    Metric(
        "reconvergence_still_ns",
        "No route changed after that, for",
        "as configured: for how long no route had changed when it was told; at least as long as all before",
        (),
    ),
)
SWITCHES = (
    Metric(
        "queue_drops",
        "Packets dropped by queues",
        "packets that a queue's own limit, the end of its pool, or the limit of its virtual output queue refused",
        _QUEUE,
        "sum",
        better="less",
    ),
    Metric("wred_drops", "Packets dropped by WRED", "packets dropped early", _QUEUE, "sum", better="less"),
    Metric(
        "storm_drops",
        "Packets dropped in pause storms",
        "packets dropped by the pause watchdog",
        _QUEUE,
        "sum",
        better="less",
    ),
    Metric(
        "ecn_marks", "Packets marked by the switches", "packets marked by WRED and by the phantom queue", _QUEUE, "sum"
    ),
    Metric(
        "pauses_received",
        "Pause frames received",
        "pause frames that arrived; of a queue: times that it was stopped",
        _QUEUE,
        "sum",
    ),
    Metric(
        "paused_ns",
        "Time that queues were paused",
        "time that queues were stopped, summed over them",
        _QUEUE,
        "sum",
        better="less",
    ),
    Metric("storms", "Pause storms", "pause storms that the watchdog found", _QUEUE, "sum", better="less"),
    Metric("pauses_sent", "Pause frames sent", "pause frames sent", _SWITCH_PORT, "sum"),
    Metric(
        "ingress_discards",
        "Packets discarded at ingress",
        "packets that came in there and found their priority group at its limit, headroom and all",
        _SWITCH_PORT,
        "sum",
        better="less",
    ),
    Metric(
        "xoff_ns",
        "Time that priority groups were in XOFF",
        "time that priority groups held their neighbour in XOFF, summed over them",
        _SWITCH_PORT,
        "sum",
        better="less",
    ),
    Metric(
        "congestion_events",
        "Congestion events",
        "times that a queue reached its `event` length",
        _SWITCH_PORT,
        "sum",
        better="less",
    ),
    Metric(
        "pool_max_bytes",
        "Buffer pool in use, most",
        "most that was in use of the pool beyond what is reserved, by the switch's own watermark",
        _POOL,
        "largest",
    ),
    Metric(
        "headroom_max_bytes",
        "Headroom in use, most",
        "most that was in use of its priority groups' headroom, summed over them, likewise",
        _POOL,
        "largest",
    ),
)
"""Switches with a shared buffer (`probes.switches`), counted by the switch from time 0 on. A host's port counts what it
did to its switch: in no sum, for the switch counts it at the other end."""

METRICS: tuple[Metric, ...] = (*FLOWS[:-1], *JOBS, *QUEUES, *TCP, *ROUTING, *SWITCHES, FLOWS[-1])
BY_NAME = {metric.name: metric for metric in METRICS}


def names(metrics: tuple[Metric, ...], place: Place, together: str | None = None) -> tuple[str, ...]:
    """Return the names of those metrics that are of such a place, and of these only those put together so."""
    return tuple(
        metric.name for metric in metrics if place in metric.of and (together is None or metric.together == together)
    )
