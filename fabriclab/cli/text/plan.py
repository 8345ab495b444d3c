"""A plan in words: the network, who was drawn into groups, each piece of traffic with what was computed for
it, and what to mind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fabriclab.api.warnings import counted_sentences
from fabriclab.cli.text.layer2 import layer2_lines
from fabriclab.cli.text.switch import switch_lines
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Queue
from fabriclab.formats.plan.traffic import (
    Arrivals,
    ArrivalsTraffic,
    Carrier,
    FlowsTraffic,
    Iperf3Traffic,
    LongTraffic,
    Pairs,
    QueryTraffic,
    RoundsTraffic,
    ShuffleTraffic,
    TraceTraffic,
    Traffic,
)
from fabriclab.units import format_count, format_duration, format_rate, format_size
from fabriclab.workload.sizes import mean_size
from fabriclab.workload.summary import size_lines

_PPM = 1e6
_S = 1e9


def plan_text(plan: Plan) -> str:
    """Return the plan's summary, some lines for each part."""
    hosts = [node for node in plan.nodes if node.role == "host"]
    links = sum(len(node.ports) for node in plan.nodes) // 2
    settings = ", ".join(f"{name} {value}" for name, value in plan.settings.items())
    lines = [
        f"{plan.lab}: {plan.title}",
        f"  {format_count(len(hosts), 'host')}, {format_count(len(plan.nodes) - len(hosts), 'switch')}, "
        f"{format_count(links, 'link')}",
        f"  seed {plan.seed}; ends at {_time(plan.limit_ns)} at the latest",
        *([f"  settings: {settings}"] if settings else []),
        *(f"  {line}" for line in layer2_lines(plan)),
        *(["groups:"] if plan.groups else []),
        *(
            f"  {name} ({format_count(len(members), 'host')}): {', '.join(members)}"
            for name, members in plan.groups.items()
        ),
        "traffic:",
    ]
    for traffic in plan.traffic:
        first, *more = _lines(traffic, plan)
        lines += [f"  {traffic.name} ({traffic.kind}): {first}", *(f"    {line}" for line in more)]
    switches = switch_lines(plan)
    lines += ["switches with a shared buffer:", *(f"  {line}" for line in switches)] if switches else []
    lines += [
        *(f"warning: {sentence}" for sentence in counted_sentences([plan.warnings])),
        *(f"note: {note}" for note in _notes(plan)),
    ]
    return "\n".join([*lines, "All of it: --json; what one node is told: --node NAME."]) + "\n"


def _time(time_ns: int) -> str:
    """Return a time to a millionth of itself, which is exact for what people write."""
    return format_duration(time_ns, 6) if time_ns else "0 s"


def _share(share: float) -> str:
    return f"{100 * share:.4g} %"


def _lines(traffic: Traffic, plan: Plan) -> Iterator[str]:
    """Yield who sends to whom, then what is sent and when."""
    match traffic:
        case RoundsTraffic():
            yield f"{_people(traffic.senders)} to {traffic.receiver}{_over(traffic.carrier)}"
            rounds, size = format_count(traffic.rounds, "round"), format_size(traffic.size_bytes)
            yield f"{rounds} of {size} from each, from {_time(traffic.start_ns)} on{_jittered(traffic.jitter_ns)}"
        case LongTraffic():
            yield f"{_to(traffic)}{_over(traffic.carrier)}"
            stagger = f", {_time(traffic.stagger_ns)} apart" if traffic.stagger_ns else ""
            yield f"long flows, {_span(traffic.start_ns, traffic.stop_ns)}{stagger}{_jittered(traffic.jitter_ns)}"
        case FlowsTraffic():
            yield f"{_people(traffic.senders)} to {traffic.receiver}{_over(traffic.carrier)}"
            yield (
                f"{format_count(traffic.count, 'flow')} of {format_size(traffic.size_bytes)} from "
                f"each{_repeated(traffic)}"
            )
        case ArrivalsTraffic():
            yield f"{_paired(traffic.pairs)}{_over(traffic.carrier)}"
            yield from _arrivals_lines(traffic, plan)
        case QueryTraffic():
            asks = "asks" if len(traffic.aggregators) == 1 else "ask"
            yield (
                f"{_people(traffic.aggregators)} {asks} {traffic.fan_out} of "
                f"{_people(traffic.workers)}{_over(traffic.carrier)}"
            )
            yield from _query_lines(traffic)
        case ShuffleTraffic():
            mappers, reducers = (
                format_count(len(traffic.mappers), "mapper"),
                format_count(len(traffic.reducers), "reducer"),
            )
            yield f"{mappers}, {reducers}{_over(traffic.carrier)}"
            yield from _shuffle_lines(traffic)
        case Iperf3Traffic():
            yield f"{_people(traffic.senders)} to {traffic.receiver}{_over(traffic.carrier)}"
            yield f"sent by iperf3, {_span(traffic.start_ns, traffic.stop_ns)}"
        case TraceTraffic():
            yield f"{traffic.file}, SHA-256 {traffic.sha256[:12]}"


def _arrivals_lines(traffic: ArrivalsTraffic, plan: Plan) -> Iterator[str]:
    mean = mean_size(traffic.size)
    rates = sorted({plan.node(sender).ports[0].rate_bps for sender in traffic.pairs.senders})
    yield from _sizes(traffic.size.kind == "fixed", mean, size_lines(traffic.size))
    yield f"{_process(traffic.arrivals, 'flow')} of each sender{_computed(traffic.arrivals, mean, rates)}"
    flows = len(traffic.pairs.senders) * (traffic.stop_ns - traffic.start_ns) / traffic.arrivals.interval_ns
    loads = " to ".join(
        dict.fromkeys(_share(8 * mean * _S / (traffic.arrivals.interval_ns * rate)) for rate in (rates[-1], rates[0]))
    )
    about = f"about {flows:,.0f} flows and {format_size(flows * mean, 3)}"
    yield (
        f"{_span(traffic.start_ns, traffic.stop_ns)}: {about}, "
        f"{loads} of a sender's line{_deadline(traffic.deadline_ns)}"
    )


