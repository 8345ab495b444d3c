"""What the values of a switch say together: what contradicts, or would do nothing, is recorded.

What needs rates or the topology (sums of reserved memory, headroom, thresholds that are out of reach) is checked with
the plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from fabriclab.keys.wording import did_you_mean, nearest, shown
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Written
from fabriclab.lab.switch.lossless import active_pfc, is_boundless, lossless_queues
from fabriclab.lab.switch.trimming import check_trimming
from fabriclab.lab.switch.written import (
    WrittenAccount,
    WrittenGroup,
    WrittenPhantom,
    WrittenQueue,
    WrittenSwitch,
    WrittenWred,
)

T = TypeVar("T")
U = TypeVar("U")
MOST_POOLS = 4
"""TC_SWITCH_POOLS of the kernel's `uapi/switch_port.h`."""


def check_switch(switch: WrittenSwitch, problems: Problems) -> None:
    """Record what is wrong with a switch that was read, before `finish`."""
    _check_pools(switch, problems)
    for one in (switch, *switch.variants.values()):
        _check_ports(one, problems)


def _check_ports(switch: WrittenSwitch, problems: Problems) -> None:
    """Record what is wrong with queues, groups and PFC of ports alike."""
    for account in _accounts(switch):
        _check_account(account, switch, problems)
    _check_bounds(switch, problems)
    for queue in switch.buffer.queues.values():
        _check_queue(queue, switch, problems)
    _check_schedulers(switch, problems)
    for group in switch.buffer.groups.values():
        _check_group(group, switch, problems)
    _check_pfc(switch, problems)
    check_trimming(switch, problems)


def _accounts(switch: WrittenSwitch) -> Iterator[WrittenAccount]:
    yield from (queue.account for queue in switch.buffer.queues.values())
    yield from (group.account for group in switch.buffer.groups.values())


def _add(switch: WrittenSwitch, problems: Problems, key: str, message: str) -> None:
    problems.add(switch.place, f"{switch.key}.{key}", message)


def _check_pools(switch: WrittenSwitch, problems: Problems) -> None:
    pools = switch.buffer.pools
    if len(pools) > MOST_POOLS:
        _add(switch, problems, "pools", f"{len(pools)} pools, {', '.join(pools)}; a switch has at most {MOST_POOLS}")
    # What names no pool is of the first one.
    accounts = [account for one in (switch, *switch.variants.values()) for account in _accounts(one)]
    used = {next(iter(pools), None), *(account.pool.value for account in accounts if account.pool is not None)}
    for name, pool in pools.items():
        near = nearest(name, [other for other in pools if other != name])
        hint = f" (did you mean {near!r}?)" if near else ""
        if pool.size is None:
            place = switch.place if pool.headroom is None else pool.headroom.place
            problems.add(place, f"{switch.key}.pools.{name}", f"the pool has no size; write size: 32 MB{hint}")
        elif name not in used and pool.size.place.file != switch.file:
            message = (
                f"no queue and no priority group uses pool {shown(name)}; write pool: {name} below one, or leave it "
                f"out{hint}"
            )
            pool.size.complain(problems, message)


def _check_account(account: WrittenAccount, switch: WrittenSwitch, problems: Problems) -> None:
    pool, pools = account.pool, switch.buffer.pools
    if pool is None:
        return
    if pool.value is not None and pool.value not in pools:
        pool.complain(problems, f"{shown(pool.value)} is not a pool; {did_you_mean(pool.value, (*pools, 'none'))}")
    if pool.value is None and account.alpha_log is not None:
        account.alpha_log.complain(
            problems, "a share of a pool's free memory, but pool is none; write limit, such as limit: 64 KB"
        )


def _check_bounds(switch: WrittenSwitch, problems: Problems) -> None:
    """Memory of its own is bounded, but for queues of lossless classes: what they take is decided
    when a frame comes in."""
    buffer, lossless = switch.buffer, lossless_queues(switch.buffer)
    queues = [queue.account for number, queue in buffer.queues.items() if number not in lossless]
    for account in (*queues, *(group.account for group in buffer.groups.values())):
        if account.pool is not None and is_boundless(account):
            account.pool.complain(problems, "memory of its own needs a limit; write limit, such as limit: 64 KB")


def _check_queue(queue: WrittenQueue, switch: WrittenSwitch, problems: Problems) -> None:
    if queue.weight is not None and queue.scheduler is not None and queue.scheduler.value == "strict":
        queue.weight.complain(problems, "a strict queue has no weight; write scheduler: dwrr (or wrr), or leave it out")
    if queue.cir is not None and queue.pir is not None and queue.pir.value < queue.cir.value:
        _complain_of_two(queue.cir, "cir", queue.pir, "pir", switch, problems)
    for burst, rate, name in ((queue.cbs, queue.cir, "cir"), (queue.pbs, queue.pir, "pir")):
        if burst is not None and rate is None:
            burst.complain(problems, f"the burst needs its rate; write {name}: 100 Mbps, too")
    _check_sharing(queue, switch, problems)
    if queue.wred is not None and not queue.wred.is_none:
        _check_wred(queue.wred, switch, problems)
    if queue.phantom is not None and not queue.phantom.is_none:
        _check_phantom(queue.phantom, problems)


