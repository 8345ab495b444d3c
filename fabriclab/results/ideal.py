"""How long a flow would take on an idle path: what its slowdown is measured against. Needs the plan's JSON alone.

    ideal = set-up + request + one-way delay + 8 x (bytes on the wire - those of the first frame) / slowest rate

  set-up      a connection of its own: the base round trip (SYN, SYN-ACK); one that is kept: nothing
  request     a pull: the one-way delay from the receiver to the sender
  one-way delay, base round trip   sums of the links' propagation delays, of the path and of both paths
  bytes on the wire   data + 90 bytes for each frame: 40 of IPv4 and TCP and 12 of TCP's timestamps (RFC 7323), 14 of Ethernet's header,
              24 of preamble, frame check sequence and gap. A frame carries MTU - 52 bytes of data
  first frame  of full size at most; it costs nothing because a port of the emulation is a token bucket that holds one frame
              (`fabriclab/compile/qdisc.py`): what finds the line idle leaves at once, on every hop. For the same reason no hop adds a
              store-and-forward delay: frames that the slowest line has spaced find the faster ones idle

The path is the shortest through the plan's nodes; of several the one with the fastest slowest line, then the least delay. Slow start,
acknowledgements and the options of MPTCP are no part of it: a lone flow has a slowdown of 1 when it fits into the initial window,
and more when its window has to grow. MPTCP over several ports of a host can be faster than its ideal, which is of one path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import polars as pl

TCP_HEADER_BYTES = 52
"""IPv4, TCP and timestamps."""
FRAME_BYTES = 38
"""Ethernet header, preamble, frame check sequence and inter-frame gap."""


class Path(NamedTuple):
    """What a path offers: rate of its slowest line, sum of its delays, smallest MTU."""

    rate_bps: int
    delay_ns: int
    mtu: int

    def is_dominated_by(self, other: Path) -> bool:
        """Return whether another path is as good in everything."""
        return other.rate_bps >= self.rate_bps and other.delay_ns <= self.delay_ns and other.mtu >= self.mtu


_PATH_COLUMNS = {
    "src": pl.String,
    "dst": pl.String,
    "rate_bps": pl.Int64,
    "delay_ns": pl.Int64,
    "return_delay_ns": pl.Int64,
    "mtu": pl.Int64,
}


def path_table(plan: dict[str, Any], pairs: Iterable[tuple[str, str]]) -> pl.LazyFrame:
    """Return one row for each pair of sender and receiver that a path joins, with the columns of _PATH_COLUMNS.

    `return_delay_ns` is that of the receiver's own path to the sender.
    """
    links = {node["name"]: [_link(port) for port in node["ports"]] for node in plan.get("nodes", [])}
    switches = {node["name"] for node in plan.get("nodes", []) if node["role"] == "switch"}
    wanted = sorted(set(pairs))
    ends = {name for pair in wanted for name in pair if name in links}
    paths = {source: shortest_paths(links, switches, source) for source in sorted(ends)}
    rows = [
        (src, dst, path.rate_bps, path.delay_ns, back.delay_ns, min(path.mtu, back.mtu))
        for src, dst in wanted
        if (path := paths.get(src, {}).get(dst)) and (back := paths.get(dst, {}).get(src))
    ]
    return pl.LazyFrame(rows, schema=_PATH_COLUMNS, orient="row")


def shortest_paths(links: dict[str, list[tuple[str, Path]]], switches: set[str], source: str) -> dict[str, Path]:
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
        best |= {node: max(paths, key=lambda path: (path.rate_bps, -path.delay_ns, path.mtu)) for node, paths in following.items()}
        seen |= following.keys()
        frontier = {node: paths for node, paths in following.items() if node in switches}
    return best


def ideal_columns() -> Iterator[pl.Expr]:
    """Yield `base_rtt_ns` and `ideal_ns` of flows that are joined with their paths; null without a path, ideal_ns of long flows too."""
    base_rtt = pl.col("delay_ns") + pl.col("return_delay_ns")
    payload = pl.col("mtu") - TCP_HEADER_BYTES
    overhead = TCP_HEADER_BYTES + FRAME_BYTES
    frames = (pl.col("size_bytes") + payload - 1) // payload
    wire = pl.col("size_bytes") + frames * overhead
    first = pl.min_horizontal(pl.col("size_bytes"), payload) + overhead
    # A terabyte in nanoseconds of bits is beyond 64-bit integers; divisions of floats are the same everywhere.
    behind = ((wire - first).cast(pl.Float64) * 8e9 / pl.col("rate_bps")).round().cast(pl.Int64)
    set_up = pl.when(pl.col("connection").is_null()).then(base_rtt).otherwise(0)
    request = pl.when(pl.col("mode") == "pull").then("return_delay_ns").otherwise(0)
    yield base_rtt.alias("base_rtt_ns")
    yield (set_up + request + pl.col("delay_ns") + behind).alias("ideal_ns")


def _link(port: dict[str, Any]) -> tuple[str, Path]:
    return str(port["peer_node"]), Path(int(port["rate_bps"]), int(port["delay_ns"]), int(port["mtu"]))


def _joined(path: Path, link: Path) -> Path:
    return Path(min(path.rate_bps, link.rate_bps), path.delay_ns + link.delay_ns, min(path.mtu, link.mtu))


def _undominated(paths: list[Path]) -> list[Path]:
    kept: list[Path] = []
    for path in paths:
        if not any(path.is_dominated_by(other) for other in kept):
            kept = [*(other for other in kept if not other.is_dominated_by(path)), path]
    return kept
