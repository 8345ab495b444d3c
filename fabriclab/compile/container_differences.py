"""What of a plan an engine without the machine's own qdisc can't express, and what stands there instead: sentences that
name switch, port, queue and field. Places of which the same holds share a sentence.

The plan's own numbers stay what they are; `fabriclab.compile.stock_switch` makes what is said here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from fabriclab.compile.stock_switch import static_limit_bytes, stock_memory, used_queues, wred_bytes
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Port
from fabriclab.formats.plan.switch import Pfc, PriorityGroup, SwitchPort, SwitchQueue, Wred, lossless_queues
from fabriclab.formats.ranges import EACH_CHANGE_NS
from fabriclab.keys.wording import listed
from fabriclab.lab.probe_keys import QUEUE_INTERVAL
from fabriclab.resolve.switch.memory import Memory
from fabriclab.units import format_duration, format_rate, format_size

SAMPLED_INSTEAD_NS = QUEUE_INTERVAL.or_default(None)
"""The interval of queues in containers, where nothing records each change."""

_DIGITS = 4
_MOST_NAMED = 8


class _Shortfall(NamedTuple):
    """One of one place.

    `part` and `number`: a queue or a group; without a number the port, without a port the switch.
    """

    node: str
    port: str
    part: str
    number: int | None
    what: str
    instead: str


def shortfalls(plan: Plan) -> tuple[str, ...]:
    """Return what stock qdiscs can't express of a plan, a sentence each."""
    found = [shortfall for node in plan.nodes for shortfall in _of_node(plan, node)]
    sentences = [*_sentences(plan, found)]
    storms = "no neighbour obeys pause frames, so none are sent"
    sentences += [
        f"events.{storm.name}: pause-storm of {storm.host}:{storm.interface}: {storms}" for storm in plan.pause_storms
    ]
    sentences += [
        f"events.{event.name}: nothing is set, because only the virtual machine can change a queue and keep its packets"
        for event in plan.events
        if event.action == "set"
    ]
    rdma = [node.name for node in plan.nodes if node.rdma is not None]
    if rdma:
        who = listed(rdma) if len(rdma) <= _MOST_NAMED else f"{len(rdma)} hosts"
        sentences.append(
            f"hosts: rdma of {who}: programs find no RDMA device; Linux 6.12's rdma_rxe knows the network namespace of "
            "the computer itself only"
        )
    sentences += _of_load_balancing(plan)
    filtering = [node.name for node in plan.nodes if node.filters]
    if filtering:
        sentences.append(f"filters of {listed(filtering)}: packets are not filtered, only in the virtual machine")
    versions = sorted({f"{node.frr} of {node.name}" for node in plan.nodes if node.frr is not None})
    if versions:
        sentences.append(f"FRR {listed(versions)}: a container runs the version of its image")
    if plan.probes.switch_ports:
        sentences.append(
            "probes.switches: queues, groups, pools and pauses are not sampled; probes.queues has each port's backlog"
        )
    if plan.probes.queue_interval_ns == EACH_CHANGE_NS:
        interval = format_duration(SAMPLED_INSTEAD_NS)
        sentences.append(
            f"probes.queues.interval: queues are sampled every {interval}; only the virtual machine records each change"
        )
    if plan.probes.pcap is not None:
        sentences.append(
            "probes.pcap: nothing is captured; for a lab that stays up, `fabriclab capture` captures packets"
        )
    return tuple(sentences)


def _of_load_balancing(plan: Plan) -> Iterator[str]:
    """Yield a sentence for each way of choosing among paths that is not Linux's hash."""
    found: dict[str, list[str]] = {}
    for node in plan.nodes:
        if node.load_balancing is not None and node.load_balancing.mode != "flow":
            found.setdefault(node.load_balancing.mode, []).append(node.name)
    for mode, switches in found.items():
        yield (
            f"switches: load_balancing.mode {mode} of {_named(switches)}: each flow keeps to one path, by the hash of "
            "its five-tuple; only the virtual machine's kernel chooses by packet or flowlet"
        )


