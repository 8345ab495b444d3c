"""A host's NIC: what its port is then, and what stands in front of it."""

from __future__ import annotations

from fabriclab.formats.plan.node import Limiter, Nic, Pacer, Queue
from fabriclab.formats.plan.switch import Account, QosMaps, Scheduler, SwitchPort, SwitchQueue
from fabriclab.lab.hosts.limiter import WrittenLimiter
from fabriclab.lab.hosts.nic import WrittenNic
from fabriclab.lab.hosts.pacer import WrittenPacer
from fabriclab.lab.reading import defaults
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import value_or
from fabriclab.qdiscs.fq import Fq
from fabriclab.resolve.switch.checks import queues_in_use
from fabriclab.resolve.switch.nic import nic_port

_ONE_QUEUE = QosMaps(tc_to_queue=(0,) * 8)
_NS_PER_US = 1_000


def resolve_nic(written: WrittenNic, queue: Queue) -> Nic:
    """Return the NIC of a host whose own queue is `queue`, every default explicit."""
    tso = defaults.TSO_BYTES if written.tso is None else written.tso.value
    tx_queues = value_or(written.queues, defaults.TX_QUEUES)
    if value_or(written.pacing, defaults.PACING) == "fq" and queue.aqm is None:
        queue = queue.model_copy(update={"aqm": Fq()})
    has_front = queue.aqm is not None or tx_queues > 1 or written.ring is not None
    return Nic(
        queue=queue,
        tso_bytes=tso,
        gro=value_or(written.gro, defaults.GRO),
        interrupt_delay_us=value_or(written.interrupt_delay, defaults.INTERRUPT_DELAY_NS) // _NS_PER_US,
        tx_queues=tx_queues,
        ring_bytes=value_or(written.ring, defaults.RING_BYTES) if has_front else None,
        pacer=_resolve_pacer(written.pacer),
        qcn=_resolve_limiter(written.qcn),
    )


def _resolve_pacer(written: WrittenPacer | None) -> Pacer | None:
    if written is None or written.is_none:
        return None
    return Pacer(
        bucket_bytes=value_or(written.bucket, defaults.PACER_BUCKET_BYTES),
        interval_ns=value_or(written.interval, defaults.PACER_INTERVAL_NS),
        eta_ppm=value_or(written.eta, defaults.PACER_ETA_PPM),
        beta=value_or(written.beta, defaults.PACER_BETA),
        probability_ppm=value_or(written.probability, defaults.PACER_PROBABILITY_PPM),
        idle_ns=value_or(written.idle, defaults.PACER_IDLE_NS),
    )


def _resolve_limiter(written: WrittenLimiter | None) -> Limiter | None:
    if written is None or written.is_none:
        return None
    return Limiter(
        least_bps=value_or(written.least, defaults.QCN_LEAST_BPS),
        active_bps=value_or(written.active, defaults.QCN_ACTIVE_BPS),
        hyper_bps=value_or(written.hyper, defaults.QCN_HYPER_BPS),
        cycle_bytes=value_or(written.cycle_bytes, defaults.QCN_CYCLE_BYTES),
        cycle_ns=value_or(written.cycle_time, defaults.QCN_CYCLE_NS),
    )


def port_of_nic(nic: Nic, facing: SwitchPort | None, written: WrittenNic, problems: Problems) -> SwitchPort:
    """Return the exact port below a NIC; `facing`: the port of a switch with a shared buffer that it leads to.

    With classes of their own (PFC) each class has its queue. What stands in front of a queue has the limit.
    """
    limit = nic.queue.limit_bytes if nic.ring_bytes is None else None
    if facing is not None and len(queues_in_use(facing.maps)) > 1:
        if nic.tx_queues > 1 and written.queues is not None:
            written.queues.complain(problems, "are those of the traffic classes of the switch that the host faces")
        return nic_port(facing, limit)
    scheduler = Scheduler(kind="dwrr") if nic.tx_queues > 1 else Scheduler()
    account = Account(limit_bytes=limit)
    queues = tuple(SwitchQueue(index=index, account=account, scheduler=scheduler) for index in range(nic.tx_queues))
    pfc = None if facing is None or facing.pfc is None else facing.pfc.model_copy(update={"watchdog": None})
    return SwitchPort(queues=queues, maps=_ONE_QUEUE if facing is None else facing.maps, pfc=pfc)
