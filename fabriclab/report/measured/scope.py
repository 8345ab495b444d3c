"""What a number without brackets covers: of how many ports it is, which of them has most of it,
which flows are in it and which are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fabriclab.report.measured.quantities import format_metric
from fabriclab.results import Results
from fabriclab.results.queue_metrics import PORT_COUNTS, PORT_LARGEST, PORT_LENGTHS, PortShare, most_of_ports
from fabriclab.results.switch_metrics import PORT_METRICS, QUEUE_METRICS

_OF_COMPLETE_FLOWS = ("fct_", "slowdown_")


def measured_ports(results: Results, metric: str) -> tuple[str, ...]:
    """Return the ports whose own values the metric without a port is made of;
    empty for a metric that is not of ports."""
    probes = results.plan.probes
    if metric in (*PORT_COUNTS, *PORT_LARGEST):
        return probes.queue_ports
    if metric in (*QUEUE_METRICS, *PORT_METRICS):
        switches = results.plan.switch_names
        return tuple(port for port in probes.switch_ports if port.partition(":")[0] in switches)
    return ()


def most_of(results: Results, metric: str) -> PortShare | None:
    """Return the port that has most of a metric; None where it is not of ports, or no port has it."""
    return most_of_ports(results.summary, metric, measured_ports(results, metric))


def scope_text(results: Results, metric: str) -> str:
    """Return what the metric covers, where that is not plain: which of several ports, jobs or changes,
    and what is left out."""
    if measured_ports(results, metric):
        return _of_ports(metric, most_of(results, metric))
    if metric.startswith(_OF_COMPLETE_FLOWS):
        return _without_incomplete(results)
    if metric == "srtt_mean_us":
        return _of_sampled_traffic(results)
    if metric in ("job_ns", "program_ns"):
        return _slowest(results, metric)
    return _first_change(results) if metric == "reconvergence_ns" else ""


def table_note(runs: Iterable[Results], metrics: Sequence[str]) -> str:
    """Return a sentence on columns that are of several ports together; empty where no run has several."""
    shown = {metric.partition("[")[0] for metric in metrics if "[" not in metric}
    counts = sorted({len(measured_ports(run, "drops")) for run in runs} - {0})
    if not counts or counts[-1] < 2 or not shown & {*PORT_COUNTS, *PORT_LENGTHS}:
        return ""
    ports = str(counts[-1]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    said = [
        text
        for names, text in (
            (PORT_LENGTHS, "a queue's length is that of the port with the longest queue"),
            (PORT_COUNTS, "counts are sums over the ports"),
        )
        if shown & set(names)
    ]
    return f"With {ports} sampled ports, {', '.join(said)}."


def _of_ports(metric: str, most: PortShare | None) -> str:
    if most is None or most.sampled < 2:
        return ""
    ports = (
        f"{most.sampled} ports"
        if most.measured == most.sampled
        else f"{most.measured} of {most.sampled} ports, the others not measured"
    )
    if metric in PORT_LARGEST:
        return f"at {most.port}, the most of {ports}"
    if not most.value:
        return f"at {ports}"
    return f"at {ports}, most at {most.port}: {format_metric(metric, most.value)}"


def _without_incomplete(results: Results) -> str:
    missing = results.summary.get("flows_incomplete")
    return f"without {format_metric('flows', missing)} incomplete" if missing else ""


def _of_sampled_traffic(results: Results) -> str:
    sampled = results.plan.probes.tcp_classes
    every = {traffic.name for traffic in results.plan.traffic}
    return f"of {', '.join(sampled)}" if sampled and set(sampled) < every else ""


def _slowest(results: Results, metric: str) -> str:
    """Return which of several jobs, or programs that end, took longest."""
    serving = {each.name for traffic in results.plan.traffic for each in traffic.programs() if each.serves}
    times = {name: value for name, value in _own(results, metric).items() if name not in serving}
    return f"{max(times, key=lambda name: times[name] or 0)}, the slowest of {len(times)}" if len(times) > 1 else ""


def _first_change(results: Results) -> str:
    """Return which of several changes of links it is: the first that routing followed (`fabriclab.results.routing`)."""
    changes = _own(results, "reconvergence_ns")
    first = next((name for name, value in changes.items() if value is not None), "")
    return f"after {first}, of {len(changes)} changes" if len(changes) > 1 else ""


def _own(results: Results, metric: str) -> dict[str, float | None]:
    """Return what stands in brackets, with its value."""
    return {
        name.partition("[")[2][:-1]: value for name, value in results.summary.items() if name.startswith(f"{metric}[")
    }
