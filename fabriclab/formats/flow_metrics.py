"""The record of a metric, and the metrics of flows and jobs (the others: `fabriclab.formats.metrics`)."""

from __future__ import annotations

from typing import Literal, NamedTuple

Place = Literal["run", "traffic", "port", "switch-port", "queue", "pool"]
"""The subject of a metric. The bare name is the value of the run; brackets hold a class of flows, a sampled port, a
port of a switch with a shared buffer, one of its queues, or a pool of its memory."""


class Metric(NamedTuple):
    """A number of the summary."""

    name: str
    title: str
    """Its name in a report."""
    meaning: str
    """Its definition."""
    of: tuple[Place, ...] = ("run",)
    """Where checks and figures may name it; nowhere: it qualifies another one."""
    together: Literal["sum", "largest"] | None = None
    """How the value of the run follows from those of ports, queues, pools or jobs."""
    better: Literal["more", "less"] | None = None
    """Which of two values is the better one, all else being equal; None if that depends on the purpose."""


_CLASS: tuple[Place, ...] = ("run", "traffic")
_FCT, _SLOWDOWN, _COFLOW = "Flow completion time", "Slowdown", "Coflow completion time"
_OF_FCT = "the completion times of complete sized flows"
_OF_SLOWDOWN = (
    "completion time / ideal time on an idle path (`fabriclab.results.idle_path`), over the complete sized flows"
)
_OF_COFLOW = "the completion times of complete coflows: rounds, queries, phases of a job (`fabriclab.results.coflows`)"
_OF_COLLECTIVES = "of a collective, over the complete ones (`fabriclab.results.collectives`)"
_OF_FETCHES = "the times that a reducer of Hadoop took to fetch a map output from another node, by its own log"
_OF_TRANSFERS = (
    "the largest number of tasks' transfers that were under way to one node from others at the same time, while"
)
_OF_SHUFFLES = (
    "the connections of Hadoop's shuffles between two nodes, counted at both ends, if the probe `connections` "
    "records them; null for a job if others run at the same time"
)

