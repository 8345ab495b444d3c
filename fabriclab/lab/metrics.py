"""The numbers of a run's summary that checks and figures may name, and the dimension of each.

The list is `fabriclab.formats.metrics`. One that is measured per port or per traffic takes it in
brackets: `queue_mean_bytes[s1:eth3]`, `throughput_bps[long]`, `fct_p99_ns[query]`. Of switches with a shared buffer
also per queue and per pool: `queue_drops[s1:eth3:5]`, `pool_max_bytes[s1:shared]`.
"""

from __future__ import annotations

import re

from fabriclab.formats.classes import QUEUES
from fabriclab.formats.metrics import METRICS, names
from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab.reading.names import Names
from fabriclab.registry.applications import APPLICATIONS
from fabriclab.units import DURATION, RATE, SIZE, Dimension, parse_quantity

QUEUE_METRICS = names(METRICS, "queue")
"""Metrics of a switch port with a shared buffer, and of each of its queues."""
SWITCH_PORT_METRICS = tuple(name for name in names(METRICS, "switch-port") if name not in QUEUE_METRICS)
POOL_METRICS = names(METRICS, "pool")
WHOLE_METRICS = names(METRICS, "run")
PORT_METRICS = (*names(METRICS, "port"), *names(METRICS, "switch-port"))
TRAFFIC_METRICS = names(METRICS, "traffic")
PROGRAM_METRICS = ("program_ns", "job_ns", *(name for application in APPLICATIONS for name in application.metrics))
"""Those that may be of a program, and of an application's job as the program that its client is."""
_QUEUE_OF_PORT = re.compile(r"(?P<port>[^:]+:[^:]+):(?P<queue>[^:]*)")


def check_metric(text: str, scope: Names, classes: tuple[str, ...] | None) -> str:
    """Return a metric's name; `classes` are those of flows, None where any may be. Raises ValueError."""
    name, bracket, argument = text.partition("[")
    every = tuple(dict.fromkeys((*WHOLE_METRICS, *TRAFFIC_METRICS)))
    if name not in every:
        raise ValueError(f"{shown(name)} is not a metric; {did_you_mean(name, every)}")
    if not bracket:
        if name not in WHOLE_METRICS:
            raise ValueError(f"{shown(text)} belongs to one traffic; write {name}[{classes[0] if classes else 'NAME'}]")
        return text
    if not argument.endswith("]"):
        raise ValueError(f"{shown(text)} has no closing bracket")
    argument = argument[:-1]
    if name in TRAFFIC_METRICS:
        of_job = name in PROGRAM_METRICS and any(argument.startswith(f"{one}-") for one in classes or ())
        if classes is not None and argument not in classes and not of_job:
            raise ValueError(f"{shown(argument)} is not the name of any traffic; {did_you_mean(argument, classes)}")
    elif name in POOL_METRICS:
        _check_pool(argument, scope)
    elif name not in PORT_METRICS:
        raise ValueError(f"{shown(name)} belongs to the whole run; write it without brackets")
    else:
        _check_port(name, argument, scope)
    return text


def _check_pool(argument: str, scope: Names) -> None:
    switch, colon, pool = argument.partition(":")
    if not colon or not pool:
        raise ValueError(f"{shown(argument)} is not a pool; write the switch and the pool, such as s1:shared")
    if scope.complete and switch not in scope.switches:
        raise ValueError(f"{shown(switch)} is not a switch; {did_you_mean(switch, scope.switches)}")


def _check_port(name: str, argument: str, scope: Names) -> None:
    match = _QUEUE_OF_PORT.fullmatch(argument)
    port = argument if match is None else match["port"]
    if scope.complete and port not in scope.ports:
        raise ValueError(f"{shown(port)} is not a port; {did_you_mean(port, scope.ports)}")
    if match is not None and name not in QUEUE_METRICS:
        raise ValueError(f"{shown(name)} belongs to a port, not to a queue; write {name}[{port}]")
    if match is not None and match["queue"] not in map(str, range(QUEUES)):
        raise ValueError(f"{shown(match['queue'])} is not a queue; write a number from 0 to {QUEUES - 1}")


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
        raise ValueError(f"{shown(text)} is not a number; {name} has no unit") from None
    if not -1e18 < number < 1e18:
        raise ValueError(f"{shown(text)} is out of range for {name}")
    return number


def _dimension(name: str) -> Dimension | None:
    if name.endswith("_bps"):
        return RATE
    if name == "bytes" or name.endswith("_bytes"):
        return SIZE
    return DURATION if name.endswith(("_ns", "_us")) else None
