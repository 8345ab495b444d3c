"""`fabriclab inspect`: what stands in a port, a switch's ports and memory, a host's connections."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence

from fabriclab.cli.commands.live.connection_text import COLUMNS, LEFT, connection_lines, connection_row
from fabriclab.errors import ArgumentError
from fabriclab.live.inspecting import Place, connections_of_node, find_place, look_at
from fabriclab.live.seen import ConnectionState, Inspection, Packet, PortState, QueueState, SwitchMemory, inspection
from fabriclab.live.seen import connections as seen_connections
from fabriclab.units import format_count, format_duration, format_rate, format_size


def inspect(written: str, lab: str | None, flow: int | None, as_json: bool) -> None:
    """Print what a look sees. Raises ArgumentError, LabsUpError, LiveError."""
    place = find_place(written, lab)
    if place.interface is None and (place.is_host or flow is not None):
        _inspect_connections(place, flow, as_json)
    else:
        _inspect_ports(place, flow, as_json)


def _inspect_connections(place: Place, flow: int | None, as_json: bool) -> None:
    answer = connections_of_node(place.lab, place.node)
    found = _of_flow(seen_connections(answer), flow, place)
    if as_json:
        of_flow = [each for each in answer["connections"] if flow is None or each["flow"] == flow]
        _write_json({**answer, "connections": of_flow})
        return
    _say_instant(place, answer["now_ns"])
    _show_connections(found, in_full=flow is not None)


def _inspect_ports(place: Place, flow: int | None, as_json: bool) -> None:
    answer = look_at(place, packets=place.interface is not None)
    if as_json:
        _write_json(answer)
        return
    seen = inspection(answer)
    _say_instant(place, seen.now_ns)
    if place.interface is None:
        _show_ports(seen)
    else:
        _show_port(seen.ports[0], flow)
    if seen.memory is not None:
        _show_memory(seen.memory)


def _write_json(answer: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(answer, indent=2, ensure_ascii=False) + "\n")


def _say_instant(place: Place, now_ns: int) -> None:
    where = place.node if place.interface is None else f"{place.node}:{place.interface}"
    sys.stdout.write(f"{where} at {now_ns / 1e9:.9f} s\n")


def _or_dash(value: object) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


# -- Ports -------------------------------------------------------------------------------------------------------------


def _pauses(port: PortState) -> str:
    parts = []
    if port.paused:
        parts.append(f"paused: priorities {', '.join(map(str, port.paused))}")
    if port.pausing:
        parts.append(f"pauses the other end: priorities {', '.join(map(str, port.pausing))}")
    return "; ".join(parts)


def _show_ports(seen: Inspection) -> None:
    rows = []
    for port in seen.ports:
        rate = "-" if port.rate_bps is None else format_rate(port.rate_bps)
        state = "down" if not port.up else _pauses(port)
        counted = (_size(port.tx_bytes), _size(port.rx_bytes), _or_dash(port.drops), _or_dash(port.marks))
        rows.append((port.interface, rate, format_size(port.bytes, 4), _or_dash(port.packets), *counted, state))
    head = ("port", "rate", "standing", "packets", "sent", "received", "drops", "marks", "")
    write_columns(head, rows, left=("port", ""))


def _size(size_bytes: int | None) -> str:
    return "-" if size_bytes is None else format_size(size_bytes, 4)


def _show_port(port: PortState, flow: int | None) -> None:
    rate = "" if port.rate_bps is None else f", {format_rate(port.rate_bps)}"
    marks = "" if port.marks is None else f", {format_count(port.marks, 'mark')}"
    sys.stdout.write(
        f"{'up' if port.up else 'down'}{rate}; stands: {_standing(port)}; since the start "
        f"{format_count(port.drops or 0, 'drop')}{marks}\n"
    )
    pauses = _pauses(port)
    if pauses:
        sys.stdout.write(f"{pauses}\n")
    if port.pauses_sent or port.pauses_received:
        sys.stdout.write(f"PFC frames: {port.pauses_sent:,} sent, {port.pauses_received:,} received\n")
    for queue in port.queues:
        if queue.packets or len(port.queues) == 1:
            _show_queue(queue, flow)
    for group in port.groups:
        if group.bytes or group.xoff:
            sys.stdout.write(
                f"\npriority group {group.group}: {format_size(group.bytes, 4)} in the switch's memory, of which "
                f"{format_size(group.headroom_bytes, 4)} in headroom{'; in XOFF' if group.xoff else ''}\n"
            )


def _standing(counted: PortState | QueueState) -> str:
    return f"{format_size(counted.bytes, 4)}, {format_count(counted.packets, 'packet')}"


def _show_queue(queue: QueueState, flow: int | None) -> None:
    limit = "" if queue.limit_bytes is None else f"; its limit now {format_size(queue.limit_bytes, 4)}"
    marks = "" if queue.marks is None else f", {format_count(queue.marks, 'mark')}"
    sys.stdout.write(f"\nqueue {queue.queue}: {_standing(queue)}{limit}; {format_count(queue.drops, 'drop')}{marks}\n")
    shown = [packet for packet in queue.standing if flow is None or packet.flow == flow]
    if shown:
        _show_packets(shown)
    if len(queue.standing) < queue.packets:
        sys.stdout.write(f"{format_count(queue.packets - len(queue.standing), 'packet')} not shown\n")


def _show_packets(packets: Sequence[Packet]) -> None:
    rows = []
    for number, packet in enumerate(packets, 1):
        ends = (packet.src or "-", packet.dst or "-", packet.protocol)
        tcp = (_plain(packet.seq), _plain(packet.ack), packet.flags or "-", packet.ecn or "-")
        waited = "-" if packet.waited_ns is None else format_duration(packet.waited_ns, 4)
        rows.append((str(number), _plain(packet.flow), *ends, _or_dash(packet.bytes), *tcp, waited))
    head = ("", "flow", "from", "to", "protocol", "bytes", "seq", "ack", "flags", "ECN", "waited")
    write_columns(head, rows, left=("from", "to", "protocol", "flags", "ECN"))


def _plain(number: int | None) -> str:
    return "-" if number is None else str(number)


def _show_memory(memory: SwitchMemory) -> None:
    sys.stdout.write(
        f"\nshared memory of {memory.node}: {format_size(memory.shared_bytes, 4)} of "
        f"{format_size(memory.shared_limit_bytes, 4)} taken, {format_size(memory.headroom_bytes, 4)} of headroom\n"
    )
    rows = []
    for pool in memory.pools:
        sizes = (pool.size_bytes, pool.reserved_bytes, pool.used_bytes, pool.watermark_bytes, pool.headroom_bytes)
        cells = [format_size(size, 4) for size in (*sizes, pool.headroom_watermark_bytes)]
        rows.append((str(pool.pool), *cells))
    head = ("pool", "size", "reserved", "taken", "most taken", "headroom taken", "most headroom")
    write_columns(head, rows, left=())


# -- Connections -------------------------------------------------------------------------------------------------------


def _of_flow(found: Sequence[ConnectionState], flow: int | None, place: Place) -> Sequence[ConnectionState]:
    """Return the connections of a flow; None: all. Raises ArgumentError where the node has none of it."""
    if flow is None:
        return found
    of_flow = [each for each in found if each.flow == flow]
    if not of_flow:
        open_now = sorted({each.flow for each in found if each.flow is not None})
        text = f"open there now: {', '.join(map(str, open_now))}" if open_now else "no flow is open there now"
        raise ArgumentError("flow {0}: {1} has no connection of this flow; {2}", flow, place.node, text)
    return of_flow


def _show_connections(found: Sequence[ConnectionState], *, in_full: bool) -> None:
    if not found:
        sys.stdout.write("no connections\n")
    elif in_full:
        for each in found:
            sys.stdout.write("\n".join(connection_lines(each)) + "\n")
    else:
        write_columns(COLUMNS, [connection_row(each) for each in found], left=LEFT)


def write_columns(head: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str]) -> None:
    """Print rows below their head. `left`: the columns that begin at the left; numbers end at the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = (
            cell.ljust(width) if name in left else cell.rjust(width)
            for name, cell, width in zip(head, row, widths, strict=True)
        )
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
