"""What will happen to traffic over RoCE that was probably not meant: a sentence for each kind of place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product

from fabriclab.formats.plan.model import Event
from fabriclab.formats.plan.node import Node, Port
from fabriclab.formats.plan.roce import Roce
from fabriclab.formats.plan.switch import SwitchPort
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.formats.plan.turns import turns
from fabriclab.keys.wording import listed
from fabriclab.resolve.switch.checks import marks

_MOST_NAMED = 6


class _Paths:
    """The paths of RoCE's packets, computed when a port is in doubt."""

    def __init__(self, nodes: Sequence[Node], over: Sequence[Traffic], events: Sequence[Event] | None) -> None:
        self._nodes = nodes
        self._over = over
        self._events = events
        self.hosts = frozenset(node.name for node in nodes if node.role == "host")

    def switches(self, holds: Callable[[Port], bool]) -> list[str]:
        """Return the switches with a port on these paths for which something holds."""
        doubtful = {
            node.name: [port for port in node.ports if holds(port)] for node in self._nodes if node.role == "switch"
        }
        return [name for name, ports in doubtful.items() if any(self._is_on(name, port) for port in ports)]

    def _is_on(self, switch: str, port: Port) -> bool:
        return self._events is None or f"{switch}:{port.interface}" in self._ports

    @cached_property
    def _ports(self) -> frozenset[str]:
        ports = {node.name: node.ports for node in self._nodes if node.role == "host"}
        only = [ports[host][0] for host in self.ends if len(ports[host]) == 1]
        ends = {f"{port.peer_node}:{port.peer_interface}" for port in only}
        taken = turns(self._nodes, self._events or (), self._pairs(ports))
        return frozenset(ends).union(taken, *taken.values())

    @cached_property
    def ends(self) -> frozenset[str]:
        """The hosts that RoCE's packets begin or end at."""
        return frozenset(host for each in self._over for host in each.sending(self.hosts) | each.receiving())

    def _pairs(self, ports: Mapping[str, Sequence[Port]]) -> Iterator[tuple[str, str]]:
        """Yield who sends to whom, of all hosts behind a switch with no other link the first alone: beyond the switch
        they have the same paths."""
        first: dict[str, str] = {}
        alike = {
            host: first.setdefault(own[0].peer_node, host) if len(own) == 1 else host for host, own in ports.items()
        }
        for each in self._over:
            for _, senders, receivers in each.directions(self.hosts):
                yield from product({alike[host] for host in senders}, {alike[host] for host in receivers})


def roce_warnings(nodes: Sequence[Node], traffic: Sequence[Traffic], events: Sequence[Event] | None) -> tuple[str, ...]:
    """Return a sentence for each thing that keeps RoCE's packets from what they need: a class that loses nothing, marks
    for DCQCN, a class apart for notifications, and no other traffic in their queue.

    Only switches on shortest paths count, of the topology and of what the events leave of it; without `events`, all.
    """
    over = [each for each in traffic if each.carried_by.transport == "roce"]
    if not over:
        return ()
    paths = _Paths(nodes, over, events)
    nics: dict[Roce, list[Port]] = {}
    for node in nodes:
        for port in node.ports if node.name in paths.ends else ():
            if port.nic is not None and port.nic.roce is not None:
                nics.setdefault(port.nic.roce, []).append(port)
    beside = [each for each in traffic if each.carried_by.transport != "roce"]
    by_nic = (
        sentence
        for roce, ports in nics.items()
        for sentence in (
            *_of_nic(roce, paths),
            *_of_trimmed(roce, paths),
            *_of_telemetry(roce, paths),
            *_of_others(roce, ports, beside),
        )
    )
    return (*by_nic, *_of_one_end(nodes, over, paths.hosts))


def _of_nic(roce: Roce, paths: _Paths) -> Iterator[str]:
    lossy = paths.switches(lambda port: _is_lossy(port, roce.dscp))
    if lossy and not roce.selective:
        yield (
            f"RoCE with DSCP {roce.dscp} is in a class that loses packets at {_names(lossy)}: a queue pair sends all "
            "again from a lost packet on (go-back-N); write priority_groups with lossless: true and pfc for its class"
        )
    unmarked = paths.switches(lambda port: _marks_nothing(port, roce.dscp))
    by_marks = roce.control is not None and roce.control.name == "dcqcn"
    if unmarked and by_marks:
        yield (
            f"RoCE with DSCP {roce.dscp} gets no marks at {_names(unmarked)}, so DCQCN never lowers a rate; write an "
            "ecn_threshold, or wred with ecn for its queue"
        )
    behind = paths.switches(lambda port: _shares_queue(port, roce))
    if behind and by_marks:
        yield (
            f"notifications (CNPs, DSCP {roce.cnp_dscp}) wait behind the data of RoCE (DSCP {roce.dscp}) at "
            f"{_names(behind)}, where both are in one queue; write another cnp_dscp, or other classes"
        )


