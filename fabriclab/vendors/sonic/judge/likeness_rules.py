"""Rules of what one port of many says otherwise than all others of its speed, and of numbers that lead nowhere."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from fabriclab.formats.classes import QUEUES
from fabriclab.formats.finding import Severity
from fabriclab.resolve.switch.checks import classes_in_use
from fabriclab.resolve.switch.findings import CheckedPort
from fabriclab.resolve.switch.notes import number_ranges
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.pfc_rules import lossless_queues
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries

LEAST_OTHERS = 4
"""So many ports say the same before the one that does not is told."""
_Said = Callable[[str, int], object]


def one_port_differs(bindings: Bindings, ports: tuple[CheckedPort, ...]) -> Iterator[SonicFinding]:
    """A port has the WRED profile, the scheduler and the buffer profile that all others of its speed have."""
    said: dict[tuple[str, str], _Said] = {
        ("QUEUE", "wred_profile"): lambda port, index: getattr(bindings.wred(port, index), "name", None),
        ("QUEUE", "scheduler"): lambda port, index: getattr(bindings.scheduler(port, index), "name", None),
        ("BUFFER_QUEUE", "profile"): lambda port, index: getattr(bindings.queue_profile(port, index), "name", None),
    }
    said["BUFFER_PG", "profile"] = lambda port, index: "one" if index in bindings.groups.get(port, {}) else None
    by_speed: dict[int | None, list[str]] = defaultdict(list)
    for port in ports:
        if bindings.config.ports[port.name].up:
            by_speed[bindings.config.ports[port.name].speed_mbps].append(port.name)
    for alike in by_speed.values():
        for (table, field), what in said.items():
            for index in range(QUEUES):
                yield from _odd(alike, table, field, index, what)


def _odd(ports: list[str], table: str, field: str, index: int, what: _Said) -> Iterator[SonicFinding]:
    values = {port: what(port, index) for port in ports}
    counts = Counter(values.values()).most_common()
    if len(counts) != 2 or counts[1][1] != 1 or counts[0][1] < LEAST_OTHERS:
        return
    usual, odd = counts[0][0], counts[1][0]
    port = next(port for port, value in values.items() if value == odd)
    bound = f"{usual or 'without one'} on the {counts[0][1]} other ports of its speed"
    fate = "this port marks, drops or shares differently from all others"
    value = f"queue {index}: {odd or f'no {field}'}"
    yield finding(
        "one-port-differs", (table, port, field), value, bound, fate, "write the same unless this is intended", (port,)
    )


def queues_without_profile(bindings: Bindings, ports: tuple[CheckedPort, ...]) -> Iterator[SonicFinding]:
    """A queue that frames get to has a buffer profile, where other queues of its port have."""
    for port in ports:
        bound_queues = bindings.buffers.get(port.name, {})
        used = {port.port.maps.tc_to_queue[tc] for tc in classes_in_use(port.port.maps)}
        bare = sorted(used - set(bound_queues))
        lossless = lossless_queues(port)
        others = number_ranges(bound_queues)
        if bound_queues and (dropped := [index for index in bare if index in lossless]):
            yield _bare(port.name, dropped, others, "error")
        if bound_queues and (lossy := [index for index in bare if index not in lossless]):
            yield _bare(port.name, lossy, others, "warning")


def _bare(port: str, indices: list[int], others: str, severity: Severity) -> SonicFinding:
    bound = f"without a BUFFER_QUEUE, although DSCPs are mapped to it; queues {others} have one"
    fate = "its limit is the chip's default, which may be 0"
    if severity == "error":
        fate = f"{fate}; the class is lossless, but frames that its group accepts are dropped here"
    value, remedy = f"queue {number_ranges(indices)}", "bind a profile, or correct the map"
    return finding("queue-without-profile", ("BUFFER_QUEUE",), value, bound, fate, remedy, (port,), severity)


def classes_that_lead_nowhere(bindings: Bindings) -> Iterator[SonicFinding]:
    """A class of DSCP_TO_TC_MAP stands in the maps to queues and groups."""
    for table, noun in (("TC_TO_QUEUE_MAP", "queue"), ("TC_TO_PRIORITY_GROUP_MAP", "priority group")):
        known = {tc for values in entries(bindings.config, table).values() for tc in values}
        for name, values in entries(bindings.config, "DSCP_TO_TC_MAP").items() if known else ():
            lost = {dscp: tc for dscp, tc in values.items() if isinstance(tc, str) and tc not in known}
            if lost:
                dscp, tc = next(iter(lost.items()))
                bound, fate = f"a class that no {table} has", f"its frames go to {noun} 0 (SAI's default)"
                path = ("DSCP_TO_TC_MAP", name, dscp)
                yield finding(
                    "class-leads-nowhere", path, tc, bound, fate, "add the class to that map, or write another class"
                )
