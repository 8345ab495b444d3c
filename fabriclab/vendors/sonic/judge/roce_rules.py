"""Rules of RoCE fabrics: congestion notifications, ECN beside PFC, trimming. Each asks for a switch that is sound."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.resolve.switch.findings import CheckedPort
from fabriclab.resolve.switch.notes import number_ranges
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.pfc_rules import lossless_groups, lossless_queues
from fabriclab.vendors.sonic.judge.rules import finding

CNP = 48
"""The DSCP of congestion notifications where nobody wrote another one (NVIDIA's and Broadcom's NICs)."""


def notifications(bindings: Bindings, ports: tuple[CheckedPort, ...]) -> Iterator[SonicFinding]:
    """Congestion notifications do not wait behind the data that they are to slow down."""
    for port in ports:
        queue = _lossless_queue_of(port, CNP)
        if port.port.pfc is not None and queue is not None:
            fate = "they wait behind the data that they are to slow down, and PFC pauses them with it"
            remedy = "map DSCP 48 to a class of its own with a strict queue, such as 6"
            bound = f"in queue {queue}, which is lossless, although congestion notifications (CNP) have this DSCP"
            path = _dscp_path(bindings, port.name, CNP)
            yield finding("cnp-in-lossless-queue", path, f"DSCP {CNP}", bound, fate, remedy, (port.name,))


def pfc_alone(bindings: Bindings, ports: tuple[CheckedPort, ...]) -> Iterator[SonicFinding]:
    """Where lossless queues carry traffic, some queue marks it: PFC alone stops senders, and slows none down."""
    lossless = {port.name: sorted(lossless_queues(port)) for port in ports if port.port.pfc is not None}
    with_queues = {name: queues for name, queues in lossless.items() if queues}
    marking = (bindings.wred(name, queue) for name, queues in with_queues.items() for queue in queues)
    if not with_queues or any(profile is not None and (profile.marks or profile.enabled) for profile in marking):
        return  # a profile that does not mark is told by rules of WRED
    name, queues = next(iter(with_queues.items()))
    bound = f"without a WRED profile with ECN for any lossless queue ({number_ranges(queues)})"
    fate = "no sender slows down: pauses spread from switch to switch, and stop flows that meet no congestion"
    remedy = "bind a WRED_PROFILE with ecn_all in QUEUE"
    path = ("PORT_QOS_MAP", _holder(bindings, name), "pfc_enable")
    yield finding("pfc-without-ecn", path, None, bound, fate, remedy, tuple(with_queues))


def trimming(bindings: Bindings, ports: tuple[CheckedPort, ...]) -> Iterator[SonicFinding]:
    """Packets are trimmed in lossy queues, and leave by one: a lossless queue has room for what its group lets in."""
    config = bindings.config
    for port in ports:
        lossless = lossless_queues(port)
        yield from _trimmed_here(bindings, port, sorted(lossless))
        said = config.trimming
        if said is None or not any(profile.trims for profile in config.profiles.values()):
            continue
        dscp = said.dscp_of(port.name)
        queue = said.queue if said.queue is not None else None if dscp is None else _lossless_queue_of(port, dscp)
        if queue is not None and queue in lossless:
            name, value = ("queue_index", said.queue) if said.queue is not None else ("dscp_value", said.dscp)
            bound = f"queue {queue}, which is lossless, for trimmed packets"
            yield _into_lossless(("SWITCH_TRIMMING", "GLOBAL", name), value, bound, port.name)


def _trimmed_here(bindings: Bindings, port: CheckedPort, lossless: list[int]) -> Iterator[SonicFinding]:
    for queue in lossless:
        profile = bindings.queue_profile(port.name, queue)
        if profile is not None and profile.trims:
            path = ("BUFFER_PROFILE", profile.name, "packet_discard_action")
            yield _into_lossless(path, "trim", f"the action of queue {queue}, which is lossless", port.name)


def _into_lossless(path: tuple[str, ...], value: object, bound: str, port: str) -> SonicFinding:
    fate = "trimmed packets take the memory of frames that must not be lost, and PFC stops them"
    return finding("trimming-lossless", path, value, bound, fate, "write a lossy queue and class", (port,))


def _lossless_queue_of(port: CheckedPort, dscp: int) -> int | None:
    """Return the queue of a DSCP whose group is lossless; None: its group is lossy."""
    maps = port.port.maps
    tc = maps.dscp_to_tc[dscp]
    return maps.tc_to_queue[tc] if maps.tc_to_group[tc] in lossless_groups(port) else None


def _dscp_path(bindings: Bindings, port: str, dscp: int) -> tuple[str, ...]:
    holder = bindings.map_holder(port, "dscp_to_tc_map")
    return ("PORT_QOS_MAP", port) if holder is None else ("DSCP_TO_TC_MAP", holder.maps["dscp_to_tc_map"], str(dscp))


def _holder(bindings: Bindings, port: str) -> str:
    qos = bindings.qos(port)
    return port if qos is None else qos.name
