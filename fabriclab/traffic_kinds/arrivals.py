"""`kind: arrivals`: an open loop, each sender starts flows by an arrival process whatever becomes of those before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fabriclab.formats.plan.traffic import Arrivals, ArrivalsTraffic
from fabriclab.lab.reading.names import HostReader
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic import keys
from fabriclab.lab.traffic.carrier import read_carrier
from fabriclab.lab.traffic.pairs import EXAMPLE_OF_SENDERS, read_pairs
from fabriclab.lab.traffic.process import read_arrivals
from fabriclab.lab.traffic.scope import Scope, read_deadline, read_mode, read_start, read_stop
from fabriclab.lab.traffic.size import read_size
from fabriclab.traffic_kinds import words
from fabriclab.traffic_kinds.kind import Kind
from fabriclab.units import format_duration, format_rate, format_size

if TYPE_CHECKING:
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.workload.site import Site


_S = 1e9

ARRIVING_SIZE = keys.SIZE.but(
    value=keys.SIZES,
    examples=("70 KB", "2 KB .. 16 KB", "web-search"),
    about="Bytes of a flow: one size, a range of equally likely ones, or a distribution.",
)
ARRIVING_INTERVAL, ARRIVING_LOAD = (
    keys.INTERVAL.but(unset="`interval` or `load` is required"),
    keys.LOAD.but(unset="`load` or `interval` is required"),
)
ARRIVING_JITTER = keys.JITTER.but(
    value=keys.LATER,
    unset="the interval",
    about="With `arrival: jittered`, the window within which each start is drawn.",
)
KEYS = keys.keys_of_kind(
    "arrivals",
    "An open loop: flows start whether or not earlier flows have ended.",
    keys.SENDERS,
    keys.RECEIVERS,
    keys.RANDOM_PAIRS,
    keys.HOT_SPOTS,
    keys.HOT_SHARE,
    ARRIVING_SIZE,
    keys.ARRIVAL,
    ARRIVING_INTERVAL,
    keys.BURST,
    ARRIVING_LOAD,
    ARRIVING_JITTER,
    keys.START,
    keys.STOP,
    keys.DEADLINE,
    keys.MODE,
    *keys.CARRIER,
    one_of=(("interval",), ("load",)),
)


class Arriving(Kind[ArrivalsTraffic]):
    """Flows that arrive."""

    keys = KEYS

    def read(self, section: Section, name: str, scope: Scope) -> ArrivalsTraffic | None:
        """Return the flows that arrive; None after recording what is wrong."""
        section.require("senders", example=EXAMPLE_OF_SENDERS)
        section.require("size", example="size: 70 KB, or 2 KB .. 16 KB, or a distribution such as web-search")
        senders = HostReader(section, scope.names).hosts("senders")
        pairs = read_pairs(section, scope, senders, keys.RANDOM_PAIRS)
        size = read_size(section, "size", scope.directory)
        arrivals = read_arrivals(section, scope, senders, size)
        start_ns = read_start(section)
        stop_ns = read_stop(section, start_ns, "the start", "no more flows start")
        deadline_ns, carrier = read_deadline(section), read_carrier(section, scope.names)
        mode = read_mode(section, carrier)
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

    def flows(self, traffic: ArrivalsTraffic, site: Site) -> pl.DataFrame:
        """Return the flows, in the order of their starts."""
        from fabriclab.workload.arrivals import arrivals_table

        return arrivals_table(traffic, site)

    def sentences(self, traffic: ArrivalsTraffic, plan: Plan) -> Iterator[str]:
        """Yield who sends to whom, sizes, the process, and what load it comes to."""
        from fabriclab.workload.sizes import mean_size
        from fabriclab.workload.summary import size_lines

        yield f"{words.paired(traffic.pairs)}{words.over(traffic.carrier)}"
        mean = mean_size(traffic.size)
        rates = sorted({plan.node(sender).ports[0].rate_bps for sender in traffic.pairs.senders})
        yield from words.sizes(traffic.size.kind == "fixed", mean, size_lines(traffic.size))
        yield f"{words.process(traffic.arrivals, 'flow')} of each sender{_computed(traffic.arrivals, mean, rates)}"
        flows = len(traffic.pairs.senders) * (traffic.stop_ns - traffic.start_ns) / traffic.arrivals.interval_ns
        shares = [8 * mean * _S / (traffic.arrivals.interval_ns * rate) for rate in (rates[-1], rates[0])]
        loads = " to ".join(dict.fromkeys(map(words.share, shares)))
        about = f"about {flows:,.0f} flows and {format_size(flows * mean, 3)}"
        span, deadline = words.span(traffic.start_ns, traffic.stop_ns), words.deadline(traffic.deadline_ns)
        yield f"{span}: {about}, {loads} of a sender's line{deadline}"

    def drawn(self, traffic: ArrivalsTraffic, flows: pl.DataFrame, site: Site) -> Iterator[str]:
        """Yield the sizes, the load asked with its formula, and the load got."""
        from fabriclab.workload.summary import size_lines

        yield from size_lines(traffic.size)
        yield from _load(traffic, flows, site)


KIND = Arriving()


def _computed(arrivals: Arrivals, mean: float, rates: Sequence[int]) -> str:
    """Return how the interval of a load came about."""
    if arrivals.load_ppm is None or len(rates) != 1:
        return ""
    return f" = 8 x {mean:.0f} B / ({arrivals.load_ppm / words.PPM:g} x {format_rate(rates[0])})"


def _load(traffic: ArrivalsTraffic, flows: pl.DataFrame, site: Site) -> Iterator[str]:
    """Yield the load asked with its formula, and the load got: the bits that the draw gave to what the senders'
    lines carry in the time."""
    from fabriclab.workload.sizes import mean_size

    mean, interval_s = mean_size(traffic.size), traffic.arrivals.interval_ns / 1e9
    rates = sorted({site.rates_bps[sender] for sender in traffic.pairs.senders})
    formula = "interval = 8 x mean size / (load x rate)"
    if traffic.arrivals.load_ppm is not None and len(rates) == 1:
        load = traffic.arrivals.load_ppm / words.PPM
        yield f"{formula} = 8 x {mean:.1f} B / ({load:g} x {format_rate(rates[0])})"
    yield f"interval of a sender: {format_duration(float(traffic.arrivals.interval_ns), 6)}, {traffic.arrivals.process}"
    offered = [8 * mean / (interval_s * rate) for rate in rates]
    what = "offered" if traffic.arrivals.load_ppm is None else "asked"
    yield f"load {what}: {_shares(offered)} of a sender's line; got: {_share_got(traffic, flows, site):.2%}"


def _shares(loads: Sequence[float]) -> str:
    return f"{loads[0]:.2%}" if len(loads) == 1 else f"{min(loads):.2%} to {max(loads):.2%}"


def _share_got(traffic: ArrivalsTraffic, flows: pl.DataFrame, site: Site) -> float:
    carried = (
        sum(site.rates_bps[sender] for sender in traffic.pairs.senders) * (traffic.stop_ns - traffic.start_ns) / 1e9
    )
    return 8 * int(flows["size_bytes"].sum()) / carried
