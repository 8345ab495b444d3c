"""What a lossless class's worst in-cast shows: losses, whether ECN acts before PFC, victims, and watchdogs."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from fabriclab.formats.pauses import PauseTree, QueueName
from fabriclab.formats.plan.node import Node, Port
from fabriclab.formats.plan.switch import SwitchPort, SwitchQueue
from fabriclab.keys.wording import listed
from fabriclab.resolve.switch.findings import checked_ports
from fabriclab.resolve.switch.memory import Memory
from fabriclab.results import Results
from fabriclab.results.pause_text import path_to, queue_text
from fabriclab.units import format_count, format_duration, format_size
from fabriclab.validation.bench import Bench
from fabriclab.validation.finding import ValidationFinding, inapplicable, judged, shortened, unmeasured
from fabriclab.validation.lossless import losses
from fabriclab.validation.lossless_slot import LosslessSlot, victim_name
from fabriclab.validation.victims import Victim

_ALLOWED = 1.5
"""How much longer than by arithmetic a victim's message may take on average: frames of others are ahead of it."""
_MOST_NAMES = 4


@dataclass(frozen=True)
class _Looked:
    """One in-cast's measurements: those of its class, from its start to its end."""

    bench: Bench
    slot: LosslessSlot
    results: Results
    queues: pl.DataFrame
    """Samples of the class's queues, those of hosts among them."""
    groups: pl.DataFrame

    @property
    def tree(self) -> PauseTree:
        """Who paused whom in the whole run: of other queues where another class was looked at."""
        return self.results.pause_tree


def judge_slot(bench: Bench, slot: LosslessSlot, results: Results) -> list[ValidationFinding]:
    """Return what an in-cast shows."""
    queues, groups = results.switches.queues, results.switches.groups
    if queues is None or groups is None:
        return [unmeasured("lossless", slot.where, "the worst in-cast", "this engine has no PFC")]
    looked = _Looked(
        bench, slot, results, _of_class(bench, slot, queues, "queue"), _of_class(bench, slot, groups, "group")
    )
    return [_losses(looked), *shortened_each(_ecn_first(looked)), *_victims(looked), *_watchdogs(looked)]


def shortened_each(findings: list[ValidationFinding]) -> list[ValidationFinding]:
    """Return findings, of many failures the first ones."""
    failures = [finding for finding in findings if finding.verdict == "fail"]
    return [*shortened(failures), *(finding for finding in findings if finding.verdict != "fail")]


def _of_class(bench: Bench, slot: LosslessSlot, table: pl.LazyFrame, number: str) -> pl.DataFrame:
    """Return the samples of a class's queues or groups, up to the end of its in-cast."""
    wanted = [
        (f"{node.name}:{port.interface}", (slot.queue_at if number == "queue" else slot.group_at)(port.switch_port))
        for node in bench.plan.nodes
        for port in node.ports
        if port.switch_port is not None
    ]
    of_class = pl.LazyFrame(wanted, schema={"port": pl.String, number: pl.Int64}, orient="row")
    until = table.filter(pl.col("time_ns") <= slot.stop_ns).with_columns(pl.col(number).cast(pl.Int64))
    return until.join(of_class, on=["port", number], how="semi").sort("time_ns").collect()


def _losses(looked: _Looked) -> ValidationFinding:
    slot = looked.slot
    senders = f"{format_count(len(slot.in_cast.senders), 'sender')} over {slot.over}"
    expected = f"{senders} for {format_duration(slot.stop_ns - slot.start_ns, 2)}, {slot.in_cast.ratio:.3g} to 1"
    return losses(looked.bench, slot.where, f"{expected}: nothing lost", (slot.start_ns, slot.stop_ns), looked.results)