def _of_node(plan: Plan, node: Node) -> Iterator[_Shortfall]:
    buffers = [(port, port.switch_port) for port in node.ports if port.switch_port is not None]
    for what, instead in _of_switch(node, [buffer for _, buffer in buffers]):
        yield _Shortfall(node.name, "", "", None, what, instead)
    memory = stock_memory(plan, node)
    for port, buffer in buffers:
        for part, number, (what, instead) in _of_port(memory, port, buffer):
            yield _Shortfall(node.name, port.interface, part, number, what, instead)


def _of_switch(node: Node, buffers: Sequence[SwitchPort]) -> Iterator[tuple[str, str]]:
    if node.switch is not None and node.switch.pools:
        names = ", ".join(f"{pool.name} of {_size(pool.size_bytes)}" for pool in node.switch.pools)
        yield (
            f"pools {names}",
            "every queue has its own memory, so all can be full at once",
        )
    if node.switch is not None and node.switch.cell_bytes > 1:
        yield (
            f"cell {_size(node.switch.cell_bytes)}",
            "limits hold the same number of full frames, but a smaller frame takes its length, not whole cells",
        )
    if len({buffer.maps.dscp_to_tc for buffer in buffers}) > 1:
        yield (
            "dscp_to_tc that differs by port",
            "the port by which a frame leaves determines its class, not the port by which it came in",
        )


def _of_port(memory: Memory, port: Port, buffer: SwitchPort) -> Iterator[tuple[str, int | None, tuple[str, str]]]:
    queues = used_queues(buffer)
    lossless = lossless_queues(buffer)
    for queue in queues:
        for shortfall in _of_queue(memory, port, queue):
            yield "queue", queue.index, shortfall
        if queue.index in lossless and queue.wred is not None and queue.wred.non_ect == "drop":
            yield "queue", queue.index, _wred_of_lossless(queue.wred)
    for group in buffer.groups:
        for shortfall in _of_group(group):
            yield "priority group", group.index, shortfall
    if buffer.pfc is not None and buffer.pfc.priorities:
        yield "", None, _of_pfc(buffer.pfc)
    if port.nic is not None and port.nic.roce is not None:
        yield "", None, ("nic.roce", "no RoCE, because only the virtual machine's NICs have it")
    if port.nic is not None and (port.nic.gro or port.nic.pacer is not None or port.nic.tx_queues > 1):
        yield "", None, ("nic", "a token bucket; bursts, merging and interrupts are those of the container's veth")


def _of_queue(memory: Memory, port: Port, queue: SwitchQueue) -> Iterator[tuple[str, str]]:
    yield from _of_memory(memory, port, queue)
    if queue.scheduler.kind == "wrr":
        yield "wrr", "shares of bytes, as if every frame were a full one"
    if queue.scheduler.cir_bps:
        yield f"cir {_rate(queue.scheduler.cir_bps)}", "no rate is guaranteed"
    if queue.wred is not None:
        yield from _of_wred(queue.wred, port.rate_bps)
    if queue.phantom is not None:
        phantom = queue.phantom
        yield (
            f"phantom queue of {_rate(phantom.rate_bps)}, threshold {_size(phantom.threshold_bytes)}",
            "it marks nothing",
        )
    if queue.qcn is not None:
        yield f"qcn towards {_size(queue.qcn.set_point_bytes)}", "no notifications"
    if queue.voq_limit_bytes is not None:
        yield f"voq_limit {_size(queue.voq_limit_bytes)}", "no limit for frames from one port"
    if queue.event_bytes is not None:
        yield f"event {_size(queue.event_bytes)}", "no congestion events"
    if queue.trims:
        yield "discard trim", "packets that there is no room for are dropped whole"


def _of_memory(memory: Memory, port: Port, queue: SwitchQueue) -> Iterator[tuple[str, str]]:
    """Yield what is lost of how a queue shares a pool."""
    account, limit = queue.account, _size(static_limit_bytes(memory, queue.account, port))
    if account.alpha_log is not None:
        alone = "the share of one busy queue, alpha B / (1 + alpha)"
        yield f"alpha {_alpha(account.alpha_log)} of pool {account.pool}", f"a static limit of {limit}, {alone}"
    elif account.pool is not None and account.limit_bytes is None:
        yield f"the whole of pool {account.pool}", f"a static limit of {limit}"
    if queue.sharing is not None:
        yield f"sharing {queue.sharing.policy}", "each queue has that limit, whatever the others hold"


