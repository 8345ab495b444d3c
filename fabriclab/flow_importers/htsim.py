"""Connection matrices of htsim: `Nodes N`, `Connections M`, then a line `src->dst id K start PICOSECONDS size BYTES`
for each connection.

Source: Broadcom/csg-htsim, sim/datacenter/connection_matrix.cpp (`ConnectionMatrix::load`). Triggers, which start a
connection when another one ends, and failures of links are refused: a trace says the first by `group` and `after`, a
lab the second by events. `id` and `prio` have no counterpart.
"""

from __future__ import annotations

import re
from decimal import Decimal

from fabriclab.flow_importers.flow import LARGEST_BYTES, MOST_NODES, ForeignFlow, nanoseconds, whole
from fabriclab.workload.trace_problems import TraceProblems, shown

_NS_PER_PS = Decimal("0.001")
_ENDS = re.compile(r"([0-9]{1,9})->([0-9]{1,9})", re.ASCII)
_HEADERS = ("Nodes", "Connections", "Triggers", "Failures")
_OF_TRIGGERS = ("trigger", "send_done_trigger", "recv_done_trigger", "addon")
_FORM = "a connection is `src->dst id K start PICOSECONDS size BYTES`"


def read(text: str, file: str, problems: TraceProblems) -> list[ForeignFlow]:
    """Return the connections in the file's order; what is wrong is recorded."""
    header: dict[str, tuple[int, int]] = {}
    flows: list[ForeignFlow] = []
    connections = 0
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] in _HEADERS:
            _read_header(number, words, header, file, problems)
        elif words[0] in ("trigger", "failure"):
            problems.add(file, number, _refused(words[0]))
        else:
            connections += 1
            flow = _connection(number, words, file, problems)
            flows += [] if flow is None else [flow]
    _check_header(header, connections, flows, file, problems)
    return flows


def _refused(word: str) -> str:
    if word == "failure":
        return "failures of links can't be in a trace; write them as events of the lab"
    return (
        f"{word}: triggers can't be converted; give the connection a start, or write a trace whose `after` names a "
        "`group`"
    )


def _read_header(
    number: int, words: list[str], header: dict[str, tuple[int, int]], file: str, problems: TraceProblems
) -> None:
    value = whole(words[1], 10**8) if len(words) == 2 else None
    if value is None:
        problems.add(file, number, f"{shown(' '.join(words))}: {words[0]} must be followed by a whole number")
        return
    header[words[0]] = (number, value)


def _check_header(
    header: dict[str, tuple[int, int]], connections: int, flows: list[ForeignFlow], file: str, problems: TraceProblems
) -> None:
    for name in ("Nodes", "Connections"):
        if name not in header:
            problems.add(file, 1, f"the header has no line `{name} N`")
    line, announced = header.get("Connections", (1, connections))
    if announced != connections:
        problems.add(file, line, f"{announced} connections are announced, but the file has {connections}")
    nodes = header.get("Nodes", (1, MOST_NODES))[1]
    for flow in flows:
        if max(flow.src, flow.dst) >= nodes:
            problems.add(
                file,
                flow.line,
                f"node {max(flow.src, flow.dst)} is not one of the {nodes} nodes, which are 0 to {nodes - 1}",
            )


def _connection(number: int, words: list[str], file: str, problems: TraceProblems) -> ForeignFlow | None:
    ends = _ENDS.fullmatch(words[0])
    if ends is None:
        problems.add(file, number, f"{shown(' '.join(words))}: {_FORM}")
        return None
    triggers = [word for word in words if word in _OF_TRIGGERS]
    if triggers:
        problems.add(file, number, _refused(triggers[0]))
        return None
    values = dict(zip(words[1::2], words[2::2], strict=False))
    unknown = [word for word in values if word not in ("id", "start", "size", "prio")]
    if len(words) % 2 == 0 or unknown or "start" not in values or "size" not in values:
        problems.add(file, number, f"{shown(' '.join(words))}: {_FORM}")
        return None
    size, start = whole(values["size"], LARGEST_BYTES), nanoseconds(values["start"], _NS_PER_PS)
    if size is None:
        problems.add(file, number, f"size: {shown(values['size'])} must be a whole number of bytes")
    if start is None:
        problems.add(file, number, f"start: {shown(values['start'])} must be a number of picoseconds, zero or more")
    return None if size is None or start is None else ForeignFlow(number, int(ends[1]), int(ends[2]), size, start)
