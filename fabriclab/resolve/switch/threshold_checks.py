"""Whether a queue can become as long as its WRED thresholds ask: with one busy port, and with all of them.

A frame must pass both sides: the queue's limit at the egress, and the limit of the priority group that it came in by. A
lossless group pauses its neighbour at its limit; DCTCP wants its marks before that (K < xoff).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from fabriclab.formats.classes import QUEUES
from fabriclab.formats.plan.switch import Account, PriorityGroup, Sharing, Switch, SwitchQueue, Wred
from fabriclab.resolve.switch.findings import CheckedPort, SwitchFinding, SwitchRule
from fabriclab.resolve.switch.memory import Memory, alpha, is_calculable
from fabriclab.resolve.switch.notes import size
from fabriclab.units import format_duration

_NS_BITS = 8 * 10**9


def wred_at_egress(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """The queue's own limit lets it reach `wred.min` and `wred.max`."""
    memory = Memory(switch, ports)
    for port in ports:
        for queue in port.port.queues:
            if queue.wred is not None:
                yield from _egress(queue, queue.wred, port, memory, len(ports))


def _egress(queue: SwitchQueue, wred: Wred, port: CheckedPort, memory: Memory, ports: int) -> Iterator[SwitchFinding]:
    path = ("queues", str(queue.index), "wred")
    if queue.sharing is not None and not is_calculable(queue.sharing):
        yield _not_judged(queue, queue.sharing, port)
        return
    low, high = (_in_bytes(value, wred, port) for value in (wred.min, wred.max))
    stops = _stops_at(low, queue.account, port, memory, ports, queue.sharing)
    alone = memory.holds_bytes(queue.account, 1, port.line.frame_bytes, queue.sharing)
    limit = _limit(queue.account, memory, queue.sharing)
    value = _shown(wred.min, wred)
    if stops == 1:
        is_certain = queue.account.alpha_log is None and wred.unit == "bytes"
        bound = f"not below {size(alone)}, the most that the queue ever holds ({limit})"
        fate = f"NO FRAME IS EVER {_act(wred).upper()}, because frames are dropped at the limit first"
        remedy = f"write less than {size(alone)}, or a higher limit"
        yield SwitchFinding(
            "wred-unreachable",
            "error" if is_certain else "warning",
            (*path, "min"),
            value,
            bound,
            fate,
            remedy,
            (port.name,),
        )
        return
    if stops is not None:
        least = memory.holds_bytes(queue.account, stops, port.line.frame_bytes, queue.sharing)
        bound = f"not below {size(least)}, the most that the queue holds with {stops} of {ports} ports busy ({limit})"
        fate = f"from then on no frame is {_act(wred)}, because frames are dropped first"
        yield SwitchFinding(
            "wred-unreachable-when-busy", "warning", (*path, "min"), value, bound, fate, ports=(port.name,)
        )
    if high > low and alone <= high:
        reached = wred.probability_ppm * (alone - low) / (high - low) / 10_000
        bound = f"not below {size(alone)}, the most that the queue ever holds ({limit})"
        fate = f"at most {reached:.3g} % of the frames are {_act(wred)} before frames are dropped at the limit"
        yield SwitchFinding(
            "wred-max-unreachable", "warning", (*path, "max"), _shown(wred.max, wred), bound, fate, ports=(port.name,)
        )


def _not_judged(queue: SwitchQueue, sharing: Sharing, port: CheckedPort) -> SwitchFinding:
    return SwitchFinding(
        "sharing-not-judged",
        "warning",
        ("queues", str(queue.index), "sharing"),
        sharing.policy,
        "a policy of your own, and how much a queue may hold by it is known only when it runs",
        f"nobody has judged whether a queue ever reaches wred.min, where frames begin to be {_act(queue.wred)}"
        if queue.wred is not None
        else "",
        ports=(port.name,),
    )


def wred_at_ingress(switch: Switch, ports: Sequence[CheckedPort]) -> Iterator[SwitchFinding]:
    """What comes in by one port is neither dropped nor paused before the queue that it goes to reaches `wred.min`."""
    memory = Memory(switch, ports)
    for port in ports:
        for queue in port.port.queues:
            if queue.wred is not None:
                for group in _groups_of(queue, port):
                    yield from _ingress(queue, queue.wred, group, port, memory, len(ports))


def _groups_of(queue: SwitchQueue, port: CheckedPort) -> list[PriorityGroup]:
    maps = port.port.maps
    indices = dict.fromkeys(maps.tc_to_group[tc] for tc in range(QUEUES) if maps.tc_to_queue[tc] == queue.index)
    return [group for index in indices if (group := port.group(index)) is not None]


def _ingress(
    queue: SwitchQueue, wred: Wred, group: PriorityGroup, port: CheckedPort, memory: Memory, ports: int
) -> Iterator[SwitchFinding]:
    threshold = _in_bytes(wred.min, wred, port)
    stops = _stops_at(threshold, group.account, port, memory, ports)
    at_egress = _stops_at(threshold, queue.account, port, memory, ports, queue.sharing)
    # Where the egress does not let it happen either, that is said already.
    if stops is None or (at_egress is not None and at_egress <= stops):
        return
    least = memory.holds_bytes(group.account, stops, port.line.frame_bytes)
    busy = "" if stops == 1 else f" with {stops} of {ports} ports busy"
    what = f"its priority group holds below its limit{busy} ({_limit(group.account, memory)})"
    rule: SwitchRule
    if group.lossless is not None:
        rule, fate = "wred-above-xoff", f"PFC pauses the sender before any frame is {_act(wred)}"
    else:
        rule, fate = (
            "wred-above-ingress-limit",
            f"frames from one port are dropped on arrival, before any is {_act(wred)}",
        )
    path = ("queues", str(queue.index), "wred", "min")
    bound = f"not below {size(least)}, the most that {what}"
    always = stops == 1
    yield SwitchFinding(rule, "warning", path, _shown(wred.min, wred), bound, fate, ports=(port.name,), always=always)


def _stops_at(
    threshold_bytes: int,
    account: Account,
    port: CheckedPort,
    memory: Memory,
    ports: int,
    sharing: Sharing | None = None,
) -> int | None:
    """Return the least number of busy accounts at which one holds no more than the threshold; None: they always do."""
    # The more are busy, the less each holds.
    at = bisect_left(
        range(1, ports + 1),
        True,
        key=lambda busy: memory.holds_bytes(account, busy, port.line.frame_bytes, sharing) <= threshold_bytes,
    )
    return at + 1 if at < ports else None


def _in_bytes(value: int, wred: Wred, port: CheckedPort) -> int:
    """Return a threshold in bytes; one by delay at the line's rate, which a queue that has the line to itself takes."""
    return value if wred.unit == "bytes" else value * port.line.out_rate_bps // _NS_BITS


def _shown(value: int, wred: Wred) -> str:
    return size(value) if wred.unit == "bytes" else format_duration(value)


def _act(wred: Wred) -> str:
    return "marked" if wred.ecn else "dropped early"


def _limit(account: Account, memory: Memory, sharing: Sharing | None = None) -> str:
    """Say where an account's limit comes from."""
    share = alpha(account)
    policy = "" if sharing is None else f" by {sharing.policy}"
    if account.pool is None:
        return f"limit {size(account.limit_bytes or 0)}"
    pool = f"pool {account.pool}, {size(memory.pools[account.pool].size_bytes)}"
    if share is not None:
        return f"alpha {share}{policy} of {pool}"
    return pool if account.limit_bytes is None else f"limit {size(account.limit_bytes)}, {pool}"


THRESHOLD_RULES = (wred_at_egress, wred_at_ingress)
