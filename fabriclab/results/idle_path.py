"""How long a flow would take on an idle path: what its slowdown is measured against. Needs the plan alone.

  ideal = set-up + request + one-way delay + 8 x (bytes on the wire - those of the first frame) / slowest rate
        + store and forward

  set-up      a connection of its own: the base round trip (SYN, SYN-ACK); one that is kept, and Homa: nothing
  request     a pull: the one-way delay from the receiver to the sender
  one-way delay, base round trip   sums of the links' propagation delays, of the path and of both paths
  bytes on the wire   data + 90 bytes for each frame: 40 of IPv4 and TCP and 12 of TCP's timestamps (RFC 7323), 14 of
              Ethernet's header, 24 of preamble, frame check sequence and gap. A frame carries MTU - 52 bytes of data.
              Over IPv6 each has 20 bytes more of headers: 110, MTU - 72, and 118 in place of the 98 below
  first frame  of full size at most; it is not among the bytes that the slowest line has to send after one another

Store and forward: what a frame that finds every line idle takes to be sent, hop by hop. It depends on what a port is
made of.

  stock qdiscs   (`queue` in the plan) nothing: a token bucket that holds one frame (`fabriclab/compile/qdisc.py`) lets
              what finds the line idle leave at once. Frames that the slowest line has spaced find the faster ones idle
  `switch_port`  8 x bytes / rate at every hop, as in hardware (the kernel's `switch_port`). Of the data: the first
              frame on the hops up to the slowest (of several the last); behind it the last frame, when the slowest line
              has sent it, or the last but one and then the last at the last hop, whichever comes later. Of the set-up:
              SYN and SYN-ACK, 98 bytes each with 20 of options. Of a request: its first frame, 90 bytes and what it
              carries

Over RoCE there is no set-up. A packet carries the NIC's `mtu`, padded to whole words of 4 bytes, and has 82 bytes
around that: 40 of IPv4, UDP and InfiniBand's header, 4 of the invariant CRC, 38 of Ethernet; the first one of a WRITE
has 16 more, the first and the last one of the answer to a READ 4 more (together, where they are one). The request of a
READ has 98. A frame is at least 84 bytes long on the line. Behind stock qdiscs several small packets leave at once,
where the token bucket holds them all, so that a flow can be faster than its ideal.

The path is the shortest through the plan's nodes; of several the one with the fastest slowest line, then the least
delay. Slow start, acknowledgements and the options of MPTCP are not part of it: a lone flow has a slowdown of 1 when it
fits into the initial window, and more when its window has to grow. MPTCP over several ports of a host can be faster
than its ideal, which is of one path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from typing import NamedTuple

import polars as pl

from fabriclab.formats.family import Family
from fabriclab.formats.framing import (
    AROUND_MTU_BYTES,
    LEAST_ON_LINE_BYTES,
    ROCE_AETH_BYTES,
    ROCE_CRC_BYTES,
    ROCE_HEADER_BYTES,
    ROCE_RETH_BYTES,
    ip_and_tcp_bytes,
    segment_header_bytes,
)
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.node import Port
from fabriclab.formats.trace import SMALLEST_BYTES

_SYN_OPTION_BYTES = 20
"""Largest segment, SACK, timestamps, window scale."""
_BITS_NS = 8e9
"""Nanoseconds of a byte at 1 bit/s."""


class Path(NamedTuple):
    """What a path, or a link, offers."""

    rate_bps: int
    """The rate of the path's slowest line."""
    delay_ns: int
    mtu: int
    head_ns: float = 0.0
    """Time that its hops up to the slowest, the last such, need for a byte that they store and forward."""
    tail_ns: float = 0.0
    """The same of the hops behind that."""
    last_bps: int = 0
    """Rate of the last line."""

    @property
    def stored_ns(self) -> float:
        """Return the time that all hops need for a byte."""
        return self.head_ns + self.tail_ns

    def is_dominated_by(self, other: Path) -> bool:
        """Return whether another path is as good in everything."""
        not_slower = (
            other.rate_bps >= self.rate_bps and other.delay_ns <= self.delay_ns and other.stored_ns <= self.stored_ns
        )
        return not_slower and other.mtu >= self.mtu


_PATH_COLUMNS = {
    "src": pl.String,
    "dst": pl.String,
    "rate_bps": pl.Int64,
    "delay_ns": pl.Int64,
    "return_delay_ns": pl.Int64,
    "mtu": pl.Int64,
    "head_ns": pl.Float64,
    "tail_ns": pl.Float64,
    "last_bps": pl.Int64,
    "return_stored_ns": pl.Float64,
}


def syn_wire_bytes(family: Family) -> int:
    """Return the length of a SYN on the line."""
    return ip_and_tcp_bytes(family) + _SYN_OPTION_BYTES + AROUND_MTU_BYTES


