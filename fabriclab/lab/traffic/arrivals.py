"""`kind: arrivals`: an open loop, each sender starts flows by an arrival process whatever becomes of those before."""

from __future__ import annotations

from fabriclab.formats.plan.traffic import ArrivalsTraffic
from fabriclab.lab.reading import defaults
from fabriclab.lab.reading.names import HostReader
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.carrier import CARRIER_KEYS, read_carrier
from fabriclab.lab.traffic.fan_in import SENDERS
from fabriclab.lab.traffic.pairs import PAIRS_KEYS, read_pairs
from fabriclab.lab.traffic.process import PROCESS_KEYS, read_arrivals
from fabriclab.lab.traffic.scope import Scope, read_deadline, read_mode, read_start, read_stop
from fabriclab.lab.traffic.size import read_size

KEYS = (
    *("kind", "senders", *PAIRS_KEYS, "size", *PROCESS_KEYS, "load", "jitter"),
    *("start", "stop", "deadline", "mode", *CARRIER_KEYS),
)


def read_arrivals_traffic(section: Section, name: str, scope: Scope) -> ArrivalsTraffic | None:
    """Return the flows that arrive; None after recording what is wrong."""
    section.require("senders", example=SENDERS)
    section.require("size", example="size: 70 KB, or 2 KB .. 16 KB, or a distribution such as web-search")
    senders = HostReader(section, scope.names).hosts("senders")
    pairs = read_pairs(section, scope, senders, defaults.ARRIVAL_PAIRS)
    size = read_size(section, "size", scope.directory)
    arrivals = read_arrivals(section, scope, senders, size)
    start_ns = read_start(section)
    stop_ns = read_stop(section, start_ns, "the start", "no more flows start")
    deadline_ns, mode, carrier = read_deadline(section), read_mode(section, defaults.FLOWS_MODE), read_carrier(section)
    if pairs is None or size is None or arrivals is None or stop_ns is None:
        return None
    return ArrivalsTraffic(
        name=name,
        pairs=pairs,
        size=size,
        arrivals=arrivals,
        start_ns=start_ns,
        stop_ns=stop_ns,
        deadline_ns=deadline_ns,
        mode=mode,
        carrier=carrier,
    )