def _check_sharing(queue: WrittenQueue, switch: WrittenSwitch, problems: Problems) -> None:
    how, pool, limit = queue.sharing, queue.account.pool, queue.account.limit
    if how is None or how.value in ("dynamic", ""):
        return
    if pool is not None and pool.value is None:
        _complain_of_either(pool, how, switch, problems, f"pool is none, but sharing is {how.text}; remove one of them")
    elif limit is not None and limit.value is not None:
        message = f"limit is {limit.text}, but sharing is {how.text}; remove one of them"
        _complain_of_either(limit, how, switch, problems, message)
    elif limit is not None and how.value != "complete":
        message = f"sharing is {how.text}, which needs an alpha; write alpha: 1, which replaces limit"
        _complain_of_either(limit, how, switch, problems, message)


def _complain_of_either(
    first: Written[T], second: Written[U], switch: WrittenSwitch, problems: Problems, message: str
) -> None:
    """Record what two values contradict, at the first one unless that is the profile's."""
    if first.place.file == switch.file:
        second.complain(problems, message)
    else:
        first.complain(problems, message)


def _check_wred(wred: WrittenWred, switch: WrittenSwitch, problems: Problems) -> None:
    least, most = wred.min, wred.max
    if least is None:
        anything = most or wred.probability_ppm or wred.weight_log or wred.ecn or wred.non_ect
        if anything is not None:
            anything.complain(
                problems, "WRED needs min; write where it begins, such as min: 30 KB (without max it is a step there)"
            )
        return
    if most is not None and most.value.unit != least.value.unit:
        most.complain(
            problems, f"{shown(most.text)} beside min {shown(least.text)}: both are sizes, or both are durations"
        )
    elif most is not None and most.value.value < least.value.value:
        _complain_of_two(least, "min", most, "max", switch, problems)
    elif (most or least).value.value == 0:
        (most or least).complain(
            problems, "would mark or drop every frame; write a threshold such as '30 KB', or wred: none"
        )
    keeps = wred.non_ect is not None and wred.non_ect.value == "queue"
    if wred.ecn is not None and not wred.ecn.value and keeps:
        wred.ecn.complain(
            problems, "nothing would be marked (ecn: false) and nothing dropped (non_ect: queue); write wred: none"
        )


def _complain_of_two(
    least: Written[T], its_name: str, most: Written[T], other_name: str, switch: WrittenSwitch, problems: Problems
) -> None:
    """Record that the greater of two values is the smaller one: at the experiment's where the
    other is the profile's."""
    if most.place.file == switch.file and least.place.file != switch.file:
        least.complain(problems, f"{shown(least.text)} is above {other_name}, {most.text} ({most.place})")
    else:
        most.complain(problems, f"{shown(most.text)} is below {its_name}, {least.text}")


def _check_phantom(phantom: WrittenPhantom, problems: Problems) -> None:
    if phantom.threshold is None and phantom.rate_ppm is not None:
        phantom.rate_ppm.complain(problems, "a phantom queue without threshold; write threshold: 3 KB")


def _check_schedulers(switch: WrittenSwitch, problems: Problems) -> None:
    weighted: dict[str, tuple[int, Written[str]]] = {}
    for number, queue in switch.buffer.queues.items():
        if queue.scheduler is not None and queue.scheduler.value != "strict":
            weighted.setdefault(queue.scheduler.value, (number, queue.scheduler))
    if len(weighted) > 1:
        (first, one), (second, other) = weighted["dwrr"], weighted["wrr"]
        message = (
            f"queue {first} is dwrr (bytes) and queue {second} wrr (frames); all queues of a port must use the same one"
        )
        max((one, other), key=lambda written: (written.place.file != switch.file, written.place.line or 0)).complain(
            problems, message
        )


def _check_group(group: WrittenGroup, switch: WrittenSwitch, problems: Problems) -> None:
    if group.lossless is None or not group.lossless.value:
        for name, written in (("headroom", group.headroom), ("xon", group.xon), ("xon_offset", group.xon_offset)):
            if written is not None:
                written.complain(problems, f"a lossy group has no {name}; write lossless: true, too")
        return
    if group.lossless.place.file != switch.file and active_pfc(switch.buffer.pfc) is None:
        group.lossless.complain(problems, "lossless, but nothing is paused; write pfc: {priorities: [3, 4]}, too")
    limit = group.account.limit
    if group.xon is None or limit is None or limit.value is None or group.xon.place.file != limit.place.file:
        return  # of two files, one of them scaled, the plan compares them
    if group.xon.value > limit.value:
        group.xon.complain(
            problems, f"{shown(group.xon.text)} is above the limit, {limit.text}, at which it pauses; write less"
        )


def _check_pfc(switch: WrittenSwitch, problems: Problems) -> None:
    pfc = switch.buffer.pfc
    if pfc is None or pfc.is_none:
        return
    if pfc.priorities is None:
        own = next(
            (one for one in (pfc.quanta, pfc.reaction) if one is not None and one.place.file != switch.file), None
        )
        if own is not None:
            own.complain(problems, "needs priorities; write priorities: [3, 4], too")
    watchdog = pfc.watchdog
    if watchdog is not None and not watchdog.is_none and watchdog.detection is None:
        one = watchdog.restoration or watchdog.action
        if one is not None:
            one.complain(
                problems,
                "the watchdog needs detection; write how long a queue is paused on end, such as detection: 200 ms",
            )
