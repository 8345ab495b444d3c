"""What an experiment wants to see and its plans do not measure: why a figure would stay empty, a number unknown.

This is what can be known before a run; the report says of each figure that it has not what was really missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fabriclab.formats.figures import BY_NAME
from fabriclab.formats.flow_metrics import COLLECTIVES
from fabriclab.formats.metrics import QUEUES, names
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.traffic import CollectiveTraffic, TraceTraffic, Traffic
from fabriclab.keys.wording import listed
from fabriclab.lab.metrics import POOL_METRICS, PROGRAM_METRICS, QUEUE_METRICS, SWITCH_PORT_METRICS, TRAFFIC_METRICS
from fabriclab.registry.applications import application_with_metric

_OF_SAMPLED_QUEUES = names(QUEUES, "port")
_OF_COLLECTIVES = tuple(metric.name for metric in COLLECTIVES)
_OF_SIZED_FLOWS = ("fct_", "slowdown_", "deadline_")
_PHASES = ("jain_phase_mean", "jain_phase_min", "fair_after_mean_ns", "rate_variation")
_NO_QUEUES = "no queue is sampled; write probes: {queues: {ports: [...]}}"
_NO_SWITCHES = "no switch with a shared buffer is sampled (probes.switches)"
_NO_TCP = "no TCP connection is sampled; write probes: {tcp: {}}"


@dataclass(frozen=True)
class Sights:
    """What one plan will measure."""

    plan: Plan
    trace_classes: Mapping[str, bool] | None
    """The classes of the user's trace, and whether they have flows with a size; None: nobody has read it."""

    def figure_lacks(self, figure: Mapping[str, Any]) -> str:
        """Return why a figure of the report would be empty; an empty text where nothing is known against it."""
        kind, port = str(figure["kind"]), figure.get("port")
        needs = BY_NAME[kind].needs
        if kind == "metric":
            return self.metric_lacks(str(figure["metric"]))
        if kind in ("queue", "queue-distribution") and figure.get("queue") is not None:
            return self._switch_lacks(port)
        if needs == "queues":
            return self._queues_lack(port) and self._any_lacks(port)
        if needs == "switches":
            return self._switch_lacks(None, figure.get("switch"))
        if needs == "tcp":
            return self._tcp_lacks(long_only=kind == "throughput")
        traffic = figure.get("traffic") or ()
        names = (traffic,) if isinstance(traffic, str) else tuple(traffic)
        return self._completion_lacks(names, with_deadline=kind == "deadlines") if needs == "completion" else ""

    def metric_lacks(self, metric: str) -> str:
        """Return why a number of the summary would be unknown; an empty text where nothing is known against it."""
        name, _, place = metric.partition("[")
        place = place.removesuffix("]")
        if name in _OF_SAMPLED_QUEUES:
            return self._queues_lack(place or None)
        if name in (*QUEUE_METRICS, *SWITCH_PORT_METRICS):
            return self._switch_lacks(":".join(place.split(":")[:2]) or None)
        if name in POOL_METRICS:
            return self._pool_lacks(place)
        if name in ("deadlocks", "deadlock_ns"):
            return self._pauses_lack()
        if name == "srtt_mean_us":
            return self._tcp_lacks(long_only=False)
        if name in _PHASES:
            return self._tcp_lacks(long_only=True)
        if name in ("convergence_ns", "reconvergence_ns") and self.plan.bgp is None and self.plan.configured is None:
            return "routes are static; write routing: {protocol: bgp-unnumbered}"
        if name == "reconvergence_ns" and not any(event.links for event in self.plan.events):
            return "no event changes a link"
        return self._traffic_lacks(name, place) if name in TRAFFIC_METRICS else ""

    def _pauses_lack(self) -> str:
        every = (port.switch_port for node in self.plan.nodes for port in node.ports)
        has_pfc = any(port is not None and port.pfc is not None for port in every)
        return self._switch_lacks(None) if has_pfc else "no port sends pause frames; write pfc: {priorities: [3]}"

    @cached_property
    def _classes(self) -> dict[str, bool] | None:
        """Every class of flows, and whether it has flows with a size; None where a trace was not read."""
        has_trace = self._has_trace
        if has_trace and self.trace_classes is None:
            return None
        own = [each for each in self.plan.traffic if not isinstance(each, TraceTraffic)]
        classes = {each.name: not each.is_long for each in own}
        return classes | dict(self.trace_classes or {}) if has_trace else classes

    def _queues_lack(self, port: str | None) -> str:
        sampled = self.plan.probes.queue_ports
        if not sampled:
            return _NO_QUEUES
        return (
            ""
            if port is None or port in sampled
            else f"{port} is not sampled; probes.queues.ports has {listed(sampled)}"
        )

    def _any_lacks(self, port: str | None) -> str:
        """Return why neither the port nor the switch that it is of tells its queue."""
        return self._switch_lacks(port) and (self._queues_lack(port) if self.plan.probes.queue_ports else _NO_QUEUES)

    def _switch_lacks(self, port: str | None, switch: str | None = None) -> str:
        sampled = self.plan.probes.switch_ports if self.plan.probes.switch_interval_ns is not None else ()
        if not sampled:
            return _NO_SWITCHES
        if port is not None and port not in sampled:
            return f"{port} is not sampled; probes.switches.ports has {listed(sampled)}"
        if switch is not None and all(each.partition(":")[0] != switch for each in sampled):
            return f"{switch} is not sampled; probes.switches.ports has {listed(sampled)}"
        return ""

    def _pool_lacks(self, place: str) -> str:
        switch, _, pool = place.partition(":")
        lacks = self._switch_lacks(None, switch or None)
        if lacks or not switch:
            return lacks
        node = self.plan.node(switch)
        pools = [each.name for each in node.switch.pools] if node.switch is not None else []
        return "" if pool in pools else f"{switch} has no pool {pool}; it has {listed(pools)}"

    def _tcp_lacks(self, *, long_only: bool) -> str:
        if self.plan.probes.tcp_interval_ns is None:
            return _NO_TCP
        sampled = [each for each in self.plan.traffic if each.name in self.plan.probes.tcp_classes]
        if long_only and not any(each.is_long or isinstance(each, TraceTraffic) for each in sampled):
            return f"no long flow is sampled; probes.tcp.traffic has {listed(self.plan.probes.tcp_classes)}"
        return ""

    def _traffic_lacks(self, name: str, place: str) -> str:
        classes = self._classes
        if classes is None:
            return ""
        application = application_with_metric(name)
        if application is not None:
            return str(application.load("unmeasured").metric_lacks(self.plan, name, place))
        programs = [program.name for each in self.plan.traffic for program in each.programs()]
        if name in PROGRAM_METRICS and place in programs:
            return ""
        if place and place not in classes:
            return f"no flow has class {place}; the classes are {listed(classes) or 'none'}"
        pieces = [
            each for each in self.plan.traffic if not place or each.name == place or isinstance(each, TraceTraffic)
        ]
        if name == "program_ns":
            return "" if any(each.program_nodes() for each in pieces) else "there is no program"
        if name == "job_ns":
            return "" if any(each.is_job for each in pieces) else "there is no shuffle, collective or Hadoop job"
        if name in _OF_COLLECTIVES:
            return "" if any(isinstance(each, CollectiveTraffic) for each in pieces) else "there is no collective"
        if name.startswith("coflow"):
            return self._coflows_lack(name, pieces)
        if name.startswith(_OF_SIZED_FLOWS):
            return self._completion_lacks((place,) if place else (), with_deadline=name.startswith("deadline_"))
        return ""

    def _coflows_lack(self, name: str, pieces: Sequence[Traffic]) -> str:
        with_coflows = [each for each in pieces if each.has_coflows]
        if name != "coflow_deadline_misses" or not with_coflows or self._has_trace:
            return "" if with_coflows else "no traffic has coflows"
        return "" if any(each.has_deadline for each in with_coflows) else "no flow has a deadline"

    def _completion_lacks(self, names: Sequence[str], *, with_deadline: bool) -> str:
        """Return why no flow of these classes, by default of any, has a completion time (or a deadline)."""
        classes = self._classes
        if classes is None:
            return ""
        sized = [name for name, is_sized in classes.items() if is_sized]
        if names and not set(names) & set(classes):
            return f"no flow has class {' or '.join(names)}; the classes are {listed(classes) or 'none'}"
        if not set(sized) & set(names or sized) and (names or not self._has_trace):
            return f"flows of {', '.join(names) or 'all traffic'} are long, and have no completion time"
        if (
            with_deadline
            and not self._has_trace
            and not any(each.has_deadline and (not names or each.name in names) for each in self.plan.traffic)
        ):
            return "no flow has a deadline"
        return ""

    @property
    def _has_trace(self) -> bool:
        return any(isinstance(each, TraceTraffic) for each in self.plan.traffic)