def path_table(plan: Plan, pairs: Iterable[tuple[str, str]]) -> pl.LazyFrame:
    """Return one row for each pair of sender and receiver that a path joins, with the columns of _PATH_COLUMNS, which
    are those of Path.

    `return_delay_ns` and `return_stored_ns` are those of the receiver's own path to the sender.
    """
    switches = plan.switch_names
    links = {node.name: [_link(port) for port in node.ports] for node in plan.nodes}
    wanted = sorted(set(pairs))
    ends = {name for pair in wanted for name in pair if name in links}
    paths = {source: shortest_paths(links, switches, source) for source in sorted(ends)}
    rows = [
        (src, dst, path.rate_bps, path.delay_ns, back.delay_ns, min(path.mtu, back.mtu), *path[3:], back.stored_ns)
        for src, dst in wanted
        if (path := paths.get(src, {}).get(dst)) and (back := paths.get(dst, {}).get(src))
    ]
    return pl.LazyFrame(rows, schema=_PATH_COLUMNS, orient="row")


def shortest_paths(links: dict[str, list[tuple[str, Path]]], switches: Set[str], source: str) -> dict[str, Path]:
    """Return the best of the shortest paths from a node to every other one; only switches pass packets on."""
    best: dict[str, Path] = {}
    seen, frontier = {source}, {source: [Path(2**62, 0, 2**31)]}
    while frontier:
        following: dict[str, list[Path]] = {}
        for node, so_far in frontier.items():
            for peer, link in links[node]:
                if peer in links and peer not in seen:
                    joined = (_joined(path, link) for path in so_far)
                    following[peer] = _undominated([*following.get(peer, []), *joined])
        best |= {node: max(paths, key=_goodness) for node, paths in following.items()}
        seen |= following.keys()
        frontier = {node: paths for node, paths in following.items() if node in switches}
    return best


def ideal_columns(ip: pl.Expr | None = None) -> Iterator[pl.Expr]:
    """Yield `base_rtt_ns`, `ideal_ns` and `line_ns`, what all its frames take on the slowest line, of flows that are
    joined with their paths; null without a path, the last two of long flows too. `ip` is the version of IP of each;
    without it all are of 4."""
    headers, syn_bytes = _of_family(ip, segment_header_bytes), _of_family(ip, syn_wire_bytes)
    payload = pl.col("mtu") - headers
    base_rtt = pl.col("delay_ns") + pl.col("return_delay_ns")
    yield base_rtt.alias("base_rtt_ns")
    yield _over_sockets(payload, headers, base_rtt, syn_bytes).alias("ideal_ns")
    frames = (pl.col("size_bytes") + payload - 1) // payload
    yield _sent(pl.col("size_bytes") + frames * (headers + AROUND_MTU_BYTES), "rate_bps").alias("line_ns")


def roce_ideal() -> pl.Expr:
    """Return the `ideal_ns` of flows over RoCE, of whose NICs `roce_mtu` and `roce_behind`, the bytes behind a packet's
    checksum, are columns."""
    mtu, size = pl.col("roce_mtu"), pl.col("size_bytes")
    frames = (size + mtu - 1) // mtu
    reads, is_one, whole = pl.col("mode") == "read", frames == 1, _roce_frame(mtu)
    begins = pl.when(reads).then(ROCE_AETH_BYTES).otherwise(ROCE_RETH_BYTES)
    end = _roce_frame(size - (frames - 1) * mtu, pl.when(reads).then(ROCE_AETH_BYTES).otherwise(0))
    first = pl.when(is_one).then(_roce_frame(size, begins)).otherwise(whole + begins)
    last = pl.when(is_one).then(first).otherwise(end)
    behind = pl.when(is_one).then(0).otherwise((frames - 2) * whole + end)
    forerunner = pl.when(frames > 2).then(whole).otherwise(first)
    sends = _roce_frame(pl.min_horizontal(pl.col("request_bytes").fill_null(SMALLEST_BYTES), mtu))
    request = pl.when(reads).then(_roce_frame(pl.lit(0), ROCE_RETH_BYTES)).otherwise(sends)
    asked = pl.col("return_delay_ns") + request * pl.col("return_stored_ns")
    wait = pl.when(pl.col("mode").is_in(("pull", "read"))).then(asked).otherwise(0)
    return (wait + pl.col("delay_ns") + _transmission(first, behind, forerunner, last)).round().cast(pl.Int64)


def roce_line_time() -> pl.Expr:
    """Return the `line_ns` of flows over RoCE: of their data."""
    mtu, size = pl.col("roce_mtu"), pl.col("size_bytes")
    frames = (size + mtu - 1) // mtu
    return _sent((frames - 1) * _roce_frame(mtu) + _roce_frame(size - (frames - 1) * mtu, ROCE_RETH_BYTES), "rate_bps")