def _ecn_first(looked: _Looked) -> list[ValidationFinding]:
    """Return whether each switch marked before it paused; those that did in one line."""
    right: list[tuple[str, str]] = []
    found: list[ValidationFinding] = []
    for node in looked.bench.switches:
        expected = "the first mark comes before the first pause"
        where = f"{node.name} DSCP {looked.slot.dscp}"
        mark, pause = _first_mark(looked, node), _first_pause(looked, node)
        silent = [port for port in node.ports if not _marking(looked.slot, port)]
        if mark is None and pause is None:
            continue
        if len(silent) == len(node.ports):
            why = "no queue of this class marks; write wred with ecn, or an ecn_threshold, if its senders react"
            found.append(inapplicable("ecn-first", where, expected, why))
        elif mark is not None and (pause is None or mark < pause or (mark == pause and _is_below(looked, node))):
            right.append((node.name, _told(mark, pause)))
        else:
            found.append(judged("ecn-first", where, expected, _fault(looked, node, mark, pause), holds=False))
    if right:
        names = listed([name for name, _ in right[:_MOST_NAMES]])
        more = f" and {format_count(len(right) - _MOST_NAMES, 'more switch')}" if len(right) > _MOST_NAMES else ""
        told = next((told for name, told in right if name == looked.slot.in_cast.switch), right[0][1])
        expected = "the first mark comes before the first pause"
        found.append(judged("ecn-first", f"{names}{more} DSCP {looked.slot.dscp}", expected, told, holds=True))
    if not found:
        why = "no queue marked and nobody paused: the senders did not fill the port"
        found.append(inapplicable("ecn-first", looked.slot.where, "marks before pauses", why))
    return found


def _first_mark(looked: _Looked, node: Node) -> int | None:
    marks = pl.col("marked_wred") + pl.col("marked_phantom")
    return _first(looked, looked.queues.with_columns(marks.alias("marks")), node, "marks")


def _first_pause(looked: _Looked, node: Node) -> int | None:
    return _first(looked, looked.groups, node, "xoffs")


def _first(looked: _Looked, rows: pl.DataFrame, node: Node, counter: str) -> int | None:
    """Return when a counter of a switch first grew in the in-cast, to a sample."""
    of_node = rows.filter(pl.col("port").str.starts_with(f"{node.name}:"))
    before = (
        of_node.filter(pl.col("time_ns") <= looked.slot.start_ns)
        .group_by("port")
        .agg(pl.col(counter).max().alias("before"))
    )
    grown = of_node.join(before, on="port", how="left").filter(
        (pl.col("time_ns") > looked.slot.start_ns) & (pl.col(counter) > pl.col("before").fill_null(0))
    )
    first = grown["time_ns"].min() if grown.height else None
    return first if isinstance(first, int) else None


def _told(mark_ns: int, pause_ns: int | None) -> str:
    if pause_ns is None:
        return "marks, and no pause"
    if pause_ns == mark_ns:
        return "both within one sample, and marks begin below what XOFF lets the queue reach"
    return f"the first mark {format_duration(pause_ns - mark_ns, 3)} before the first pause"


def _marking(slot: LosslessSlot, port: Port) -> SwitchQueue | None:
    if port.switch_port is None:
        return None
    index = slot.queue_at(port.switch_port)
    queue = next((queue for queue in port.switch_port.queues if queue.index == index), None)
    has_marks = queue is not None and (queue.phantom is not None or (queue.wred is not None and queue.wred.ecn))
    return queue if has_marks else None


def _kmin(queue: SwitchQueue, port: Port) -> int | None:
    if queue.wred is None:
        return None
    return queue.wred.min if queue.wred.unit == "bytes" else queue.wred.min * port.rate_bps // (8 * 10**9)


def _xoff_bytes(looked: _Looked, node: Node) -> int | None:
    """Return what a queue can hold of one port before that port's sender is paused."""
    if node.switch is None:
        return None
    ports = checked_ports(node, looked.bench.plan)
    memory = Memory(node.switch, ports)
    groups = [(port, port.group(looked.slot.group_at(port.port))) for port in ports]
    limits = [
        memory.holds_bytes(group.account, 1, port.line.frame_bytes)
        for port, group in groups
        if group is not None and group.lossless is not None
    ]
    return min(limits, default=None)


