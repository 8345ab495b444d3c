"""Flow files of HPCC's ns-3 simulations: the number of flows, then a line `src dst priority port size start` for each.

Source: alibaba-edu/High-Precision-Congestion-Control, traffic_gen/traffic_gen.py (writes them: size in bytes, start in
seconds) and simulation/mix/flow.txt (an example that explains itself below its last flow, where nobody reads on).
Priority group and port have no counterpart in a trace.
"""

from __future__ import annotations

from decimal import Decimal

from fabriclab.flow_importers.flow import LARGEST_BYTES, MOST_NODES, ForeignFlow, nanoseconds, whole
from fabriclab.workload.trace_problems import TraceProblems, shown

_NS_PER_S = Decimal(10**9)
_MOST_FLOWS = 10**8


def read(text: str, file: str, problems: TraceProblems) -> list[ForeignFlow]:
    """Return the flows in the file's order; what is wrong is recorded."""
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    count = whole(lines[0][1][0], _MOST_FLOWS) if lines and len(lines[0][1]) == 1 else None
    if count is None:
        first = " ".join(lines[0][1]) if lines else ""
        problems.add(file, lines[0][0] if lines else 1, f"{shown(first)}: the first line must be the number of flows")
        return []
    rows = lines[1 : count + 1]
    if len(rows) < count:
        problems.add(file, lines[0][0], f"{count} flows are announced, but the file has {len(rows)}")
    flows = [_flow(number, words, file, problems) for number, words in rows]
    return [flow for flow in flows if flow is not None]


def _flow(line: int, words: list[str], file: str, problems: TraceProblems) -> ForeignFlow | None:
    if len(words) != 6:
        problems.add(
            file, line, f"{shown(' '.join(words))}: {len(words)} values; a flow is `src dst priority port size start`"
        )
        return None
    src, dst = whole(words[0], MOST_NODES), whole(words[1], MOST_NODES)
    size, start = whole(words[4], LARGEST_BYTES), nanoseconds(words[5], _NS_PER_S)
    for value, word, what in ((src, words[0], "src"), (dst, words[1], "dst")):
        if value is None:
            problems.add(file, line, f"{what}: {shown(word)} must be a node's number, 0 to {MOST_NODES}")
    if size is None:
        problems.add(file, line, f"size: {shown(words[4])} must be a whole number of bytes")
    if start is None:
        problems.add(file, line, f"start: {shown(words[5])} must be a number of seconds, zero or more")
    if src is None or dst is None or size is None or start is None:
        return None
    return ForeignFlow(line, src, dst, size, start)
