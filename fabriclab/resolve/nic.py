"""A host's NIC: what its port is then, and what stands in front of it."""

from __future__ import annotations

from fabriclab.formats.plan.node import Limiter, Nic, Pacer, Queue
from fabriclab.formats.plan.roce import Roce
from fabriclab.formats.plan.switch import Account, QosMaps, Scheduler, SwitchPort, SwitchQueue
from fabriclab.lab.hosts import keys
from fabriclab.lab.hosts.nic import WrittenLimiter, WrittenNic, WrittenPacer
from fabriclab.lab.reading.problems import Problems
from fabriclab.qdiscs.fq import Fq
from fabriclab.resolve.roce import resolve_roce
from fabriclab.resolve.switch.checks import queues_in_use

_ONE_QUEUE = QosMaps(tc_to_queue=(0,) * 8)
_NS_PER_US = 1_000


def resolve_nic(written: WrittenNic, queue: Queue) -> Nic:
    """Return the NIC of a host whose own queue is `queue`, every default explicit."""
    tso = keys.NIC_TSO.or_default(written.tso)
    tx_queues = keys.NIC_QUEUES.or_default(written.queues)
    if keys.NIC_PACING.or_default(written.pacing) == "fq" and queue.aqm is None:
        queue = queue.model_copy(update={"aqm": Fq()})
    has_front = queue.aqm is not None or tx_queues > 1 or written.ring is not None
    gro = keys.NIC_GRO.or_default(written.gro)
    delay = keys.NIC_INTERRUPT_DELAY.or_default(written.interrupt_delay) if gro else 0
    return Nic(
        queue=queue,
        tso_bytes=tso,
        gro=gro,
        interrupt_delay_us="adaptive" if delay == "adaptive" else delay // _NS_PER_US,
        receive_queues=keys.NIC_RECEIVE_QUEUES.or_default(written.receive_queues) if gro else 1,
        tx_queues=tx_queues,
        ring_bytes=keys.NIC_RING.or_default(written.ring) if has_front else None,
        pacer=_resolve_pacer(written.pacer),
        qcn=_resolve_limiter(written.qcn),
        roce=resolve_roce(written.roce),
    )


def _resolve_pacer(written: WrittenPacer | None) -> Pacer | None:
    if written is None or written.is_none:
        return None
    return Pacer(
        bucket_bytes=keys.PACER_BUCKET.or_default(written.bucket),
        interval_ns=keys.PACER_INTERVAL.or_default(written.interval),
        eta_ppm=keys.PACER_ETA.or_default(written.eta),
        beta=keys.PACER_BETA.or_default(written.beta),
        probability_ppm=keys.PACER_PROBABILITY.or_default(written.probability),
        idle_ns=keys.PACER_IDLE.or_default(written.idle),
    )


def _resolve_limiter(written: WrittenLimiter | None) -> Limiter | None:
    if written is None or written.is_none:
        return None
    return Limiter(
        least_bps=keys.QCN_LEAST.or_default(written.least),
        active_bps=keys.QCN_ACTIVE.or_default(written.active),
        hyper_bps=keys.QCN_HYPER.or_default(written.hyper),
        cycle_bytes=keys.QCN_CYCLE_BYTES.or_default(written.cycle_bytes),
        cycle_ns=keys.QCN_CYCLE_TIME.or_default(written.cycle_time),
    )


def port_of_nic(nic: Nic, facing: SwitchPort | None, written: WrittenNic, problems: Problems) -> SwitchPort:
    """Return the exact port below a NIC; `facing`: the port of a switch with a shared buffer that it leads to.

    With classes of their own (PFC) each class has its queue. What stands in front of a queue has the limit.
    """
    limit = nic.queue.limit_bytes if nic.ring_bytes is None else None
    if nic.roce is not None and (facing is None or (facing.pfc is None and len(queues_in_use(facing.maps)) == 1)):
        return _port_with_roce(nic, nic.roce, limit)
    if facing is not None and len(queues_in_use(facing.maps)) > 1:
        if nic.tx_queues > 1 and written.queues is not None:
            written.queues.complain(
                problems,
                "can't be set, because the host's NIC has the queues of its switch's traffic classes; remove the key",
            )
        return _port_facing(facing, limit)
    scheduler = Scheduler(kind="dwrr") if nic.tx_queues > 1 else Scheduler()
    account = Account(limit_bytes=limit)
    queues = tuple(SwitchQueue(index=index, account=account, scheduler=scheduler) for index in range(nic.tx_queues))
    pfc = None if facing is None or facing.pfc is None else facing.pfc.model_copy(update={"watchdog": None})
    return SwitchPort(queues=queues, maps=_ONE_QUEUE if facing is None else facing.maps, pfc=pfc)


def _port_with_roce(nic: Nic, roce: Roce, limit: int | None) -> SwitchPort:
    """Return the port of a NIC that sends RoCE to a switch without classes.

    RoCE's data have a queue behind those of TCP, as queue pairs have a hardware queue each, and its notifications
    another: they are served in turn.
    """
    data, notifications = nic.tx_queues, nic.tx_queues + 1
    classes = [0] * len(QosMaps().dscp_to_tc)
    classes[roce.dscp] = classes[roce.ack_dscp] = data
    classes[roce.cnp_dscp] = notifications
    account, scheduler = Account(limit_bytes=limit), Scheduler(kind="dwrr")
    queues = [SwitchQueue(index=index, account=account, scheduler=scheduler) for index in range(nic.tx_queues + 2)]
    to_queue = tuple(index if index in (data, notifications) else 0 for index in range(len(_ONE_QUEUE.tc_to_queue)))
    return SwitchPort(queues=tuple(queues), maps=QosMaps(dscp_to_tc=tuple(classes), tc_to_queue=to_queue))


def _port_facing(facing: SwitchPort, queue_bytes: int | None) -> SwitchPort:
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
