"""Egress queues of a switch's port: account, scheduler, WRED, phantom queue, congestion point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

from fabriclab.formats.plan.switch import Account, CongestionPoint, Phantom, Scheduler, SwitchQueue, Wred
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written, value_or
from fabriclab.lab.switch import queue_keys as keys
from fabriclab.lab.switch.trimming import trims_of
from fabriclab.lab.switch.written import (
    Threshold,
    WrittenCongestionPoint,
    WrittenPhantom,
    WrittenQueue,
    WrittenSwitch,
    WrittenWred,
)
from fabriclab.resolve.switch.accounts import ALPHA_LOG, AccountResolver
from fabriclab.resolve.switch.headroom import Line
from fabriclab.resolve.switch.scale import Scale
from fabriclab.resolve.switch.sharing import resolve_sharing

_PPM = 1_000_000
_NS_BITS = 8 * 10**9


class QueueResolver:
    """Resolves the queues of one switch."""

    def __init__(
        self, written: WrittenSwitch, scale: Scale, accounts: Mapping[int, Account], problems: Problems
    ) -> None:
        """`accounts` are those of the queues that frames can get to, where nothing is written."""
        self._written = written
        self._scale = scale
        self._accounts = accounts
        self._problems = problems
        kinds = {queue.scheduler.value for queue in written.buffer.queues.values() if queue.scheduler is not None}
        self._scheduler = "wrr" if "wrr" in kinds else "dwrr"

    def resolve(self, line: Line) -> tuple[SwitchQueue, ...]:
        """Return the queues that are written or that frames can get to, by number, at a port's line."""
        indices = sorted({*self._written.buffer.queues, *self._accounts, *self._of_trimmed()})
        return tuple(
            self._queue(index, self._written.buffer.queues.get(index, WrittenQueue()), line) for index in indices
        )

    def _of_trimmed(self) -> tuple[int, ...]:
        """Return the queue of trimmed packets, which has a limit even if no DSCP leads to it."""
        trimming = self._written.buffer.trimming
        number = None if trimming is None or trimming.queue is None else trimming.queue.value
        return () if number is None else (number,)

    def _queue(self, index: int, written: WrittenQueue, line: Line) -> SwitchQueue:
        cell_bytes = self._written.buffer.cell.value if self._written.buffer.cell is not None else 1
        first_pool = next(iter(self._written.buffer.pools), None)
        default = self._accounts.get(index, Account(pool=first_pool, alpha_log=ALPHA_LOG))
        accounts = AccountResolver(self._scale, cell_bytes, self._written, self._problems)
        account, sharing = resolve_sharing(written, accounts.resolve("queue", index, written.account, line, default))
        return SwitchQueue(
            index=index,
            account=account,
            scheduler=self._resolve_scheduler(index, written, line),
            wred=None if written.wred is None or written.wred.is_none else self._wred(index, written.wred, line),
            phantom=None
            if written.phantom is None or written.phantom.is_none
            else self._phantom(index, written.phantom, line),
            qcn=_congestion_point(written.qcn),
            sharing=sharing,
            voq_limit_bytes=self._voq_limit(index, written.voq_limit, line),
            event_bytes=self._optional(index, "event", written.event, line),
            trims=trims_of(written),
        )

    def _resolve_scheduler(self, index: int, written: WrittenQueue, line: Line) -> Scheduler:
        rate_bps = line.out_rate_bps

        def rate(field: str, value: Written[int] | None) -> int:
            return 0 if value is None else self._scale.port_rate_bps("queue", index, field, value, rate_bps)

        def burst(field: str, value: Written[int] | None) -> int:
            return 0 if value is None else self._scale.port_bytes("queue", index, field, value, rate_bps)

        return Scheduler(
            kind=cast(Literal["strict", "dwrr", "wrr"], value_or(written.scheduler, self._scheduler)),
            weight=value_or(written.weight, 1),
            cir_bps=rate("cir", written.cir),
            cbs_bytes=burst("cbs", written.cbs),
            pir_bps=rate("pir", written.pir),
            pbs_bytes=burst("pbs", written.pbs),
        )

    def _wred(self, index: int, written: WrittenWred, line: Line) -> Wred:
        low, high = written.min or written.max, written.max or written.min
        if low is None or high is None:
            raise AssertionError(
                f"{self._written.key}: WRED of queue {index} without min, which reading the lab refuses"
            )
        return Wred(
            unit=low.value.unit,
            min=self._threshold(index, "wred.min", low, line),
            max=self._threshold(index, "wred.max", high, line),
            probability_ppm=keys.WRED_PROBABILITY.or_default(written.probability_ppm),
            weight_log=keys.WRED_WEIGHT.or_default(written.weight_log),
            ecn=keys.WRED_ECN.or_default(written.ecn),
            non_ect=cast(Literal["drop", "queue"], keys.WRED_NON_ECT.or_default(written.non_ect)),
        )

    def _threshold(self, index: int, field: str, written: Written[Threshold], line: Line) -> int:
        """Return a threshold; a length of a profile is scaled, not below a frame,
        where every queue of one frame would be above."""
        if written.value.unit == "ns":
            return written.value.value
        value = Written(written.value.value, written.key, written.text, written.place)
        return self._scale.port_bytes("queue", index, field, value, line.out_rate_bps, line.frame_bytes)

    def _phantom(self, index: int, written: WrittenPhantom, line: Line) -> Phantom:
        if written.threshold is None:
            raise AssertionError(
                f"{self._written.key}: a phantom queue {index} without threshold, which reading the lab refuses"
            )
        rate_bps = line.out_rate_bps * keys.PHANTOM_RATE.or_default(written.rate_ppm) // _PPM
        threshold = self._scale.port_bytes("queue", index, "phantom.threshold", written.threshold, line.out_rate_bps)
        return Phantom(rate_bps=rate_bps, threshold_bytes=threshold)

    def _voq_limit(self, index: int, written: Written[Threshold | None] | None, line: Line) -> int | None:
        if written is None or written.value is None:
            return None
        value = written.value.value
        if written.value.unit == "ns":
            return max(line.frame_bytes, value * line.out_rate_bps // _NS_BITS)
        size = Written(value, written.key, written.text, written.place)
        return self._scale.port_bytes("queue", index, "voq_limit", size, line.out_rate_bps, line.frame_bytes)

    def _optional(self, index: int, field: str, written: Written[int | None] | None, line: Line) -> int | None:
        if written is None or written.value is None:
            return None
        value = Written(written.value, written.key, written.text, written.place)
        return self._scale.port_bytes("queue", index, field, value, line.out_rate_bps)


def _congestion_point(written: WrittenCongestionPoint | None) -> CongestionPoint | None:
    if written is None or written.is_none:
        return None
    return CongestionPoint(
        set_point_bytes=keys.QCN_SET_POINT.or_default(written.set_point),
        sample_bytes=keys.QCN_SAMPLE.or_default(written.sample),
        weight=keys.QCN_WEIGHT.or_default(written.weight),
    )
