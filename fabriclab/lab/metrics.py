"""The numbers of a run's summary that checks and figures may name, and the dimension of each.

The names are made in `fabriclab.results`; a test compares. One that is measured per port or per traffic takes it in
brackets: `queue_mean_bytes[s1:eth3]`, `throughput_bps[long]`, `fct_p99_ns[query]`. Of switches with a shared buffer
also per queue and per pool: `queue_drops[s1:eth3:5]`, `pool_max_bytes[s1:shared]`.
"""

from __future__ import annotations

import re

from fabriclab.formats.classes import QUEUES
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.problems import did_you_mean, shown
from fabriclab.units import DURATION, RATE, SIZE, Dimension, parse_quantity

QUEUE_METRICS = ("queue_drops", "wred_drops", "storm_drops", "ecn_marks", "pauses_received", "paused_ns", "storms")
"""Metrics of a switch port with a shared buffer, and of each of its queues."""
SWITCH_PORT_METRICS = ("pauses_sent", "ingress_discards", "xoff_ns", "congestion_events")
POOL_METRICS = ("pool_max_bytes", "headroom_max_bytes")
WHOLE_METRICS = (
    *("flows", "flows_complete", "flows_incomplete", "flows_unstarted", "flows_failed", "flows_lost"),
    *("flows_with_timeouts", "flows_with_setup_timeouts", "flows_fast_retransmit", "bytes", "goodput_bps"),
    *("fct_mean_ns", "fct_std_ns", "fct_median_ns", "fct_p95_ns", "fct_p99_ns", "fct_p999_ns", "fct_max_ns"),
    *("slowdown_mean", "slowdown_median", "slowdown_p95", "slowdown_p99", "slowdown_p999"),
    *("coflow_mean_ns", "coflow_median_ns", "coflow_p95_ns", "coflow_p99_ns", "job_ns"),
    *("deadline_flows", "deadline_misses", "rounds_complete", "round_mean_ns"),
    *(
        "timeouts",
        "retransmits",
        "marks",
        "mptcp_fallbacks",
        "queue_mean_bytes",
        "queue_median_bytes",
        "queue_p99_bytes",
        "queue_max_bytes",
    ),
    *("drops", "queue_marks", "stalls", "stalled_ns", "srtt_mean_us", "min_rtt_us", "jain_fairness"),
    *("jain_phase_mean", "jain_phase_min", "fair_after_mean_ns"),
    *("convergence_ns", "reconvergence_ns"),
    *(*QUEUE_METRICS, *SWITCH_PORT_METRICS, *POOL_METRICS),
)
PORT_METRICS = (
    "queue_mean_bytes",
    "queue_median_bytes",
    "queue_p99_bytes",
    "queue_max_bytes",
    "drops",
    "queue_marks",
    "stalls",
    "stalled_ns",
    *(*QUEUE_METRICS, *SWITCH_PORT_METRICS),
)
TRAFFIC_METRICS = (
    *(
        "throughput_bps",
        "flows",
        "flows_complete",
        "flows_incomplete",
        "flows_with_timeouts",
        "flows_with_setup_timeouts",
    ),
    *("timeouts", "retransmits", "marks"),
    *("fct_mean_ns", "fct_std_ns", "fct_median_ns", "fct_p95_ns", "fct_p99_ns", "fct_p999_ns"),
    *(
        "slowdown_mean",
        "slowdown_median",
        "slowdown_p99",
        "coflow_mean_ns",
        "coflow_median_ns",
        "coflow_p95_ns",
        "coflow_p99_ns",
    ),
    *("deadline_flows", "deadline_misses", "job_ns"),
)
_QUEUE_OF_PORT = re.compile(r"(?P<port>[^:]+:[^:]+):(?P<queue>[^:]*)")


def check_metric(text: str, names: Names, classes: tuple[str, ...] | None) -> str:
    """Return a metric's name; `classes` are those of flows, None where any may be. Raises ValueError."""
    name, bracket, argument = text.partition("[")
    every = tuple(dict.fromkeys((*WHOLE_METRICS, *TRAFFIC_METRICS)))
    if name not in every:
        raise ValueError(f"{shown(name)} is no metric; {did_you_mean(name, every)}")
    if not bracket:
        if name not in WHOLE_METRICS:
            raise ValueError(f"{shown(text)} is of one traffic; write {name}[{classes[0] if classes else 'NAME'}]")
        return text
    if not argument.endswith("]"):
        raise ValueError(f"{shown(text)} has no closing bracket")
    argument = argument[:-1]
    if name in TRAFFIC_METRICS:
        if classes is not None and argument not in classes:
            raise ValueError(f"{shown(argument)} is no traffic; {did_you_mean(argument, classes)}")
    elif name in POOL_METRICS:
        _check_pool(argument, names)
    elif name not in PORT_METRICS:
        raise ValueError(f"{shown(name)} is of the whole run; write it without brackets")
    else:
        _check_port(name, argument, names)
    return text


def _check_pool(argument: str, names: Names) -> None:
    switch, colon, pool = argument.partition(":")
    if not colon or not pool:
        raise ValueError(f"{shown(argument)} is no pool; write the switch and the pool, such as s1:shared")
    if names.complete and switch not in names.switches:
        raise ValueError(f"{shown(switch)} is no switch; {did_you_mean(switch, names.switches)}")


def _check_port(name: str, argument: str, names: Names) -> None:
    match = _QUEUE_OF_PORT.fullmatch(argument)
    port = argument if match is None else match["port"]
    if names.complete and port not in names.ports:
        raise ValueError(f"{shown(port)} is no port; {did_you_mean(port, names.ports)}")
    if match is not None and name not in QUEUE_METRICS:
        raise ValueError(f"{shown(name)} is of a port, not of a queue; write {name}[{port}]")
    if match is not None and match["queue"] not in map(str, range(QUEUES)):
        raise ValueError(f"{shown(match['queue'])} is no queue; write a number from 0 to {QUEUES - 1}")


def parse_metric_value(metric: str, text: str) -> float:
    """Return what a metric is compared with, in the metric's own unit. Raises ValueError."""
    name = metric.partition("[")[0]
    dimension = _dimension(name)
    if dimension is not None:
        value = parse_quantity(text, dimension)
        return value / 1000 if name.endswith("_us") else float(value)
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{shown(text)} is no number; {name} has no unit") from None
    if not -1e18 < number < 1e18:
        raise ValueError(f"{shown(text)} is out of range for {name}")
    return number


def _dimension(name: str) -> Dimension | None:
    if name.endswith("_bps"):
        return RATE
    if name == "bytes" or name.endswith("_bytes"):
        return SIZE
    return DURATION if name.endswith(("_ns", "_us")) else None
