"""The report of a benchmark, in the draft's form: as Markdown for people, as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from fabriclab.benchmark.fabric import Fabric
from fabriclab.benchmark.kpis import Kpi
from fabriclab.benchmark.scale import Scale
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node
from fabriclab.units import format_count, format_duration, format_rate, format_size

FORMAT = "fabriclab-benchmark-ai-1"
DRAFT = "draft-calabria-bmwg-ai-fabric-training-bench"
_LEFT_OUT = (
    "tests of UET (categories 1A), which no node has",
    "latency of tagged frames and the search for the largest throughput without loss (category 1): flows are sent as "
    "fast as the transport lets them",
    "MLPerf (category 5): there is no accelerator; execution traces can be converted and run (`fabriclab convert "
    "--from chakra`)",
    "the soak test of 24 hours (category 7)",
    "CPU, memory, power and optics of switches, which the lab does not have",
)


@dataclass(frozen=True)
class Outcome:
    """A test that was run, or was not."""

    name: str
    section: str
    directory: str
    kpis: tuple[Kpi, ...]
    anomaly: str = ""
    """Why it ended otherwise than by itself."""


def to_json(lab: str, plan: Plan, scale: Scale, outcomes: Sequence[Outcome]) -> str:
    """Return the benchmark for programs."""
    document = {
        "format": FORMAT,
        "draft": DRAFT,
        "lab": lab,
        "device_under_test": _identified(plan),
        "scale": asdict(scale),
        "tests": [
            {
                "name": one.name,
                "section": one.section,
                "directory": one.directory,
                "anomaly": one.anomaly or None,
                "kpis": [_of(kpi) for kpi in one.kpis],
            }
            for one in outcomes
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _of(kpi: Kpi) -> dict[str, object]:
    reference = None if kpi.reference is None else {"operator": kpi.reference.operator, "value": kpi.reference.value}
    return {
        "name": kpi.name,
        "condition": kpi.condition,
        "unit": kpi.unit,
        "value": kpi.value,
        "reference": reference,
        "reached": kpi.reached,
        "reason": kpi.reason if kpi.value is None else None,
    }


def to_markdown(lab: str, plan: Plan, scale: Scale, outcomes: Sequence[Outcome]) -> str:
    """Return the report with the seven sections that the draft asks for."""
    return "\n".join(_lines(lab, plan, scale, outcomes)) + "\n"


def _lines(lab: str, plan: Plan, scale: Scale, outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield f"# Benchmark of an AI training fabric: {lab}"
    yield ""
    yield f"After {DRAFT}. Its reference targets are no pass marks."
    yield from ("", "## 1. Device under test", "", "| parameter | value |", "|---|---|")
    for name, value in _identified(plan).items():
        yield f"| {name} | {value} |"
    yield from ("", "## 2. Topology", "", *_topology(plan))
    yield from ("", "## 3. Configuration of the fabric", "", *(f"- {line}" for line in _configured(plan)))
    yield from ("", "## 4. Hosts", "", *(f"- {line}" for line in _hosts(plan)))
    yield from ("", "## 5. Results")
    section = ""
    for one in outcomes:
        if one.section != section:
            section = one.section
            yield from (
                "",
                f"### {section}",
                "",
                "| test | for | number | value | reference | reached |",
                "|---|---|---|---|---|---|",
            )
        for kpi in one.kpis:
            cells = (one.name, kpi.condition, kpi.name, shown(kpi), str(kpi.reference or ""), _reached(kpi))
            yield f"| {' | '.join(cells)} |"
    yield from ("", "## 6. Anomalies and what was left out", "")
    found = [f"{one.name}: {one.anomaly}" for one in outcomes if one.anomaly]
    yield from (
        f"- {line}" for line in [*(found or ["No test ended otherwise than by itself."]), *_left_out(plan, outcomes)]
    )
    yield from ("", "## 7. Repeatability", "")
    yield (
        f"Each operation was repeated {scale.iterations} times within its run; the coefficient of variation is beside "
        "it. A run repeats itself to the last bit: the same lab and seed give the same numbers on every machine."
    )


def shown(kpi: Kpi) -> str:
    """Return a number with its unit, or why there is none."""
    if kpi.value is None:
        return f"not measured: {kpi.reason}"
    digits = f"{kpi.value:,.0f}" if abs(kpi.value) >= 1000 else f"{kpi.value:.4g}"
    return f"{digits} {kpi.unit}".strip()


def _reached(kpi: Kpi) -> str:
    return {None: "", True: "yes", False: "**no**"}[kpi.reached]


def _identified(plan: Plan) -> Mapping[str, str]:
    fabric = Fabric(plan)
    switches = [node for node in plan.nodes if node.role == "switch"]
    models = dict.fromkeys(_model(node) for node in switches)
    rates = dict.fromkeys(format_rate(port.rate_bps) for node in switches for port in node.ports)
    transport = "RoCE" if fabric.roce is not None else "TCP"
    return {
        "switches": f"{len(switches)}, {', '.join(models)}",
        "port speed": ", ".join(rates),
        "ranks": f"{len(fabric.ranks)}, one a host",
        "NIC": f"{transport}, {format_rate(fabric.line_bps)}",
        "routing": "static" if plan.bgp is None else "BGP",
        "virtual": "yes: fabriclab emulates switches and NICs in virtual time",
    }


def _model(node: Node) -> str:
    if node.switch is None:
        return "ports with a queue each"
    size = sum(pool.size_bytes for pool in node.switch.pools)
    return f"shared buffer with pools of {format_size(size, 3)}"


def _topology(plan: Plan) -> Iterator[str]:
    fabric = Fabric(plan)
    leaves = dict.fromkeys(host.ports[0].peer_node for host in fabric.hosts)
    uplinks = fabric.uplinks()
    yield (
        f"{format_count(len(leaves), 'switch')} with hosts, {format_count(len(uplinks), 'uplink')} from them; "
        f"bisection {format_rate(round(fabric.bisection_bps))} for hosts of different leaves. The lab's own "
        "`topology.clab.yml` lies in each run's directory."
    )


def _configured(plan: Plan) -> Iterator[str]:
    lossless = sum(
        group.lossless is not None
        for node in plan.nodes
        for port in node.ports
        if port.switch_port is not None
        for group in port.switch_port.groups
    )
    yield f"lossless priority groups: {lossless}" if lossless else "no lossless priority group (no PFC)"
    marking = any(
        queue.wred is not None
        for node in plan.nodes
        for port in node.ports
        if port.switch_port is not None
        for queue in port.switch_port.queues
    )
    yield "ECN: WRED marks in at least one queue" if marking else "ECN: no queue marks by WRED"
    yield "every default is in the `plan.json` of each run"


def _hosts(plan: Plan) -> Iterator[str]:
    roce = Fabric(plan).roce
    if roce is None:
        yield "TCP of Linux, with each host's own congestion control: not all NICs have the same RoCE"
        return
    control = "no congestion control" if roce.control is None else roce.control.name
    window = "no window of its own" if roce.window_packets is None else f"a window of {roce.window_packets} packets"
    yield f"RoCE: MTU {roce.mtu} B, {window}, {control}"
    yield f"timeout {format_duration(roce.timeout_ns, 4)}, {roce.retries} retries"


def _left_out(plan: Plan, outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield from (f"Left out: {line}." for line in _LEFT_OUT)
    if not any(one.name == "link-failure" for one in outcomes):
        why = (
            "routes are static" if plan.bgp is None else "no switch with hosts has two uplinks, or it was not asked for"
        )
        yield f"Left out: the failure of a link (category 6): {why}."
