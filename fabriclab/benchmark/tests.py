"""The tests of the benchmark: a run each, and what is made of what it measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from fabriclab.benchmark.fabric import Fabric
from fabriclab.benchmark.judging import (
    judge_collective,
    judge_failure,
    judge_in_cast,
    judge_interference,
    judge_job,
    judge_throughput,
)
from fabriclab.benchmark.kpis import Kpi
from fabriclab.benchmark.scale import Scale
from fabriclab.formats.plan.model import Event, Plan, Probes
from fabriclab.formats.plan.traffic import CollectiveTraffic, LongTraffic, RoundsTraffic, Traffic
from fabriclab.formats.plan.traffic.collective import Algorithm, Operation
from fabriclab.results import Results
from fabriclab.units import format_duration, format_size
from fabriclab.validation.bench import NO_PROBES, Bench, Setting, set_up

_INTERVAL_NS = 100_000
_MESSAGE_BYTES = 256 * 1024
"""What replay posts at a time of a long flow (`traffic/README.md`)."""
_MESSAGES = 200
"""Of each host in a test of throughput: whole ones count."""
_APART = 10
"""Jobs that are to be alone start so many times as far apart as they take at least."""
_COLLECTIVES: tuple[tuple[Operation, Algorithm | None], ...] = (
    ("all-reduce", None),
    ("all-to-all", "direct"),
    ("all-gather", "ring"),
)


@dataclass(frozen=True)
class BenchmarkTest:
    """A test: its name, the draft's section, its run, and what is made of it."""

    name: str
    section: str
    plan: Plan
    judge: Callable[[Results], list[Kpi]]


def tests_of(bench: Bench, scale: Scale) -> list[BenchmarkTest]:
    """Return the tests that a lab can have, in the draft's order. Raises ArgumentError for a lab that has none."""
    tests = _Tests(bench, Fabric.of(bench.plan), scale)
    return [
        *tests.throughput(),
        *tests.in_casts(),
        *tests.collectives(),
        *tests.jobs(),
        *tests.tenants(),
        *tests.failures(),
    ]


