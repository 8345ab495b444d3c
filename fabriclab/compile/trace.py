"""The flow trace of a plan: one row a flow, in the format of `traffic/README.md`.

Who starts at the same moment is asked one after the other all the same; in which order, the seed decides, once for each traffic. (Times
are exact: senders in lockstep stay in lockstep. Which of them loses then hangs on that order; S. Floyd and V. Jacobson, "On Traffic Phase
Effects in Packet-Switched Gateways", 1992.) The flows of a user's own trace stay as they are.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fabriclab.plan.model import FlowsTraffic, LongTraffic, Plan, RoundsTraffic, TraceTraffic, Traffic

TRACE_VERSION = "# fabriclab-trace-1"
HOSTS_VERSION = "# fabriclab-hosts-1"


class TraceError(ValueError):
    """A flow trace that can't be used; the text names file, line, value and what would be right."""


class Flow(NamedTuple):
    """A row of the flow trace. Empty text stands for absent."""

    flow: int
    start_ns: int
    src: str
    dst: str
    size_bytes: str
    stop_ns: str
    mode: str
    connection: str
    group: str
    after: str
    flow_class: str

    @property
    def starter(self) -> str:
        """The node that opens the connection and starts the flow."""
        return self.dst if self.mode == "pull" else self.src


COLUMNS = tuple("class" if field == "flow_class" else field for field in Flow._fields)


def compile_trace(plan: Plan, lab_directory: Path) -> Iterator[str]:
    """Yield the lines of the plan's flow trace, header first. Raises TraceError for a user's trace that is not as it must be."""
    yield f"{TRACE_VERSION}\n"
    yield ",".join(COLUMNS) + "\n"
    for _, flow in compiled_flows(plan, lab_directory):
        yield ",".join(str(value) for value in flow) + "\n"


def compile_hosts(plan: Plan) -> str:
    """Return the CSV of hosts and the addresses that their flows use: that of the first port."""
    rows = [f"{node.name},{node.ports[0].address.partition('/')[0]}\n" for node in plan.nodes if node.role == "host"]
    return f"{HOSTS_VERSION}\nhost,address\n" + "".join(rows)


def compiled_flows(plan: Plan, lab_directory: Path) -> Iterator[tuple[str, Flow]]:
    """Yield every flow with the name of the traffic that it belongs to. Flows of a user's trace keep their numbers, the others follow."""
    hosts = {node.name for node in plan.nodes if node.role == "host"}
    traces = [traffic for traffic in plan.traffic if isinstance(traffic, TraceTraffic)]
    used: set[int] = set()
    for trace in traces:
        for flow in _read_trace(trace, lab_directory, hosts, used):
            yield trace.name, flow
    number = max(used, default=-1) + 1
    for traffic in plan.traffic:
        for flow in _generated(traffic, number, plan.seed):
            yield traffic.name, flow
            number = flow.flow + 1


def _order(traffic: RoundsTraffic | LongTraffic | FlowsTraffic, seed: int) -> list[str]:
    """Return the senders in the seed's order; the same on every host and with every version of Python."""
    return sorted(traffic.senders, key=lambda sender: hashlib.blake2b(f"{seed} {traffic.name} {sender}".encode(), digest_size=16).digest())


def _generated(traffic: Traffic, first: int, seed: int) -> Iterator[Flow]:
    match traffic:
        case RoundsTraffic():
            return _rounds(traffic, first, _order(traffic, seed))
        case LongTraffic():
            # Apart from each other they start in the order written.
            return _long(traffic, first, traffic.senders if traffic.stagger_ns else _order(traffic, seed))
        case FlowsTraffic():
            return _flows(traffic, first, _order(traffic, seed))
        case TraceTraffic():
            return iter(())
        case _:
            raise TraceError(f"traffic.{traffic.name}: flows of kind {traffic.kind} can't be made yet")


def _rounds(traffic: RoundsTraffic, first: int, senders: Sequence[str]) -> Iterator[Flow]:
    number = first
    for index in range(traffic.rounds):
        for sender in senders:
            yield Flow(
                flow=number,
                start_ns=traffic.start_ns if index == 0 else 0,
                src=sender,
                dst=traffic.receiver,
                size_bytes=str(traffic.size_bytes),
                stop_ns="",
                mode=traffic.mode,
                connection=traffic.name if traffic.connection == "kept" else "",
                group=f"{traffic.name}.r{index}",
                after=f"{traffic.name}.r{index - 1}" if index else "",
                flow_class=traffic.name,
            )
            number += 1


