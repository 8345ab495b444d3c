"""When flows (or queries) start: an arrival process with an interval,
or with a load that the interval is computed of."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fabriclab.formats import ranges
from fabriclab.formats.plan.traffic import Arrivals, Process, Size
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.section import Section, Written, mistyped, value_of, value_or
from fabriclab.lab.traffic.keys import ARRIVAL, BURST, INTERVAL, LATER, LOAD
from fabriclab.lab.traffic.scope import Scope
from fabriclab.units import format_rate

_NS_PER_S = 10**9


def interval_of_load(load_ppm: int, mean_bytes: Fraction, rate_bps: int) -> int:
    """Return the interval in nanoseconds: 8 x mean size / (load x rate), to the nearest."""
    return round(8 * mean_bytes * _NS_PER_S * 10**6 / (load_ppm * rate_bps))


def read_arrivals(section: Section, scope: Scope, senders: Sequence[str] | None, size: Size | None) -> Arrivals | None:
    """Return the arrivals of flows, of exactly one of `interval` and `load`;
    the jitter of `arrival: jittered` is the section's."""
    load = section.read(LOAD)
    if "load" in section and "interval" in section:
        section.complain("load", "conflicts with an interval, which says the same in another way; write one of the two")
    _require_one(
        section,
        ("interval", "load"),
        "interval: 10 ms (the time between two flows of a sender), load: 40 % (of its link rate)",
    )
    interval_ns = value_of(section.read(INTERVAL))
    if load is not None and interval_ns is None:
        interval_ns = _loaded(load, section, scope, senders, size)
    if interval_ns is None:
        return None
    process, burst = _process(section)
    jitter = section.value("jitter", LATER)
    if "jitter" in section and process != "jittered":
        section.complain("jitter", f"belongs to arrival: jittered, not to {process}")
    jitter_ns = value_or(jitter, interval_ns) if process == "jittered" else 0
    return Arrivals(
        process=process,
        interval_ns=interval_ns,
        jitter_ns=jitter_ns,
        burst_flows=burst,
        load_ppm=value_of(load),
    )


def read_query_arrivals(section: Section) -> Arrivals | None:
    """Return the arrivals of one aggregator's queries. With `arrival: jittered` each moves within one interval."""
    section.require("interval", example="interval: the time between two queries of an aggregator, such as 10 ms")
    interval = section.read(INTERVAL)
    process, burst = _process(section)
    if interval is None:
        return None
    jitter_ns = interval.value if process == "jittered" else 0
    return Arrivals(process=process, interval_ns=interval.value, jitter_ns=jitter_ns, burst_flows=burst)


def _require_one(section: Section, keys: Sequence[str], examples: str) -> None:
    if not any(key in section or mistyped(key, section.mapping, keys) for key in keys):
        section.problems.add(
            section.place, section.key, f"neither {' nor '.join(keys)} is written; write one of {examples}"
        )


def _process(section: Section) -> tuple[Process, int]:
    """Return the process and how many flows a burst has."""
    arrival = section.read(ARRIVAL)
    process = ARRIVAL.or_default(arrival)
    burst = section.read(BURST)
    if arrival is not None and process == "bursty":
        section.require("burst", example="burst: how many start at one instant")
    elif "burst" in section and (arrival is not None or "arrival" not in section):
        section.complain("burst", f"belongs to arrival: bursty, not to {process}")
    return process, value_or(burst, 1)


def _loaded(
    load: Written[int], section: Section, scope: Scope, senders: Sequence[str] | None, size: Size | None
) -> int | None:
    """Return the interval that a load comes to; it has to be the same for all senders."""
    rates = sorted({scope.line_rates_bps[sender] for sender in senders or () if sender in scope.line_rates_bps})
    if len(rates) > 1:
        lines = " and ".join(format_rate(rate) for rate in rates)
        message = f"{shown(load.text)} is ambiguous: senders have links of {lines}; write one piece of traffic for each"
        load.complain(section.problems, message)
    if len(rates) != 1 or size is None:
        return None
    interval_ns = interval_of_load(load.value, size.mean, rates[0])
    if not LATER.least <= interval_ns <= ranges.LASTING.most:
        load.complain(
            section.problems,
            f"{shown(load.text)} of {format_rate(rates[0])} is not an interval from 1 ns to a day; write another load",
        )
        return None
    return interval_ns
