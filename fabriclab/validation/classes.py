"""Whether every DSCP lands in the queue that it should, on every switch that its packets come through.

One DSCP after the other, each in a slot of its own: a few flows from every rack to the next. The queue that took most
of a port's packets in a slot is that DSCP's; a few of others are routing's own (CS6, RFC 4594).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import polars as pl

from fabriclab.formats.plan.switch import CODEPOINTS
from fabriclab.formats.plan.traffic import Carrier, FlowsTraffic
from fabriclab.results import Results
from fabriclab.validation.bench import MS, NO_PROBES, Bench, Setting, Stage, set_up, single_flows
from fabriclab.validation.finding import ValidationFinding, judged, numbers_text, shortened, unmeasured

_FLOWS = 4
"""Between two racks in a slot: some for each of a few equal paths."""
_FLOW_BYTES = 20_000
_LEAST_PACKETS = 10
"""In a slot, below which a port says nothing: routing's own packets, a stray one."""
_SLACK = 8
"""The length of a slot, in multiples of the time that its packets take on the slowest line."""
_SHORTEST_SLOT_NS = 10 * MS
_MOST_NAMES = 4

_Landed = dict[tuple[int, str], tuple[int, int]]
"""By DSCP and port: the queue that took most of the packets, and how many."""


def classes_stage(bench: Bench) -> Stage | None:
    """Return the stage; None where no switch has classes."""
    ports = [f"{node.name}:{port.interface}" for node, port in bench.shared_ports()]
    if not ports:
        return None
    slot_ns = _slot_ns(bench)
    traffic = [flows for dscp in range(CODEPOINTS) for flows in _slot(bench, dscp, dscp * slot_ns)]
    probes = NO_PROBES.model_copy(update={"switch_interval_ns": slot_ns, "switch_ports": tuple(ports)})
    plan = set_up(bench, "classes", Setting(traffic, CODEPOINTS * slot_ns, probes))
    return Stage("classes", plan, lambda results: _judge(bench, results, slot_ns), check="class")


def _slot_ns(bench: Bench) -> int:
    slowest_bps = min(port.rate_bps for node in bench.plan.nodes for port in node.ports)
    flows = _FLOWS * max(1, len(bench.racks()))
    needed_ns = _SLACK * flows * _FLOW_BYTES * 8 * 10**9 // slowest_bps
    return max(_SHORTEST_SLOT_NS, -(-needed_ns // MS) * MS)


def _slot(bench: Bench, dscp: int, start_ns: int) -> Iterator[FlowsTraffic]:
    for source, receiver in _neighbours(bench):
        name = f"dscp-{dscp}-{receiver}"
        yield single_flows(
            name,
            [source],
            receiver,
            _FLOW_BYTES,
            start_ns + MS,
            count=_FLOWS,
            interval_ns=1,
            carrier=Carrier(dscp=dscp),
        )


def _neighbours(bench: Bench) -> list[tuple[str, str]]:
    """Return a pair of hosts from every rack to the next; within the only rack where there is one."""
    racks = list(bench.racks().values())
    if len(racks) == 1:
        return [(racks[0][0], racks[0][1])] if len(racks[0]) > 1 else []
    return [(rack[0], racks[(number + 1) % len(racks)][-1]) for number, rack in enumerate(racks)]


def _judge(bench: Bench, results: Results, slot_ns: int) -> list[ValidationFinding]:
    landed = _landed(results, slot_ns)
    if landed is None:
        return [unmeasured("class", "all ports", "each DSCP in its queue", "this engine has no queues to count in")]
    right: dict[int, set[str]] = defaultdict(set)
    right_dscps: dict[int, set[int]] = defaultdict(set)
    wrong: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for (dscp, name), (queue, _) in sorted(landed.items()):
        expected = _expected_queue(bench, name, dscp)
        if queue == expected:
            right[queue].add(name)
            right_dscps[queue].add(dscp)
        else:
            wrong[name, expected, queue].append(dscp)
    alike: dict[tuple[str, int, int], list[str]] = defaultdict(list)
    for (name, expected, queue), dscps in wrong.items():
        alike[numbers_text(dscps), expected, queue].append(name)
    failures = [
        judged("class", _names(names), f"DSCP {dscps} in queue {expected}", f"queue {queue}", holds=False)
        for (dscps, expected, queue), names in alike.items()
    ]
    passes = [
        judged(
            "class",
            f"{len(right[queue])} ports",
            f"DSCP {numbers_text(list(right_dscps[queue]))} in queue {queue}",
            f"queue {queue}",
            holds=True,
        )
        for queue in sorted(right)
    ]
    return [*shortened(failures), *passes, *_unseen(bench, {dscp for dscp, _ in landed})]


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more ports" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _unseen(bench: Bench, seen: set[int]) -> Iterator[ValidationFinding]:
    missing = [dscp for dscp in bench.wanted.queues if dscp not in seen]
    if missing:
        yield judged(
            "class", "all ports", f"DSCP {numbers_text(missing)} in its queue", "no port forwarded it", holds=False
        )


def _expected_queue(bench: Bench, name: str, dscp: int) -> int:
    if dscp in bench.wanted.queues:
        return bench.wanted.queues[dscp]
    node, _, interface = name.partition(":")
    maps = next(
        port.switch_port.maps
        for port in bench.intended.node(node).ports
        if port.interface == interface and port.switch_port
    )
    return maps.tc_to_queue[maps.dscp_to_tc[dscp]]


def _landed(results: Results, slot_ns: int) -> _Landed | None:
    """Return where the packets of each slot went, port by port; None where no queues were sampled."""
    queues = results.switches.queues
    if queues is None:
        return None
    counted = (
        queues.select("time_ns", "port", "queue", "sent_packets")
        .drop_nulls()
        .sort("port", "queue", "time_ns")
        .with_columns(
            (pl.col("sent_packets") - pl.col("sent_packets").shift(1, fill_value=0).over("port", "queue")).alias("sent")
        )
        # A sample at the end of a slot tells of it. What was before the first one is routing's, not a slot's.
        .with_columns(((pl.col("time_ns") - 1) // slot_ns).alias("slot"))
        .filter((pl.col("time_ns") > 0) & (pl.col("slot") < CODEPOINTS))
        .group_by("slot", "port", "queue")
        .agg(pl.col("sent").sum())
        .sort("slot", "port", "sent", "queue", descending=[False, False, True, False])
        .group_by("slot", "port", maintain_order=True)
        .first()
        .filter(pl.col("sent") >= _LEAST_PACKETS)
        .collect()
    )
    return {(row["slot"], row["port"]): (row["queue"], row["sent"]) for row in counted.iter_rows(named=True)}
