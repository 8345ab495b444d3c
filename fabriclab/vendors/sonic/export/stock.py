"""A switch with a buffer for each port, in the words of a shared one: what CONFIG_DB can say of it.

One queue a port, whatever the DSCP, with a static limit; the pool is as large as all of them, so that it never decides.
"""

from __future__ import annotations

from fabriclab.formats.classes import QUEUES
from fabriclab.formats.plan.node import Node, Port, Queue
from fabriclab.formats.plan.switch import (
    CODEPOINTS,
    Account,
    Pool,
    QosMaps,
    Scheduler,
    Switch,
    SwitchPort,
    SwitchQueue,
    Wred,
)
from fabriclab.vendors.sonic.export.tables import Tables

POOL = "buffer"
_ONE_QUEUE = QosMaps(dscp_to_tc=(0,) * CODEPOINTS, tc_to_queue=(0,) * QUEUES, tc_to_group=(0,) * QUEUES)


def shared_buffer(node: Node, tables: Tables) -> tuple[Switch, dict[str, SwitchPort]]:
    """Return the switch and its ports by interface; those with a buffer of their own in these words."""
    ports = {port.interface: port.switch_port or _stock_port(port, tables) for port in node.ports}
    if node.switch is not None:
        return node.switch, ports
    size = sum(port.queue.limit_bytes for port in node.ports if port.queue is not None)
    tables.leave_unsaid("buffers of ports", "each becomes a limit of queue 0, in one pool for all ports")
    return Switch(profile="", pools=(Pool(name=POOL, size_bytes=size),)), ports


def _stock_port(port: Port, tables: Tables) -> SwitchPort:
    queue = port.queue
    if queue is None:
        raise AssertionError(f"{port.interface} has neither a queue nor a switch port, which a plan refuses")
    if queue.aqm is not None:
        tables.leave_unsaid(port.interface, f"CONFIG_DB has no field for {queue.aqm.kind}; the port becomes drop-tail")
    account = Account(pool=POOL, limit_bytes=queue.limit_bytes)
    only = SwitchQueue(index=0, account=account, scheduler=Scheduler(kind="dwrr", weight=1), wred=_wred(queue))
    return SwitchPort(queues=(only,), maps=_ONE_QUEUE)


def _wred(queue: Queue) -> Wred | None:
    threshold = queue.ecn_threshold_bytes
    return None if threshold is None else Wred(min=threshold, max=threshold, non_ect=queue.non_ect)