def _roce_frame(payload: pl.Expr, extension: pl.Expr | int = 0) -> pl.Expr:
    """Return what a packet with so many bytes of data takes on the line."""
    around = pl.col("roce_behind") + ROCE_HEADER_BYTES + ROCE_CRC_BYTES + AROUND_MTU_BYTES + extension
    return pl.max_horizontal((payload + 3) // 4 * 4 + around, pl.lit(LEAST_ON_LINE_BYTES, dtype=pl.Int64))


def _over_sockets(payload: pl.Expr, headers: pl.Expr, base_rtt: pl.Expr, syn_bytes: pl.Expr) -> pl.Expr:
    syns = syn_bytes * (pl.col("head_ns") + pl.col("tail_ns") + pl.col("return_stored_ns"))
    # Homa has no connections.
    shakes_hands = pl.col("connection").is_null() & (pl.col("transport_asked") != "homa")
    set_up = pl.when(shakes_hands).then(base_rtt + syns).otherwise(0)
    request_bytes = (
        pl.min_horizontal(pl.col("request_bytes").fill_null(SMALLEST_BYTES), payload) + headers + AROUND_MTU_BYTES
    )
    asked = pl.col("return_delay_ns") + request_bytes * pl.col("return_stored_ns")
    request = pl.when(pl.col("mode") == "pull").then(asked).otherwise(0)
    overhead, size = headers + AROUND_MTU_BYTES, pl.col("size_bytes")
    frames = (size + payload - 1) // payload
    first = pl.min_horizontal(size, payload) + overhead
    last = size - (frames - 1) * payload + overhead
    # The last frame but one is as long as the first.
    transmission = _transmission(first, size + frames * overhead - first, first, last)
    return (set_up + request + pl.col("delay_ns") + transmission).round().cast(pl.Int64)


def _of_family(ip: pl.Expr | None, length: Callable[[Family], int]) -> pl.Expr:
    """Return a length in bytes that hangs on the version of IP."""
    if ip is None:
        return pl.lit(length(4), dtype=pl.Int64)
    return pl.when(ip == 6).then(pl.lit(length(6), dtype=pl.Int64)).otherwise(pl.lit(length(4), dtype=pl.Int64))


def _transmission(first: pl.Expr, behind: pl.Expr, forerunner: pl.Expr, last: pl.Expr) -> pl.Expr:
    """Return from the first bit's departure to the last one's arrival, but for the propagation.

    Bytes on the line: of the first frame, of all behind it, of the last frame but one, of the last.
    """
    # A terabyte in nanoseconds of bits is beyond 64-bit integers; sums and divisions of floats are the same everywhere.
    first, behind, forerunner, last = (part.cast(pl.Float64) for part in (first, behind, forerunner, last))
    behind_the_slowest = _sent(behind, "rate_bps") + first * pl.col("head_ns") + last * pl.col("tail_ns")
    behind_its_forerunner = (
        _sent(behind - last, "rate_bps")
        + first * (pl.col("head_ns") + pl.col("tail_ns"))
        + (forerunner - first) * pl.col("tail_ns")
        + _sent(last, "last_bps")
    )
    return pl.max_horizontal(behind_the_slowest, behind_its_forerunner)


def _sent(wire_bytes: pl.Expr, rate: str) -> pl.Expr:
    return wire_bytes * _BITS_NS / pl.col(rate)


def _link(port: Port) -> tuple[str, Path]:
    stored_ns = 0.0 if port.switch_port is None else _BITS_NS / port.line_bps
    return port.peer_node, Path(port.line_bps, port.delay_ns, port.mtu, stored_ns, 0.0, port.line_bps)


def _joined(path: Path, link: Path) -> Path:
    is_slowest = link.rate_bps <= path.rate_bps
    return Path(
        rate_bps=min(path.rate_bps, link.rate_bps),
        delay_ns=path.delay_ns + link.delay_ns,
        mtu=min(path.mtu, link.mtu),
        head_ns=path.stored_ns + link.stored_ns if is_slowest else path.head_ns,
        tail_ns=0.0 if is_slowest else path.tail_ns + link.stored_ns,
        last_bps=link.rate_bps,
    )


def _goodness(path: Path) -> tuple[float, ...]:
    return path.rate_bps, -path.delay_ns, -path.stored_ns, path.mtu


def _undominated(paths: list[Path]) -> list[Path]:
    kept: list[Path] = []
    for path in paths:
        if not any(path.is_dominated_by(other) for other in kept):
            kept = [*(other for other in kept if not other.is_dominated_by(path)), path]
    return kept


class RoundTrip(NamedTuple):
    """The quickest round trip of a flow, measured and planned."""

    src: str
    dst: str
    measured_ns: int
    """The smallest that the sender's TCP saw (`min_rtt_us` of the flow log)."""
    planned_ns: int
    """The sum of the links' propagation delays (`base_rtt_ns`, `fabriclab.results.idle_path`)."""

    @property
    def excess_ns(self) -> int:
        """Return by how much it is longer than planned."""
        return self.measured_ns - self.planned_ns


def least_delayed(flows: pl.LazyFrame) -> RoundTrip | None:
    """Return the round trip that is longer than planned by the least, so that queues have the least part in
    it; None without any."""
    measured = pl.col("min_rtt_us") * 1000
    rows = flows.filter(pl.col("min_rtt_us").is_not_null() & pl.col("base_rtt_ns").is_not_null())
    rows = rows.select("src", "dst", measured.alias("measured_ns"), pl.col("base_rtt_ns").alias("planned_ns"), "flow")
    least = (
        rows.sort(pl.col("measured_ns") - pl.col("planned_ns"), "flow").drop("flow").head(1).collect(engine="streaming")
    )
    return RoundTrip(*least.row(0)) if least.height else None
