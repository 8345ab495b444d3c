"""What will happen to traffic over RoCE that was probably not meant: a sentence for each kind of place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriclab.formats.plan.node import Node, Port
from fabriclab.formats.plan.roce import Roce
from fabriclab.formats.plan.switch import SwitchPort
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.keys.wording import listed
from fabriclab.resolve.switch.checks import marks

_MOST_NAMED = 6


def roce_warnings(nodes: Sequence[Node], traffic: Sequence[Traffic]) -> tuple[str, ...]:
    """Return a sentence for each thing that keeps RoCE's packets from what they need: a class that loses nothing, marks
    for DCQCN, a class apart for notifications, and no other traffic in their queue."""
    over = [each for each in traffic if each.carried_by.transport == "roce"]
    if not over:
        return ()
    hosts = frozenset(node.name for node in nodes if node.role == "host")
    ends = frozenset(host for each in over for host in each.sending(hosts) | each.receiving())
    nics: dict[Roce, list[Port]] = {}
    for node in nodes:
        for port in node.ports if node.name in ends else ():
            if port.nic is not None and port.nic.roce is not None:
                nics.setdefault(port.nic.roce, []).append(port)
    switches = [node for node in nodes if node.role == "switch"]
    beside = [each for each in traffic if each.carried_by.transport != "roce"]
    return tuple(
        sentence
        for roce, ports in nics.items()
        for sentence in (*_of_nic(roce, switches), *_of_telemetry(roce, switches), *_of_others(roce, ports, beside))
    )


def _of_nic(roce: Roce, switches: Sequence[Node]) -> Iterator[str]:
    lossy = [node.name for node in switches if any(_is_lossy(port, roce.dscp) for port in node.ports)]
    if lossy and not roce.selective:
        yield (
            f"RoCE with DSCP {roce.dscp} is in a class that loses packets at {_names(lossy)}: a queue pair sends all "
            "again from a lost packet on (go-back-N); write priority_groups with lossless: true and pfc for its class"
        )
    unmarked = [node.name for node in switches if any(_marks_nothing(port, roce.dscp) for port in node.ports)]
    by_marks = roce.control is not None and roce.control.name == "dcqcn"
    if unmarked and by_marks:
        yield (
            f"RoCE with DSCP {roce.dscp} gets no marks at {_names(unmarked)}, so DCQCN never lowers a rate; write an "
            "ecn_threshold, or wred with ecn for its queue"
        )
    behind = [node.name for node in switches if any(_shares_queue(port, roce) for port in node.ports)]
    if behind and by_marks:
        yield (
            f"notifications (CNPs, DSCP {roce.cnp_dscp}) wait behind the data of RoCE (DSCP {roce.dscp}) at "
            f"{_names(behind)}, where both are in one queue; write another cnp_dscp, or other classes"
        )


def _of_telemetry(roce: Roce, switches: Sequence[Node]) -> Iterator[str]:
    """Yield what is said of switches that tell a NIC nothing of themselves."""
    silent = [node.name for node in switches if any(not _tells(port) for port in node.ports)]
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


def _names(names: Sequence[str]) -> str:
    return listed(names) if len(names) <= _MOST_NAMED else f"{len(names)} switches ({names[0]} to {names[-1]})"