def _query_lines(traffic: QueryTraffic) -> Iterator[str]:
    yield from _sizes(traffic.response.kind == "fixed", mean_size(traffic.response), size_lines(traffic.response))
    request = f"request {format_size(traffic.request_bytes)}{_jittered(traffic.jitter_ns)}"
    yield f"{_process(traffic.arrivals, 'query')} of each aggregator, {request}"
    queries = len(traffic.aggregators) * (traffic.stop_ns - traffic.start_ns) / traffic.arrivals.interval_ns
    about = f"about {queries:,.0f} queries, {queries * traffic.fan_out:,.0f} flows"
    yield (
        f"{_span(traffic.start_ns, traffic.stop_ns)}: {about}; "
        f"connections {traffic.connection}{_deadline(traffic.deadline_ns)}"
    )


def _shuffle_lines(traffic: ShuffleTraffic) -> Iterator[str]:
    partition = format_size(traffic.size_bytes / (len(traffic.mappers) * len(traffic.reducers)), 4)
    source = f"read from {_people(traffic.sources)}" if traffic.sources else "read from the mappers' own disks"
    yield f"{format_size(traffic.size_bytes)} {source}, from {_time(traffic.start_ns)} on"
    copies = format_count(traffic.replicas, "copy")
    yield f"partitions of {partition}, {traffic.parallel_copies} at a time for each reducer; {copies} of the output"


def _computed(arrivals: Arrivals, mean: float, rates: Sequence[int]) -> str:
    """Return how the interval of a load came about."""
    if arrivals.load_ppm is None or len(rates) != 1:
        return ""
    return f" = 8 x {mean:.0f} B / ({arrivals.load_ppm / _PPM:g} x {format_rate(rates[0])})"


def _process(arrivals: Arrivals, what: str) -> str:
    each = f"{arrivals.process}, one {what} each {_time(arrivals.interval_ns)}"
    if arrivals.process == "bursty":
        return f"{arrivals.process}, {arrivals.burst_flows} at a time, {each.partition(', ')[2]}"
    return each + (f" moved by up to {_time(arrivals.jitter_ns)}" if arrivals.process == "jittered" else "")


def _sizes(fixed: bool, mean: float, lines: Iterable[str]) -> Iterator[str]:
    return iter([f"sizes: {format_size(int(mean))} each"]) if fixed else iter(lines)


def _to(traffic: LongTraffic) -> str:
    return _paired(traffic.pairs) if traffic.pairs is not None else f"{_people(traffic.senders)} to {traffic.receiver}"


def _paired(pairs: Pairs) -> str:
    hot = (
        f", {_share(pairs.hot_share_ppm / _PPM)} of the flows to {', '.join(pairs.hot_spots)}"
        if pairs.hot_spots
        else ""
    )
    return f"{_people(pairs.senders)} to {_people(pairs.receivers)}, {pairs.pattern}{hot}"


def _people(hosts: Sequence[str]) -> str:
    return hosts[0] if len(hosts) == 1 else f"{len(hosts)} hosts"


def _over(carrier: Carrier) -> str:
    control = f" with {carrier.congestion_control}" if carrier.congestion_control else ""
    return f", over {carrier.transport}{control}" + (f", DSCP {carrier.dscp}" if carrier.dscp else "")


def _repeated(traffic: FlowsTraffic) -> str:
    each = f", one each {_time(traffic.interval_ns)}" if traffic.count > 1 else ""
    return f"{each}, from {_time(traffic.start_ns)} on{_jittered(traffic.jitter_ns)}"


def _span(start_ns: int, stop_ns: int) -> str:
    return f"{_time(start_ns)} to {_time(stop_ns)}"


def _jittered(jitter_ns: int) -> str:
    return f", each up to {_time(jitter_ns)} later" if jitter_ns else ""


def _deadline(deadline_ns: int | None) -> str:
    return f"; deadline {_time(deadline_ns)}" if deadline_ns is not None else ""


def _marks(queue: Queue) -> bool:
    return queue.ecn_threshold_bytes is not None or (queue.aqm is not None and queue.aqm.marks)


def _notes(plan: Plan) -> Iterator[str]:
    """Yield what runs, and probably was not meant so."""
    switch_ports = [port for node in plan.nodes if node.role == "switch" for port in node.ports]
    # Of a shared buffer the plan's own warnings tell, class by class.
    marking = any(port.queue is None or _marks(port.queue) for port in switch_ports)
    hosts = [node for node in plan.nodes if node.transport is not None]
    without = sum(node.transport is not None and node.transport.mptcp is None for node in hosts)
    for traffic in plan.traffic:
        carrier = Carrier() if isinstance(traffic, TraceTraffic) else traffic.carrier
        if carrier.congestion_control == "dctcp" and not marking:
            yield (
                f"traffic.{traffic.name} runs over DCTCP, but no switch has an ecn_threshold: nothing is marked, "
                "it does as Reno does"
            )
        if carrier.transport == "mptcp" and without:
            whose = f"{without} of {format_count(len(hosts), 'host')}"
            yield (
                f"traffic.{traffic.name} runs over MPTCP, but {whose} have no `mptcp` section: "
                "their connections have one subflow"
            )
