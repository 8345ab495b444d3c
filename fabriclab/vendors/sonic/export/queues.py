"""SCHEDULER, WRED_PROFILE, QUEUE."""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.formats.plan.switch import Scheduler, SwitchPort, SwitchQueue, Wred
from fabriclab.units import format_percent, format_rate
from fabriclab.vendors.sonic.export.tables import Names, Tables, index_keys

COLOURS = ("green", "yellow", "red")
_WHOLE_PERCENT_PPM = 10_000
_LARGEST_BURST = 2**32 - 1


def write_queues(ports: Mapping[str, SwitchPort], tables: Tables) -> None:
    """Write the three tables; `ports` have SONiC's names."""
    schedulers: Names[Scheduler] = Names()
    wreds: Names[Wred] = Names()
    for port_name, port in ports.items():
        used: dict[tuple[str, str | None], list[int]] = {}
        for queue in port.queues:
            scheduler, is_new = schedulers.of(queue.scheduler, f"scheduler.{len(tables.tables.get('SCHEDULER', {}))}")
            if is_new:
                tables.put("SCHEDULER", scheduler, _scheduler_fields(queue.scheduler, f"queue {queue.index}", tables))
            wred = _wred_name(queue, wreds, tables)
            used.setdefault((scheduler, wred), []).append(queue.index)
            _leave_unsaid(queue, tables)
        for (scheduler, wred), numbers in used.items():
            for key in index_keys(numbers):
                tables.put(
                    "QUEUE",
                    f"{port_name}|{key}",
                    {"scheduler": scheduler, **({} if wred is None else {"wred_profile": wred})},
                )


def _scheduler_fields(scheduler: Scheduler, subject: str, tables: Tables) -> dict[str, str]:
    fields = {"type": scheduler.kind.upper()}
    if scheduler.kind != "strict":
        fields["weight"] = str(scheduler.weight)
    if scheduler.pir_bps and not scheduler.cir_bps:
        tables.leave_unsaid(
            subject, f"pir {format_rate(scheduler.pir_bps)} without cir, which SONiC's YANG models refuse"
        )
        return fields
    for name, rate_bps in (("cir", scheduler.cir_bps), ("pir", scheduler.pir_bps)):
        if rate_bps:
            if rate_bps % 8:
                tables.leave_unsaid(
                    subject, f"{name} {format_rate(rate_bps)} is not a whole number of bytes a second; rounded down"
                )
            fields[name] = str(rate_bps // 8)
    if scheduler.cir_bps and scheduler.cbs_bytes:
        fields["cbs"] = str(min(scheduler.cbs_bytes, _LARGEST_BURST))
    if scheduler.pir_bps and scheduler.pbs_bytes:
        if scheduler.pbs_bytes < scheduler.cbs_bytes:
            tables.leave_unsaid(subject, "pbs below cbs, which SONiC's YANG models refuse")
        else:
            fields["pbs"] = str(min(scheduler.pbs_bytes, _LARGEST_BURST))
    return {**fields, "meter_type": "bytes"} if "cir" in fields else fields


def _wred_name(queue: SwitchQueue, names: Names[Wred], tables: Tables) -> str | None:
    """Return the name of a queue's WRED profile, written if it is new; None without one,
    or where CONFIG_DB has no words for it."""
    wred = queue.wred
    if wred is None:
        return None
    if wred.unit == "ns":
        tables.leave_unsaid(f"queue {queue.index}", "WRED by delay; SONiC's thresholds are in bytes")
        return None
    name, is_new = names.of(wred, "WRED")
    if is_new:
        tables.put("WRED_PROFILE", name, _wred_fields(wred, name, tables))
    return name


def _wred_fields(wred: Wred, name: str, tables: Tables) -> dict[str, str]:
    percent = (wred.probability_ppm + _WHOLE_PERCENT_PPM // 2) // _WHOLE_PERCENT_PPM
    if percent * _WHOLE_PERCENT_PPM != wred.probability_ppm:
        tables.leave_unsaid(
            name,
            f"probability {format_percent(wred.probability_ppm)}: SONiC takes only whole per cent; written as "
            f"{percent}",
        )
    if wred.weight_log:
        tables.leave_unsaid(name, f"weight {wred.weight_log} of the average queue: the platform uses its own")
    if wred.non_ect == "queue":
        tables.leave_unsaid(name, "non_ect: queue: above the threshold SONiC drops packets that it cannot mark")
    fields = {"ecn": "ecn_all" if wred.ecn else "ecn_none"}
    for colour in COLOURS:
        fields[f"wred_{colour}_enable"] = "true"
        fields[f"{colour}_min_threshold"], fields[f"{colour}_max_threshold"] = str(wred.min), str(wred.max)
        fields[f"{colour}_drop_probability"] = str(percent)
    return fields


def _leave_unsaid(queue: SwitchQueue, tables: Tables) -> None:
    for value, what in (
        (queue.phantom, "a phantom queue"),
        (queue.qcn, "a congestion point of QCN"),
        (queue.sharing, "a sharing policy: queues keep their dynamic thresholds"),
        (queue.voq_limit_bytes, "a limit per ingress port"),
        (queue.event_bytes, "the length at which a congestion event begins"),
    ):
        if value is not None:
            tables.leave_unsaid(f"queue {queue.index}", what)