def _long(traffic: LongTraffic, first: int, senders: Sequence[str]) -> Iterator[Flow]:
    for index, sender in enumerate(senders):
        start_ns = traffic.start_ns + index * traffic.stagger_ns
        yield Flow(first + index, start_ns, sender, traffic.receiver or "", "", str(traffic.stop_ns), "push", "", "", "", traffic.name)


def _flows(traffic: FlowsTraffic, first: int, senders: Sequence[str]) -> Iterator[Flow]:
    number, size = first, str(traffic.size_bytes)
    for index in range(traffic.count):
        start_ns = traffic.start_ns + index * traffic.interval_ns
        for sender in senders:
            yield Flow(number, start_ns, sender, traffic.receiver, size, "", traffic.mode, "", "", "", traffic.name)
            number += 1


def _read_trace(trace: TraceTraffic, lab_directory: Path, hosts: set[str], used: set[int]) -> Iterator[Flow]:
    """Yield the flows of a user's trace; adds their numbers to `used`. Groups and connections are for the replay to judge."""
    path = lab_directory / trace.file
    try:
        content = path.read_bytes()
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise TraceError(f"{path}: the trace of traffic.{trace.name} can't be read: {error}") from error
    if hashlib.sha256(content).hexdigest() != trace.sha256:
        raise TraceError(f"{path}: the trace of traffic.{trace.name} has changed since the plan was made; run again")
    lines = text.splitlines()
    if not lines or lines[0].strip() != TRACE_VERSION:
        raise TraceError(f"{path}:1: {lines[0] if lines else ''!r}: the first line must be {TRACE_VERSION!r}")
    reader = csv.DictReader(lines[1:])
    if sorted(reader.fieldnames or ()) != sorted(COLUMNS):
        raise TraceError(f"{path}:2: {','.join(reader.fieldnames or ())!r}: the columns must be {','.join(COLUMNS)}")
    for row in reader:
        yield _read_flow(f"{path}:{reader.line_num + 1}", row, hosts, used)


def _read_flow(place: str, row: dict[str, str | None], hosts: set[str], used: set[int]) -> Flow:
    values = {column: (row.get(column) or "").strip() for column in COLUMNS}
    if None in row or None in row.values():
        raise TraceError(f"{place}: {len(COLUMNS)} columns are needed: {','.join(COLUMNS)}")
    for column in ("src", "dst"):
        if values[column] not in hosts:
            raise TraceError(f"{place}: {column}: {values[column]!r} is no host of this lab: {', '.join(sorted(hosts))}")
    number = _count(place, "flow", values["flow"], 2**32 - 1)
    if number in used:
        raise TraceError(f"{place}: flow: {number} stands here twice; every flow has its own number")
    used.add(number)
    _check_end(place, values["size_bytes"], values["stop_ns"])
    if values["mode"] not in ("push", "pull"):
        raise TraceError(f"{place}: mode: {values['mode']!r} must be push or pull")
    start_ns = _count(place, "start_ns", values["start_ns"], 2**63 - 1)
    texts = [values[column] for column in COLUMNS[2:]]
    return Flow(number, start_ns, *texts)


def _check_end(place: str, size_bytes: str, stop_ns: str) -> None:
    if (size_bytes == "") == (stop_ns == ""):
        raise TraceError(f"{place}: exactly one of size_bytes ({size_bytes!r}) and stop_ns ({stop_ns!r}) must be given")
    if size_bytes and _count(place, "size_bytes", size_bytes, 2**63 - 1) < 4:
        raise TraceError(f"{place}: size_bytes: {size_bytes!r} must be at least 4")
    if stop_ns:
        _count(place, "stop_ns", stop_ns, 2**63 - 1)


def _count(place: str, column: str, text: str, largest: int) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) > largest:
        raise TraceError(f"{place}: {column}: {text!r} must be a whole number from 0 to {largest}")
    return int(text)
