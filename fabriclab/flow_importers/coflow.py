"""Coflow-Benchmark's traces: the numbers of ports and of coflows, then a line for each coflow.

`ID ARRIVAL_MS MAPPERS port ... REDUCERS port:MEGABYTES ...`; ports count from 0. A reducer's data come from all mappers
in equal parts. What a mapper has for a reducer of its own port never leaves that port and is not a flow. A coflow is a
group of the trace, so its completion is measured (`coflow_mean_ns`).

Source: coflow/coflow-benchmark, README.md, and FB2010-1Hr-150-0.txt, the one hour of Facebook's of M. Chowdhury, Y.
Zhong, I. Stoica, "Efficient Coflow Scheduling with Varys", SIGCOMM 2014.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from fabriclab.flow_importers.flow import LARGEST_BYTES, MOST_NODES, ForeignFlow, nanoseconds, whole
from fabriclab.workload.trace_problems import TraceProblems, shown

_NS_PER_MS = Decimal(10**6)
_BYTES_PER_MB = Decimal(10**6)
_FORM = "a coflow is `id arrival mappers port ... reducers port:megabytes ...`"


class _Coflow(NamedTuple):
    start_ns: int
    mappers: list[int]
    reducers: dict[int, int]
    """Bytes by port."""


def read(text: str, file: str, problems: TraceProblems) -> list[ForeignFlow]:
    """Return the flows coflow by coflow; what is wrong is recorded."""
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    number, head = lines[0] if lines else (1, [])
    counts = [whole(word, MOST_NODES) for word in head]
    if len(counts) != 2 or counts[0] is None or counts[1] is None:
        problems.add(file, number, f"{shown(' '.join(head))}: the first line must be the numbers of ports and coflows")
        return []
    ports, count = counts[0], counts[1]
    if len(lines) - 1 != count:
        problems.add(file, number, f"{count} coflows are announced, but the file has {len(lines) - 1}")
    flows: list[ForeignFlow] = []
    named: dict[str, int] = {}
    for line, words in lines[1:]:
        first = named.setdefault(words[0], line)
        if first != line:
            problems.add(file, line, f"coflow {shown(words[0])} is also in line {first}; give each a different number")
        coflow = _coflow(line, words, ports, file, problems)
        flows += [] if coflow is None else _flows(line, words[0], coflow)
    return flows


def _flows(line: int, name: str, coflow: _Coflow) -> Iterator[ForeignFlow]:
    for reducer, size_bytes in coflow.reducers.items():
        share, larger = divmod(size_bytes, len(coflow.mappers))
        for place, mapper in enumerate(coflow.mappers):
            if mapper != reducer:
                yield ForeignFlow(line, mapper, reducer, share + (place < larger), coflow.start_ns, name)


def _coflow(line: int, words: list[str], ports: int, file: str, problems: TraceProblems) -> _Coflow | None:
    """Return a line's coflow; None after recording what is wrong with it."""
    mappers = _counted(words, 2)
    reducers = _counted(words, 3 + len(mappers)) if mappers else None
    if not mappers or not reducers or len(words) != 4 + len(mappers) + len(reducers) or not words[0].isalnum():
        problems.add(file, line, f"{shown(' '.join(words))}: {_FORM}")
        return None
    before = problems.count
    start_ns = nanoseconds(words[1], _NS_PER_MS)
    if start_ns is None:
        problems.add(file, line, f"arrival: {shown(words[1])} must be a number of milliseconds, zero or more")
    sources = [_port(word, ports, line, file, problems) for word in mappers]
    sizes: dict[int, int] = {}
    for word in reducers:
        port, _, megabytes = word.partition(":")
        # As many decimals as a time may have, and as large: the rules are the same.
        size_bytes = nanoseconds(megabytes, _BYTES_PER_MB)
        if size_bytes is None or size_bytes >= LARGEST_BYTES:
            problems.add(file, line, f"{shown(word)} must be a port and megabytes, such as 140:48.0")
            continue
        reducer = _port(port, ports, line, file, problems)
        sizes[reducer] = sizes.get(reducer, 0) + size_bytes
    if start_ns is None or problems.count > before:
        return None
    return _Coflow(start_ns, sources, sizes)


def _counted(words: list[str], at: int) -> list[str] | None:
    """Return the words that follow their own number; None where they don't."""
    count = whole(words[at], MOST_NODES) if at < len(words) else None
    found = words[at + 1 : at + 1 + count] if count else []
    return found if count and len(found) == count else None


def _port(word: str, ports: int, line: int, file: str, problems: TraceProblems) -> int:
    port = whole(word, MOST_NODES)
    if port is None or port >= ports:
        problems.add(file, line, f"port {shown(word)} is not one of the {ports} ports, which are 0 to {ports - 1}")
    return port or 0
