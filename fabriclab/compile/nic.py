"""A host's port as a NIC: the machine's qdisc `switch_port`, and in front of its queues what the host queues by."""

from __future__ import annotations

from fabriclab.compile.qdisc import buffer_words
from fabriclab.compile.switch_port import SWITCH_HANDLE, compile_switch_port
from fabriclab.formats.job import JobNic
from fabriclab.formats.plan.node import Nic, Node, Port
from fabriclab.formats.plan.switch import SwitchPort

FRONT_CLASS = 0x21
"""TC_SWITCH_FRONT_CLASS of the kernel's `uapi/switch_port.h`: the class of the place in front of queue 0."""


def compile_nic_port(node: Node, port: Port, buffer: SwitchPort, nic: Nic) -> list[str]:
    """Return the `tc -batch` lines of a NIC's port."""
    lines = [compile_switch_port(node, port, buffer)]
    if nic.ring_bytes is None:
        return lines
    device = f"qdisc add dev {port.interface}"
    return lines + [
        f"{device} parent {SWITCH_HANDLE}{FRONT_CLASS + queue.index:x} handle {FRONT_CLASS + queue.index:x}: "
        f"{buffer_words(nic.queue, port)}"
        for queue in buffer.queues
    ]


def front_handles(buffer: SwitchPort, nic: Nic) -> list[str] | None:
    """Return the handles of the qdiscs in front of a NIC that mark; None where there are none."""
    if nic.ring_bytes is None or nic.queue.aqm is None or not nic.queue.aqm.marks:
        return None
    return [f"{FRONT_CLASS + queue.index:x}:" for queue in buffer.queues]


def compile_job_nics(node: Node) -> list[JobNic]:
    """Return what PID 1 is told of a node's NICs."""
    return [
        JobNic(
            interface=port.interface,
            tso_bytes=port.nic.tso_bytes,
            gro=port.nic.gro,
            receive_queues=port.nic.receive_queues,
            interrupt_delay_us=port.nic.interrupt_delay_us,
        )
        for port in node.ports
        if port.nic is not None
    ]