@dataclass(frozen=True)
class _Tests:
    bench: Bench
    fabric: Fabric
    scale: Scale

    def throughput(self) -> Iterator[BenchmarkTest]:
        """Yield the tests of categories 1 and 3: every host sends to the one half the fabric away."""
        ranks = self.fabric.ranks
        for pairs in self.scale.queue_pairs:
            stop_ns = _MESSAGES * 8 * _MESSAGE_BYTES * 10**9 // self.fabric.line_bps
            traffic = [
                LongTraffic(
                    name=f"pair-{place}-{number}",
                    senders=(sender,),
                    receiver=ranks[(place + len(ranks) // 2) % len(ranks)],
                    start_ns=0,
                    stop_ns=stop_ns,
                    stagger_ns=0,
                    carrier=self.fabric.carrier,
                )
                for place, sender in enumerate(ranks)
                for number in range(pairs)
            ]
            plan = self._plan(f"throughput of {pairs} queue pairs", traffic, stop_ns)
            condition = f"{pairs} QP a pair, {format_duration(stop_ns, 3)}"
            yield BenchmarkTest(
                f"throughput-{pairs}-qp",
                "RDMA transport and load balancing",
                plan,
                partial(judge_throughput, fabric=self.fabric, condition=condition),
            )

    def in_casts(self) -> Iterator[BenchmarkTest]:
        """Yield the tests of category 2: N hosts send to one at once."""
        senders = 2
        while senders < min(len(self.fabric.ranks), self.scale.most_senders + 1):
            traffic = RoundsTraffic(
                name="in-cast",
                senders=self.fabric.ranks[1 : senders + 1],
                receiver=self.fabric.ranks[0],
                size_bytes=self.scale.burst_bytes,
                rounds=1,
                start_ns=0,
                connection="new",
                mode="push",
                carrier=self.fabric.carrier,
            )
            condition = f"{senders} to 1"
            yield BenchmarkTest(
                f"in-cast-{senders}",
                "Congestion management",
                self._plan(f"in-cast of {senders}", [traffic], 0),
                partial(
                    judge_in_cast,
                    fabric=self.fabric,
                    condition=condition,
                    sent_bytes=senders * self.scale.burst_bytes,
                ),
            )
            senders *= 2

    def collectives(self) -> Iterator[BenchmarkTest]:
        """Yield the tests of category 4."""
        for operation, algorithm in _COLLECTIVES:
            for size_bytes in self.scale.sizes_bytes:
                name = f"{operation}-{format_size(size_bytes).replace(' ', '')}"
                traffic = self._collective(operation, size_bytes, algorithm=algorithm)
                condition = f"{operation}, {format_size(size_bytes)}, {len(self.fabric.ranks)} ranks"
                yield BenchmarkTest(
                    name,
                    "Collective communication",
                    self._plan(name, [traffic], 0),
                    partial(judge_collective, fabric=self.fabric, condition=condition),
                )

    def jobs(self) -> Iterator[BenchmarkTest]:
        """Yield the tests of categories 5 and 6: a job that computes and reduces, of more and more ranks."""
        counts = [count for count in (8, 16, 32, 64, 128, 256, 512) if count < len(self.fabric.ranks)]
        for compute_ns in self.scale.compute_ns:
            for count in [*(counts if compute_ns == self.scale.compute_ns[0] else ()), len(self.fabric.ranks)]:
                traffic = self._collective(
                    "all-reduce", self.scale.job_bytes, compute_ns=compute_ns, ranks=self.fabric.ranks[:count]
                )
                computed = format_duration(compute_ns).replace(" ", "")
                yield BenchmarkTest(
                    f"job-{computed}-{count}-ranks",
                    "Job completion time and scale",
                    self._plan(f"job, {computed} of computation", [traffic], 0),
                    partial(judge_job, fabric=self.fabric, traffic=traffic),
                )

    def tenants(self) -> Iterator[BenchmarkTest]:
        """Yield the test of two jobs whose ranks take turns on the leaves."""
        ranks = self.fabric.ranks
        if len(ranks) < 4:
            return
        roofline_ns = self.scale.iterations * (
            self.scale.compute_ns[0] + 16 * self.scale.job_bytes * 10**9 // self.fabric.line_bps
        )
        apart_ns = _APART * roofline_ns
        traffic = [
            self._collective(
                "all-reduce",
                self.scale.job_bytes,
                name=f"{name}-{when}",
                ranks=ranks[place::2],
                compute_ns=self.scale.compute_ns[0],
                start_ns=start_ns,
            )
            for when, starts in (("alone", (0, apart_ns)), ("shared", (2 * apart_ns,) * 2))
            for place, (name, start_ns) in enumerate(zip(("one", "two"), starts, strict=True))
        ]
        yield BenchmarkTest(
            "tenants",
            "Multi-tenant interference",
            self._plan("two jobs", traffic, 2 * apart_ns),
            partial(judge_interference, jobs=("one", "two"), apart_ns=apart_ns),
        )

    def failures(self) -> Iterator[BenchmarkTest]:
        """Yield the test of category 6 in which an uplink fails while all ranks reduce, and routing follows."""
        uplinks = self.fabric.uplinks()
        leaf = uplinks[0][0] if uplinks else None
        own = [port for node, port in uplinks if node is leaf]
        # With static routes the other switches would go on sending to where the link is missing.
        if leaf is None or len(own) < 2 or self.fabric.plan.bgp is None:
            return
        traffic = self._collective("all-reduce", self.scale.job_bytes)
        least_ns = 16 * self.scale.job_bytes * 10**9 // self.fabric.line_bps
        link = (f"{leaf.name}:{own[0].interface}", f"{own[0].peer_node}:{own[0].peer_interface}")
        event = Event(name="fails", at_ns=least_ns * self.scale.iterations // 2, links=(link,), action="down")
        plan = self._plan("an uplink fails", [traffic], 0, events=(event,))
        yield BenchmarkTest(
            "link-failure",
            "Scale and convergence",
            plan,
            partial(judge_failure, condition=f"{link[0]} to {link[1]} fails", failed_ns=event.at_ns),
        )

    def _collective(
        self,
        operation: Operation,
        size_bytes: int,
        *,
        algorithm: Algorithm | None = None,
        name: str = "collective",
        ranks: tuple[str, ...] | None = None,
        compute_ns: int = 0,
        start_ns: int = 0,
    ) -> CollectiveTraffic:
        return CollectiveTraffic(
            name=name,
            ranks=self.fabric.ranks if ranks is None else ranks,
            operation=operation,
            algorithm=self.scale.algorithm if algorithm is None else algorithm,
            size_bytes=size_bytes,
            iterations=self.scale.iterations,
            channels=self.scale.channels,
            compute_ns=compute_ns,
            start_ns=start_ns,
            carrier=self.fabric.carrier,
        )

    def _plan(self, title: str, traffic: Sequence[Traffic], last_ns: int, events: Sequence[Event] = ()) -> Plan:
        return set_up(self.bench, title, Setting(tuple(traffic), last_ns, self._probes(), events))

    def _probes(self) -> Probes:
        ports = tuple(
            f"{node.name}:{port.interface}"
            for node in self.fabric.plan.nodes
            if node.role == "switch"
            for port in node.ports
            if port.switch_port is not None
        )
        switches = {"switch_interval_ns": _INTERVAL_NS, "switch_ports": ports} if ports else {}
        return NO_PROBES.model_copy(update={"interface_interval_ns": _INTERVAL_NS, **switches})
