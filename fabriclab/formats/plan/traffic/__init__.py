"""The kinds of traffic of the plan: who sends how much to whom, and when. A file each, and a line in Traffic.

How a lab writes a kind, its flows and its words are in `fabriclab/traffic_kinds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from fabriclab.formats.plan.traffic.arrivals import ArrivalsTraffic
from fabriclab.formats.plan.traffic.collective import CollectiveTraffic, Server
from fabriclab.formats.plan.traffic.drawn import (
    Arrivals,
    DistributedSize,
    FixedSize,
    Pairs,
    Pattern,
    Process,
    Size,
    UniformSize,
)
from fabriclab.formats.plan.traffic.flows import FlowsTraffic
from fabriclab.formats.plan.traffic.hadoop import HadoopJob, HadoopTraffic
from fabriclab.formats.plan.traffic.iperf3 import Iperf3Traffic
from fabriclab.formats.plan.traffic.long import LongTraffic
from fabriclab.formats.plan.traffic.program import Awaited, ProgramTraffic
from fabriclab.formats.plan.traffic.query import QueryTraffic
from fabriclab.formats.plan.traffic.record import Carried, Carrier, Connection, Direction, Mode, TrafficRecord
from fabriclab.formats.plan.traffic.rounds import RoundsTraffic
from fabriclab.formats.plan.traffic.shuffle import ShuffleTraffic
from fabriclab.formats.plan.traffic.trace import TraceTraffic

Traffic = (
    RoundsTraffic
    | LongTraffic
    | FlowsTraffic
    | ArrivalsTraffic
    | QueryTraffic
    | ShuffleTraffic
    | CollectiveTraffic
    | Iperf3Traffic
    | ProgramTraffic
    | HadoopTraffic
    | TraceTraffic
)
Sent = RoundsTraffic | LongTraffic | FlowsTraffic | Iperf3Traffic
"""The kinds whose senders and receiver are named, not drawn."""
KINDS: Mapping[str, type[TrafficRecord]] = {record.kind: record for record in get_args(Traffic)}
"""The record of each kind, in the order in which a lab's author is told of them."""

__all__ = [
    "KINDS",
    "Arrivals",
    "ArrivalsTraffic",
    "Awaited",
    "Carried",
    "Carrier",
    "CollectiveTraffic",
    "Connection",
    "Direction",
    "DistributedSize",
    "FixedSize",
    "FlowsTraffic",
    "HadoopJob",
    "HadoopTraffic",
    "Iperf3Traffic",
    "LongTraffic",
    "Mode",
    "Pairs",
    "Pattern",
    "Process",
    "ProgramTraffic",
    "QueryTraffic",
    "RoundsTraffic",
    "Sent",
    "Server",
    "ShuffleTraffic",
    "Size",
    "TraceTraffic",
    "Traffic",
    "TrafficRecord",
    "UniformSize",
]
