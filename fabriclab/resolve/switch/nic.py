"""A host's port that faces a switch with a shared buffer: a NIC that stops for the switch's pauses, class by class."""

from __future__ import annotations

from fabriclab.formats.plan.switch import Account, Scheduler, SwitchPort, SwitchQueue
from fabriclab.resolve.switch.checks import queues_in_use


def nic_port(facing: SwitchPort, queue_bytes: int | None) -> SwitchPort:
    """Return the host's end of a link whose other end is `facing`.

    It has the switch's maps and PFC, without the watchdog, which is a switch's. Each class has a queue of `queue_bytes`
    to itself (None: without a limit of its own), and all are served in turn (DWRR of equal weights), so that a class
    that is paused holds up no other. Without priority groups it pauses nobody.
    """
    account, scheduler = Account(limit_bytes=queue_bytes), Scheduler(kind="dwrr")
    queues = tuple(
        SwitchQueue(index=index, account=account, scheduler=scheduler) for index in queues_in_use(facing.maps)
    )
    pfc = None if facing.pfc is None else facing.pfc.model_copy(update={"watchdog": None})
    return SwitchPort(queues=queues, maps=facing.maps, pfc=pfc)