def _of_wred(wred: Wred, rate_bps: int) -> Iterator[tuple[str, str]]:
    if wred.unit == "ns":
        low, high = wred_bytes(wred, rate_bps)
        times = f"min {format_duration(wred.min, _DIGITS)}, max {format_duration(wred.max, _DIGITS)}"
        yield (
            f"wred by delay, {times}",
            f"min {_size(low)} and max {_size(high)}, the bytes that the link sends in that time",
        )
    newest = (
        f"an average in which the newest length has weight 1/{1 << wred.weight_log}"
        if wred.weight_log
        else "the instantaneous queue"
    )
    yield f"wred on {newest}", "on an average with weight 1/2, the nearest that tc allows"


def _wred_of_lossless(wred: Wred) -> tuple[str, str]:
    dropped = "packets that are not ECN-capable" if wred.ecn else "packets"
    return "wred of a lossless class", f"no pause keeps its queue short, and red drops {dropped} in this class, too"


def _of_group(group: PriorityGroup) -> Iterator[tuple[str, str]]:
    if group.lossless is not None:
        headroom = _size(group.lossless.headroom_bytes)
        yield (
            f"lossless with headroom {headroom}",
            "the neighbour is not paused, and packets that find their queue full are lost",
        )
    elif group.account.pool is not None or group.account.limit_bytes is not None:
        yield "limit by ingress port", "only the queue by which a frame leaves has a limit"


def _of_pfc(pfc: Pfc) -> tuple[str, str]:
    priorities = ", ".join(map(str, pfc.priorities))
    watchdog = "" if pfc.watchdog is None else " and watchdog"
    return f"pfc of {priorities}{watchdog}", "no pauses are sent or obeyed"


def _sentences(plan: Plan, found: Iterable[_Shortfall]) -> Iterator[str]:
    """Yield a sentence for the numbers of a port, the ports of a node, and the nodes of which the same holds."""
    numbers: dict[_Shortfall, list[int]] = {}
    for each in found:
        numbers.setdefault(each._replace(number=None), []).extend([] if each.number is None else [each.number])
    ports: dict[tuple[str, str, str, str], list[str]] = {}
    for each, of_port in numbers.items():
        ports.setdefault((each.node, _part(each.part, of_port), each.what, each.instead), []).append(each.port)
    nodes: dict[tuple[str, str, str, str], list[str]] = {}
    for (node, part, what, instead), of_node in ports.items():
        nodes.setdefault((_ports(plan.node(node), of_node), part, what, instead), []).append(node)
    for (place, part, what, instead), of_all in nodes.items():
        yield f"{_named(of_all)}{place}{part}: {what}; instead: {instead}"


def _part(part: str, numbers: Sequence[int]) -> str:
    if not part:
        return ""
    runs = [list(run) for _, run in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])]
    texts = [f"{run[0][1]}" if len(run) == 1 else f"{run[0][1]}-{run[-1][1]}" for run in runs]
    return f", {part}{'' if len(numbers) == 1 else 's'} {', '.join(texts)}"


def _ports(node: Node, ports: Sequence[str]) -> str:
    if not any(ports):
        return ""
    if len(ports) == 1:
        return f", port {ports[0]}"
    return ", all ports" if len(ports) == len(node.ports) else f", ports {', '.join(ports)}"


def _named(nodes: Sequence[str]) -> str:
    most = ", ".join(nodes[:_MOST_NAMED])
    return most if len(nodes) <= _MOST_NAMED else f"{most} and {len(nodes) - _MOST_NAMED} more"


def _alpha(log: int) -> str:
    return f"{1 << log}" if log >= 0 else f"1/{1 << -log}"


def _size(size_bytes: int) -> str:
    return format_size(size_bytes, _DIGITS)


def _rate(rate_bps: int) -> str:
    return format_rate(rate_bps, _DIGITS)