def _is_below(looked: _Looked, node: Node) -> bool:
    """Return whether marks begin below what XOFF lets a queue reach."""
    xoff = _xoff_bytes(looked, node)
    begins = [
        _kmin(queue, port) for port in node.ports if (queue := _marking(looked.slot, port)) is not None and queue.wred
    ]
    return xoff is not None and all(begin is not None and begin < xoff for begin in begins)


def _fault(looked: _Looked, node: Node, mark_ns: int | None, pause_ns: int | None) -> str:
    """Return what happened in place of a mark before a pause, and what would be right."""
    rows = looked.queues.filter(pl.col("port").str.starts_with(f"{node.name}:"))
    longest = rows.sort("watermark_bytes", descending=True).head(1)
    port_name, most = longest["port"][0], int(longest["watermark_bytes"][0])
    port = next(port for port in node.ports if f"{node.name}:{port.interface}" == port_name)
    queue = _marking(looked.slot, port)
    begins = None if queue is None else _kmin(queue, port)
    xoff = _xoff_bytes(looked, node)
    marked = "no mark at all" if mark_ns is None else f"the first mark {format_duration(mark_ns - (pause_ns or 0), 3)}"
    after = "" if mark_ns is None else " after the first pause"
    told = f"{marked}{after}; {port_name} queue {_index(looked, port)} reached {format_size(most, 3)}"
    if begins is None:
        return told
    told += f", and marks begin at {format_size(begins, 3)}"
    if xoff is None or queue is None or queue.wred is None:
        return told
    if begins >= xoff:
        fate = f"PFC pauses a sender at {format_size(xoff, 3)}, so it acts before ECN does"
        return f"{told}: {fate}; write a minimum below {format_size(xoff, 3)}"
    curve = f"at most {queue.wred.probability_ppm / 10_000:.3g} % up to {format_size(queue.wred.max, 3)}"
    return f"{told} ({curve}): too few for the {format_size(xoff, 3)} at which PFC pauses; write a steeper curve"


def _index(looked: _Looked, port: Port) -> int:
    assert port.switch_port is not None
    return looked.slot.queue_at(port.switch_port)


def _victims(looked: _Looked) -> list[ValidationFinding]:
    """Return the victims, and those that were none in one line."""
    expected = "flows that do not meet the congestion keep what their path leaves them"
    if not looked.slot.victims:
        why = "the lab has no two more hosts whose path avoids the congested port"
        return [inapplicable("victim", looked.slot.where, expected, why)]
    congested = _congested(looked)
    failed, fine, shared = [], [], []
    for number, victim in enumerate(looked.slot.victims):
        meets = sorted(victim.ports & congested)
        took = _took(looked, number)
        most = _ALLOWED / victim.share
        if took is None:
            failed.append(judged("victim", victim.name, expected, "none of its messages ended", holds=False))
        elif took <= most:
            fine.append((took / most, victim, took, most))
        elif meets:
            shared.append((victim, f"it shares {meets[0]}, which is congested by itself"))
        elif looked.slot.carrier.transport != "roce" and not _stopped_on(looked, victim):
            by_itself = f"{took:.3g} times its time alone, but nobody paused its path: its hosts' TCP took that time"
            shared.append((victim, by_itself))
        else:
            failed.append(_slowed(looked, victim, took, most))
    if fine:
        _, victim, took, most = max(fine, key=lambda one: one[0])
        told = f"slowest {victim.name}: {took:.3g} times its time alone, of {most:.3g} allowed"
        failed.append(
            judged("victim", f"{format_count(len(fine), 'pair')} DSCP {looked.slot.dscp}", expected, told, holds=True)
        )
    for victim, why in shared:
        failed.append(inapplicable("victim", f"{victim.name} DSCP {looked.slot.dscp}", expected, why))
    return failed


