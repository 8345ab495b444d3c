"""The numbers of a run's summary: what each is called, means and covers. `fabriclab.results` computes them.

The ending of a name is its unit: `_bps`, `_bytes` (and `bytes`), `_ns`, `_us`; without one it is a plain number. A
metric that was not measured is null. `docs/metrics.md` is made of this list.
"""

from __future__ import annotations

from fabriclab.formats.flow_metrics import COLLECTIVES, FLOWS, JOBS, Metric, Place

_PORT: tuple[Place, ...] = ("run", "port")
_SWITCH_PORT: tuple[Place, ...] = ("run", "switch-port")
_QUEUE: tuple[Place, ...] = ("run", "switch-port", "queue")
_POOL: tuple[Place, ...] = ("run", "pool")
_OF_QUEUE = "of the queue length over the busy time, weighted by time (a sample holds until the next one)"
_OF_PHASES = (
    "the phases of at least 100 ms in which the same sampled long flows run, at least two of them (`results.fairness`)"
)

QUEUES = (
    Metric("queue_mean_bytes", "Queue, mean over time", f"the mean {_OF_QUEUE}", _PORT, "largest", better="less"),
    Metric("queue_median_bytes", "Queue, median over time", f"the median {_OF_QUEUE}", _PORT, "largest", better="less"),
    Metric(
        "queue_p99_bytes",
        "Queue, 99th percentile over time",
        f"the 99th percentile {_OF_QUEUE}",
        _PORT,
        "largest",
        better="less",
    ),
    Metric(
        "queue_max_bytes", "Queue, longest", "the largest sample of the queue length", _PORT, "largest", better="less"
    ),
    Metric(
        "drops",
        "Packets dropped",
        "the number of packets that the port dropped: the last sample minus the first",
        _PORT,
        "sum",
        better="less",
    ),
    Metric(
        "queue_marks",
        "Packets marked by the switch",
        "the number of packets that the port marked: the last sample minus the first",
        _PORT,
        "sum",
    ),
    Metric(
        "stalls",
        "Silences of 10 ms or more",
        "how many times the port sent nothing for at least 10 ms, typically while senders waited for a timer",
        _PORT,
        "sum",
        better="less",
    ),
    Metric("stalled_ns", "Time in such silences", "the total length of these silences", _PORT, "sum", better="less"),
    Metric(
        "sent_bps",
        "Rate sent by the port",
        "8 x bytes sent / busy time, from the samples around it. A frame counts with its Ethernet header and "
        "payload, without check sequence, preamble and gap.",
        _PORT,
        "largest",
    ),
)
"""Sampled ports (`probes.queues`), over the busy time: from the first start to the last byte."""
TCP = (
    Metric(
        "srtt_mean_us",
        "Smoothed round-trip time, mean",
        "the time-weighted mean of the senders' smoothed round-trip time over all sampled flows; each MPTCP subflow "
        "counts separately",
        better="less",
    ),
    Metric(
        "jain_phase_mean",
        "Jain's fairness index, mean of phases",
        f"the mean of Jain's index over {_OF_PHASES}",
        better="more",
    ),
    Metric(
        "jain_phase_min",
        "Jain's fairness index, least of phases",
        f"the smallest of Jain's indices over {_OF_PHASES}",
        better="more",
    ),
    Metric(
        "rate_variation",
        "Variation of a flow's rate",
        "the standard deviation divided by the mean of a sampled long flow's throughput in windows of 10 ms, "
        "beginning 100 ms after its start; the mean over the flows (`results.rate_variation`)",
        better="less",
    ),
    Metric(
        "fair_after_mean_ns",
        "Fair after a flow came or went, mean",
        "the mean, over the same phases, of the time after which the flows' bytes since the phase began stay fairly "
        "divided (Jain's index of at least 0.95); a phase that never becomes fair counts with its whole length",
        better="less",
    ),
)
"""Sampled connections (`probes.tcp`)."""
ROUTING = (
    Metric(
        "convergence_ns",
        "Routing converged after",
        "the time from the start of the daemons until every switch's kernel had every expected route",
        better="less",
    ),
    Metric(
        "reconvergence_ns",
        "Routing followed the failure after",
        "the time from the first change of links that any route must follow until every switch's kernel had followed "
        "it; as configured, until the last change of any node's routes",
        better="less",
    ),
    Metric(
        "convergence_within_ns",
        "Routing may have converged sooner, by up to",
        "how much earlier the routing may have converged, on an engine that cannot read all routes at once",
        (),
    ),
    Metric(
        "reconvergence_within_ns",
        "Routing may have followed sooner, by up to",
        "how much earlier the routing may have followed, on such an engine; as configured, at most a hundredth of "
        "the time since the change",
        (),
    ),
    Metric(
        "reconvergence_unsettled_ns",
        "Routing followed the failure: not within",
        "as configured: how long routes were watched after a failure of links without having come to rest, until the "
        "run ended or the next event came; to be at rest, no route may change for as long as everything before it took",
        (),
    ),
    Metric(
        "reconvergence_still_ns",
        "No route changed after that, for",
        "as configured: for how long no route had changed when the run reported the value; at least as long as "
        "everything before it",
        (),
    ),
)
SWITCHES = (
    Metric(
        "queue_drops",
        "Packets dropped by queues",
        "the number of packets dropped because of the queue's own limit, a full pool, or the limit of its virtual "
        "output queue",
        _QUEUE,
        "sum",
        better="less",
    ),
    Metric(
        "wred_drops",
        "Packets dropped by WRED",
        "the number of packets that WRED dropped early",
        _QUEUE,
        "sum",
        better="less",
    ),
    Metric(
        "storm_drops",
        "Packets dropped in pause storms",
        "the number of packets that the pause watchdog dropped",
        _QUEUE,
        "sum",
        better="less",
    ),
    Metric(
        "trimmed_packets",
        "Packets trimmed",
        "the number of packets that the queue had no room for and that were trimmed",
        _QUEUE,
        "sum",
        better="less",
    ),
    Metric(
        "trimmed_bytes",
        "Bytes cut off trimmed packets",
        "the number of bytes that were cut off these packets",
        _QUEUE,
        "sum",
        better="less",
    ),
    Metric(
        "trimmed_drops",
        "Trimmed packets dropped",
        "the number of trimmed packets that found no room either; they are among the queue's drops, too",
        _QUEUE,
        "sum",
        better="less",
    ),
    Metric(
        "ecn_marks",
        "Packets marked by the switches",
        "the number of packets marked by WRED and by the phantom queue",
        _QUEUE,
        "sum",
    ),
    Metric(
        "pauses_received",
        "Pause frames received",
        "the number of pause frames that arrived; for a queue, how many times it was stopped",
        _QUEUE,
        "sum",
    ),
    Metric(
        "paused_ns",
        "Time that queues were paused",
        "the time that queues were stopped, summed over the queues",
        _QUEUE,
        "sum",
        better="less",
    ),
    Metric(
        "storms", "Pause storms", "the number of pause storms that the watchdog detected", _QUEUE, "sum", better="less"
    ),
    Metric("pauses_sent", "Pause frames sent", "the number of pause frames sent", _SWITCH_PORT, "sum"),
    Metric(
        "ingress_discards",
        "Packets discarded at ingress",
        "the number of packets dropped on arrival because their priority group was at its limit, including its "
        "headroom",
        _SWITCH_PORT,
        "sum",
        better="less",
    ),
    Metric(
        "xoff_ns",
        "Time that priority groups were in XOFF",
        "the time that priority groups held their neighbour in XOFF, summed over the groups",
        _SWITCH_PORT,
        "sum",
        better="less",
    ),
    Metric(
        "deadlocks",
        "Deadlocks of pauses",
        "the number of deadlocks: queues that wait for each other in a circle and all stand still, until the run or a "
        "watchdog ends it",
        ("run",),
        better="less",
    ),
    Metric(
        "deadlock_ns",
        "Time in deadlocks",
        "the time that deadlocks lasted, from when the last queue of the circle stopped, summed over them",
        ("run",),
        better="less",
    ),
    Metric(
        "congestion_events",
        "Congestion events",
        "how many times a queue reached its `event` length",
        _SWITCH_PORT,
        "sum",
        better="less",
    ),
    Metric(
        "pool_max_bytes",
        "Buffer pool in use, most",
        "the largest amount of the pool in use beyond its reserved memory, by the switch's own watermark",
        _POOL,
        "largest",
    ),
    Metric(
        "headroom_max_bytes",
        "Headroom in use, most",
        "the largest amount of headroom in use, summed over its priority groups, by the switch's own watermark",
        _POOL,
        "largest",
    ),
)
"""Switches with a shared buffer (`probes.switches`), counted by the switch from time 0 on. A host's port counts what it
did to its switch: in no sum, for the switch counts it at the other end."""

METRICS: tuple[Metric, ...] = (*FLOWS[:-1], *JOBS, *COLLECTIVES, *QUEUES, *TCP, *ROUTING, *SWITCHES, FLOWS[-1])
BY_NAME = {metric.name: metric for metric in METRICS}


def names(metrics: tuple[Metric, ...], place: Place, together: str | None = None) -> tuple[str, ...]:
    """Return the names of those metrics that are of such a place, and of these only those put together so."""
    return tuple(
        metric.name for metric in metrics if place in metric.of and (together is None or metric.together == together)
    )