FLOWS = (
    Metric("flows", "Flows", "the number of flows in the trace", _CLASS),
    Metric(
        "flows_complete",
        "Flows complete",
        "the number of sized flows that the receiver read completely, plus long flows that ran until their stop time",
        _CLASS,
        better="more",
    ),
    Metric(
        "flows_incomplete",
        "Flows incomplete",
        "the number of all other flows: cut off, never started, failed or lost. `flows` includes them.",
        _CLASS,
        better="less",
    ),
    Metric("flows_unstarted", "Flows unstarted", "the number of incomplete flows that never started", better="less"),
    Metric("flows_failed", "Flows failed", "the number of incomplete flows that failed", better="less"),
    Metric("flows_lost", "Flows lost", "the number of incomplete flows without a record in any log", better="less"),
    Metric(
        "flows_with_timeouts",
        "Flows that waited for a timeout",
        "the number of flows with at least one retransmission timeout",
        _CLASS,
        better="less",
    ),
    Metric(
        "flows_with_setup_timeouts",
        "Flows whose connection waited for a timeout",
        "the number of flows whose connection was established at least one second after their start, because a SYN "
        "or SYN-ACK was lost",
        _CLASS,
        better="less",
    ),
    Metric(
        "flows_with_retransmits",
        "Flows that retransmitted",
        "the number of flows with at least one retransmitted segment",
        _CLASS,
        better="less",
    ),
    Metric(
        "flows_fast_retransmit",
        "Flows with retransmissions, no timeout",
        "the number of flows with retransmissions but no retransmission timeout",
    ),
    Metric(
        "bytes", "Bytes received", "the bytes that receivers read, including those of incomplete flows", better="more"
    ),
    Metric("goodput_bps", "Goodput", "8 x bytes / (last byte read - first start)", better="more"),
    Metric(
        "timeouts",
        "Retransmission timeouts",
        "the number of retransmission timeouts, summed over the flows",
        _CLASS,
        better="less",
    ),
    Metric(
        "retransmits",
        "Retransmitted segments",
        "the number of retransmitted segments, over RoCE of packets sent again, summed over the flows",
        _CLASS,
        better="less",
    ),
    Metric(
        "marks",
        "Segments acknowledged with ECE",
        "the number of segments acknowledged with ECE, over RoCE of notifications (CNPs) that came, summed over the "
        "flows",
        _CLASS,
    ),
    Metric("fct_mean_ns", f"{_FCT}, mean", f"the mean of {_OF_FCT}", _CLASS, better="less"),
    Metric("fct_std_ns", f"{_FCT}, standard deviation", f"the standard deviation (divisor n - 1) of {_OF_FCT}", _CLASS),
    Metric("fct_median_ns", f"{_FCT}, median", f"the nearest-rank median of {_OF_FCT}", _CLASS, better="less"),
    Metric(
        "fct_p95_ns",
        f"{_FCT}, 95th percentile",
        f"the nearest-rank 95th percentile of {_OF_FCT}",
        _CLASS,
        better="less",
    ),
    Metric(
        "fct_p99_ns",
        f"{_FCT}, 99th percentile",
        f"the nearest-rank 99th percentile of {_OF_FCT}",
        _CLASS,
        better="less",
    ),
    Metric(
        "fct_p999_ns",
        f"{_FCT}, 99.9th percentile",
        f"the nearest-rank 99.9th percentile of {_OF_FCT}",
        _CLASS,
        better="less",
    ),
    Metric("fct_max_ns", f"{_FCT}, longest", f"the longest of {_OF_FCT}", better="less"),
    Metric(
        "fct_short_mean_ns", f"{_FCT} up to 10 KB, mean", f"the mean of {_OF_FCT} of 10,000 B or less", better="less"
    ),
    Metric(
        "fct_short_p99_ns",
        f"{_FCT} up to 10 KB, 99th percentile",
        f"the nearest-rank 99th percentile of {_OF_FCT} of 10,000 B or less",
        better="less",
    ),
    *(
        Metric(
            f"fct_{name}_mean_ns",
            f"{_FCT} {recovery}, mean",
            f"the mean of {_OF_FCT} {recovery}; null if there are none",
            _CLASS,
        )
        for name, recovery in (
            ("no_loss", "without a retransmission"),
            ("fast_retransmit", "with retransmissions but no timeout"),
            ("timeout", "with one retransmission timeout"),
            ("several_timeouts", "with several retransmission timeouts"),
        )
    ),
    Metric("slowdown_mean", f"{_SLOWDOWN}, mean", f"the mean of {_OF_SLOWDOWN}", _CLASS, better="less"),
    Metric("slowdown_median", f"{_SLOWDOWN}, median", f"the median of {_OF_SLOWDOWN}", _CLASS, better="less"),
    Metric("slowdown_p95", f"{_SLOWDOWN}, 95th percentile", f"the 95th percentile of {_OF_SLOWDOWN}", better="less"),
    Metric(
        "slowdown_p99", f"{_SLOWDOWN}, 99th percentile", f"the 99th percentile of {_OF_SLOWDOWN}", _CLASS, better="less"
    ),
    Metric(
        "slowdown_p999", f"{_SLOWDOWN}, 99.9th percentile", f"the 99.9th percentile of {_OF_SLOWDOWN}", better="less"
    ),
    Metric("coflow_mean_ns", f"{_COFLOW}, mean", f"the mean of {_OF_COFLOW}", _CLASS, better="less"),
    Metric("coflow_median_ns", f"{_COFLOW}, median", f"the median of {_OF_COFLOW}", _CLASS, better="less"),
    Metric(
        "coflow_p95_ns", f"{_COFLOW}, 95th percentile", f"the 95th percentile of {_OF_COFLOW}", _CLASS, better="less"
    ),
    Metric(
        "coflow_p99_ns", f"{_COFLOW}, 99th percentile", f"the 99th percentile of {_OF_COFLOW}", _CLASS, better="less"
    ),
    Metric(
        "coflow_p999_ns",
        f"{_COFLOW}, 99.9th percentile",
        f"the nearest-rank 99.9th percentile of {_OF_COFLOW}",
        _CLASS,
        better="less",
    ),
    Metric(
        "coflows", "Coflows", "the number of coflows: rounds, queries, phases of a job; null if there are none", _CLASS
    ),
    Metric(
        "coflows_with_timeouts",
        "Coflows that waited for a timeout",
        "the number of coflows in which at least one flow had a retransmission timeout",
        _CLASS,
        better="less",
    ),
    Metric(
        "coflow_deadline_misses",
        "Coflows that missed their deadline",
        "the number of coflows that missed the deadline that all their flows have, including incomplete ones; null "
        "if no coflow has a deadline",
        _CLASS,
        better="less",
    ),
    Metric(
        "deadline_misses",
        "Deadlines missed",
        "the number of sized flows that missed their deadline, including incomplete ones",
        _CLASS,
        better="less",
    ),
    Metric("deadline_flows", "Flows with a deadline", "the number of sized flows that have a deadline", _CLASS),
    Metric(
        "rounds_complete",
        "Rounds complete",
        "the number of groups in the trace whose flows are all complete",
        better="more",
    ),
    Metric(
        "round_mean_ns",
        "Round, mean",
        "the mean of (last byte read - first start) over the groups whose flows are all complete",
        better="less",
    ),
    Metric(
        "mptcp_fallbacks",
        "Flows that fell back from MPTCP to TCP",
        "the number of flows that requested MPTCP and got TCP",
        better="less",
    ),
    Metric(
        "jain_fairness",
        "Jain's fairness index",
        "Jain's index of the throughputs of the long flows; it needs at least two of them",
        better="more",
    ),
    Metric("min_rtt_us", "Round-trip time, smallest", "the smallest round-trip time of any flow"),
    Metric("throughput_bps", "Goodput", "the goodput of one class of flows", ("traffic",), better="more"),
)
"""Flows; those of a class are measured for the 100 classes with the most flows."""
HADOOP = (
    *(
        Metric(
            f"job_{part}_ns",
            f"Job's time, {title}",
            f"the part of a Hadoop job's time in which its tasks {what} (`fabriclab.hadoop.results.times`); the parts "
            "add up to `job_ns`",
            _CLASS,
            "sum",
        )
        for part, title, what in (
            ("cpu", "computing", "compute"),
            ("disk", "disks", "wait for a disk"),
            ("network", "network", "wait for the network alone"),
            ("waiting", "waiting", "wait for none of these, but for a slot, a heartbeat or another task"),
        )
    ),
    Metric("fetch_median_ns", "Fetch of a map output, median", f"the median of {_OF_FETCHES}", _CLASS, better="less"),
    Metric("fetch_max_ns", "Fetch of a map output, longest", f"the longest of {_OF_FETCHES}", _CLASS, better="less"),
    *(
        Metric(f"incast_degree_{phase}", f"In-cast degree, {title}", f"{_OF_TRANSFERS} {what}", _CLASS, "largest")
        for phase, title, what in (
            ("read", "reading", "maps read blocks of HDFS"),
            ("shuffle", "shuffle", "reducers fetched map outputs"),
            ("write", "writing", "reducers wrote blocks to HDFS"),
        )
    ),
    Metric(
        "shuffle_retransmits",
        "Retransmitted segments of the shuffle",
        f"the number of retransmitted segments in {_OF_SHUFFLES}",
        _CLASS,
        "sum",
        better="less",
    ),
    Metric(
        "shuffle_timeouts",
        "Timeouts in the shuffle",
        f"the number of retransmission timeouts in {_OF_SHUFFLES}",
        _CLASS,
        "sum",
        better="less",
    ),
)
"""Metrics that Hadoop adds to those of jobs."""
JOBS = (
    Metric(
        "job_ns",
        "Job completion time",
        "the completion time of a shuffle with all its phases, of all iterations of a collective, or of a Hadoop job "
        "from its submission to its end "
        "(from Hadoop's own history); null if a job is not complete",
        _CLASS,
        "largest",
        better="less",
    ),
    *HADOOP,
    Metric(
        "program_ns",
        "Program's time",
        "the time from the start of a program (`kind: program`) to its end; null for a program that did not end by "
        "itself",
        _CLASS,
        "largest",
        better="less",
    ),
)
COLLECTIVES = (
    Metric(
        "collective_ns",
        "Collective operation's time",
        f"the mean time of an iteration {_OF_COLLECTIVES}",
        _CLASS,
        "largest",
        better="less",
    ),
    Metric(
        "collective_ratio",
        "Collective operation's time / ideal",
        f"the mean of time / ideal time on an idle fabric {_OF_COLLECTIVES}",
        _CLASS,
        "largest",
        better="less",
    ),
    Metric(
        "algorithm_bps",
        "Algorithm bandwidth",
        "8 x size / time of an iteration, as nccl-tests have it; the mean over the complete iterations",
        ("traffic",),
        better="more",
    ),
    Metric(
        "bus_bps",
        "Bus bandwidth",
        "the algorithm bandwidth times what each of n ranks must send of each byte: 2 (n - 1) / n of an all-reduce, "
        "(n - 1) / n of an all-gather, a reduce-scatter, an all-to-all, a gather and a scatter, 1 of a broadcast and a "
        "reduce (nccl-tests)",
        ("traffic",),
        better="more",
    ),
    Metric(
        "straggler_ratio",
        "Last rank / mean of the ranks",
        f"the mean of (last rank's time / mean of all ranks' times) in an iteration {_OF_COLLECTIVES}",
        _CLASS,
        "largest",
        better="less",
    ),
)
"""Collective operations (`kind: collective`)."""
