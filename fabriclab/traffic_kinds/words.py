"""The words that several kinds of traffic are told in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fabriclab.formats.plan.traffic import Arrivals, Carrier, Pairs
from fabriclab.units import format_duration, format_size

PPM = 1e6


def time(time_ns: int) -> str:
    """Return a time to a millionth of itself, which is exact for what people write."""
    return format_duration(time_ns, 6) if time_ns else "0 s"


def share(value: float) -> str:
    """Return a share as per cent."""
    return f"{100 * value:.4g} %"


def people(hosts: Sequence[str]) -> str:
    """Return a host's name, or how many hosts they are."""
    return hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts"


def paired(pairs: Pairs) -> str:
    """Return who sends to whom."""
    hot = (
        f", {share(pairs.hot_share_ppm / PPM)} of the flows to {', '.join(pairs.hot_spots)}" if pairs.hot_spots else ""
    )
    return f"{people(pairs.senders)} to {people(pairs.receivers)}, {pairs.pattern}{hot}"


def over(carrier: Carrier) -> str:
    """Return what carries the flows."""
    control = f" with {carrier.congestion_control}" if carrier.congestion_control else ""
    return f", over {carrier.transport}{control}" + (f", DSCP {carrier.dscp}" if carrier.dscp else "")


def process(arrivals: Arrivals, what: str) -> str:
    """Return how flows, or queries, arrive."""
    each = f"{arrivals.process}, one {what} each {time(arrivals.interval_ns)}"
    if arrivals.process == "bursty":
        return f"{arrivals.process}, {arrivals.burst_flows} at a time, {each.partition(', ')[2]}"
    return each + (f" moved by up to {time(arrivals.jitter_ns)}" if arrivals.process == "jittered" else "")


def sizes(fixed: bool, mean: float, lines: Iterable[str]) -> Iterator[str]:
    """Return the one size, or what is said of a distribution."""
    return iter([f"sizes: {format_size(int(mean))} each"]) if fixed else iter(lines)


def span(start_ns: int, stop_ns: int) -> str:
    """Return from when to when."""
    return f"{time(start_ns)} to {time(stop_ns)}"


def jittered(jitter_ns: int) -> str:
    """Return by how much each is moved; empty where none is."""
    return f", each up to {time(jitter_ns)} later" if jitter_ns else ""


def deadline(deadline_ns: int | None) -> str:
    """Return the deadline; empty where there is none."""
    return f"; deadline {time(deadline_ns)}" if deadline_ns is not None else ""