def _of_trimmed(roce: Roce, paths: _Paths) -> Iterator[str]:
    """Yield what is said of switches that trim a NIC's packets."""
    if not roce.knows_trimmed:
        trimming = paths.switches(lambda port: _trims(port, roce.dscp))
        if trimming:
            yield (
                f"RoCE with DSCP {roce.dscp} is trimmed at {_names(trimming)}, but the NIC does not know trimmed "
                "packets and drops them; write trimmed: nack in its roce"
            )
    elif not _has_credit(roce):
        starving = paths.switches(lambda port: _serves_trimmed_first(port, roce.dscp))
        if starving:
            yield (
                f"trimmed packets of RoCE with DSCP {roce.dscp} are sent before all data at {_names(starving)}, where "
                "their queue is strict: if many senders send again at once, no data is sent any more; write "
                "scheduler: dwrr and a weight for both queues, or congestion_control: credit for the NIC"
            )


def _of_one_end(nodes: Sequence[Node], over: Sequence[Traffic], hosts: frozenset[str]) -> Iterator[str]:
    """Yield what is said of traffic whose senders wait for credit that a receiver does not give."""
    giving = {
        node.name
        for node in nodes
        for port in node.ports
        if port.nic is not None and port.nic.roce is not None and _has_credit(port.nic.roce)
    }
    for each in over:
        silent = {
            host
            for _, senders, receivers in each.directions(hosts)
            if not giving.isdisjoint(senders)
            for host in set(receivers) - giving
        }
        if silent:
            yield (
                f"traffic.{each.name}: senders wait for credit (congestion_control: credit), but "
                f"{_names(sorted(silent), 'hosts')} give none, so each first window comes after a timeout; "
                "write congestion_control: credit for their NICs, too"
            )


def _of_telemetry(roce: Roce, paths: _Paths) -> Iterator[str]:
    """Yield what is said of switches that tell a NIC nothing of themselves."""
    silent = paths.switches(lambda port: not _tells(port))
    if silent and roce.sends_telemetry:
        yield (
            f"{_control(roce)} is told nothing by {_names(silent)}: only ports of switches with a profile, at a rate "
            "that Ethernet has, write telemetry; write profile for the switch, or another rate"
        )


def _of_others(roce: Roce, ports: Sequence[Port], traffic: Sequence[Traffic]) -> Iterator[str]:
    """Yield what is said of other traffic in RoCE's queue of these NICs: RoCE waits until that queue is empty."""
    buffers = [port.switch_port for port in ports if port.switch_port is not None]
    beside = [
        each
        for each in traffic
        if any(_queue(buffer, each.carried_by.dscp) == _queue(buffer, roce.dscp) for buffer in buffers)
    ]
    if beside:
        dscps = " and ".join(map(str, sorted({each.carried_by.dscp for each in beside})))
        yield (
            f"{listed([f'traffic.{each.name}' for each in beside])}: packets of TCP (DSCP {dscps}) are in the queue of "
            f"RoCE (DSCP {roce.dscp}) at the hosts' NICs, and RoCE waits until that queue is empty; write another "
            "dscp, or other classes"
        )


def _is_lossy(port: Port, dscp: int) -> bool:
    buffer = port.switch_port
    if buffer is None or buffer.pfc is None:
        return True
    index = buffer.maps.tc_to_group[buffer.maps.dscp_to_tc[dscp]]
    group = next((group for group in buffer.groups if group.index == index), None)
    pausing = any(buffer.maps.priority_to_group[priority] == index for priority in buffer.pfc.priorities)
    return group is None or group.lossless is None or not pausing


def _trims(port: Port, dscp: int) -> bool:
    buffer = port.switch_port
    if buffer is None or buffer.trimming is None:
        return False
    return any(queue.trims for queue in buffer.queues if queue.index == _queue(buffer, dscp))


def _has_credit(roce: Roce) -> bool:
    return roce.control is not None and roce.control.name == "credit"


def _serves_trimmed_first(port: Port, dscp: int) -> bool:
    buffer = port.switch_port
    if buffer is None or buffer.trimming is None or not _trims(port, dscp):
        return False
    trimmed = _queue(buffer, buffer.trimming.dscp) if buffer.trimming.queue is None else buffer.trimming.queue
    of = {queue.index: queue.scheduler for queue in buffer.queues}
    mine, data = of.get(trimmed), of.get(_queue(buffer, dscp))
    if mine is None or data is None or mine.kind != "strict" or mine.pir_bps or data.cir_bps:
        return False
    return data.kind != "strict" or trimmed > _queue(buffer, dscp)


def _marks_nothing(port: Port, dscp: int) -> bool:
    if port.queue is not None:
        return not port.queue.marks
    if port.switch_port is None:
        return True
    index = _queue(port.switch_port, dscp)
    queue = next((queue for queue in port.switch_port.queues if queue.index == index), None)
    return queue is None or not marks(queue)


def _tells(port: Port) -> bool:
    return port.switch_port is not None and port.switch_port.telemetry


def _control(roce: Roce) -> str:
    assert roce.control is not None, "it asks for telemetry"
    return {"hpcc": "HPCC"}.get(roce.control.name, roce.control.name)


def _shares_queue(port: Port, roce: Roce) -> bool:
    buffer = port.switch_port
    return buffer is None or _queue(buffer, roce.dscp) == _queue(buffer, roce.cnp_dscp)


def _queue(buffer: SwitchPort, dscp: int) -> int:
    return buffer.maps.tc_to_queue[buffer.maps.dscp_to_tc[dscp]]


def _names(names: Sequence[str], of: str = "switches") -> str:
    return listed(names) if len(names) <= _MOST_NAMED else f"{len(names)} {of} ({names[0]} to {names[-1]})"