def _congested(looked: _Looked) -> frozenset[str]:
    """Return the ports that were congested by themselves: their queues marked, or were what others were paused for,
    and were not paused."""
    grown = (
        looked.queues.filter(pl.col("time_ns") > looked.slot.start_ns)
        .group_by("port")
        .agg(
            (pl.col("marked_wred").max() - pl.col("marked_wred").min() > 0).alias("marks"),
            (pl.col("paused_ns").max() - pl.col("paused_ns").min() > 0).alias("paused"),
        )
    )
    marked = grown.filter(pl.col("marks") & ~pl.col("paused"))["port"].to_list()
    return frozenset(marked) | {root.port for root in looked.tree.roots if root.kind == "congested"}


def _took(looked: _Looked, number: int) -> float | None:
    """Return how much longer than alone the messages of a victim took on average; None: none ended."""
    flows = looked.results.flows.filter(pl.col("class") == victim_name(looked.slot, number))
    mean = flows.select(pl.col("slowdown").mean()).collect().item()
    return None if mean is None else float(mean)


def _slowed(looked: _Looked, victim: Victim, took: float, most: float) -> ValidationFinding:
    expected = f"at most {most:.3g} times its time alone: the in-cast leaves it {victim.share:.0%} of its path"
    told = f"{took:.3g} times{_because(looked, victim)}"
    where = f"{victim.name} DSCP {looked.slot.dscp}"
    return judged("victim", where, expected.replace("%", " %"), told, holds=False)


def _stopped_on(looked: _Looked, victim: Victim) -> list[QueueName]:
    """Return the queues of the class that were paused on a victim's path, the longest first."""
    queues = {
        f"{node.name}:{port.interface}": looked.slot.queue_at(port.switch_port)
        for node in looked.bench.plan.nodes
        for port in node.ports
        if port.switch_port is not None
    }
    return [one.name for one in looked.tree.stopped if one.port in victim.ports and queues.get(one.port) == one.queue]


def _because(looked: _Looked, victim: Victim) -> str:
    """Return which queue of a victim's path was paused longest, and for which queue in the end."""
    names = _stopped_on(looked, victim)
    if not names:
        return ", without a pause on its path"
    path = path_to(looked.tree, names[0])
    first, last = path[0], path[-1]
    share = f"{first.paused_ns / max(1, looked.slot.stop_ns - looked.slot.start_ns):.0%}".replace("%", " %")
    root = f", in the end for {queue_text(last.due_to[0].name)}" if last.due_to else ""
    return f"; {first.by} paused {queue_text(first.name)} for {share} of the time{root}"


def _watchdogs(looked: _Looked) -> list[ValidationFinding]:
    """Return whether a watchdog took the pauses of the in-cast for a storm."""
    expected = "the watchdog does not fire"
    watched = [
        (node.name, port.switch_port)
        for node, port in looked.bench.shared_ports()
        if port.switch_port is not None and port.switch_port.pfc and port.switch_port.pfc.watchdog
    ]
    if not watched:
        return [inapplicable("watchdog", looked.slot.where, expected, "no port has a watchdog")]
    grown = (
        looked.queues.filter((pl.col("time_ns") > looked.slot.start_ns) & (pl.col("storms") > 0))
        .group_by("port")
        .agg(pl.col("storms").max())
        .sort("port")
    )
    if not grown.height:
        longest = max(_detection_ns(port) for _, port in watched)
        told = f"at {len(watched)} ports none; it waits for a pause of {format_duration(longest)}"
        return [judged("watchdog", looked.slot.where, expected, told, holds=True)]
    fired = [f"{row['storms']} at {row['port']}" for row in grown.head(_MOST_NAMES).iter_rows(named=True)]
    told = f"storms: {listed(fired)}; write a longer detection, or look for who pauses so long"
    return [judged("watchdog", looked.slot.where, expected, told, holds=False)]


def _detection_ns(port: SwitchPort) -> int:
    return port.pfc.watchdog.detection_ns if port.pfc and port.pfc.watchdog else 0
