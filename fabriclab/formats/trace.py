"""The flow trace and the addresses of its hosts: what a run's traffic is, one flow a row (`traffic/README.md`).

`workload` draws and judges it, `traffic/replay` sends it, `results` joins it with what was measured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from fabriclab.formats.table import Table, integers, texts

TRACE = Table(
    "trace",
    1,
    {
        **integers("flow", "start_ns"),
        **texts("src", "dst"),
        **integers("size_bytes", "stop_ns"),
        **texts("mode"),
        **integers("request_bytes"),
        **texts("connection", "group", "after", "class", "transport", "congestion_control"),
        **integers("dscp", "deadline_ns", "ip"),
    },
    frozenset(
        (
            *("stop_ns", "mode", "request_bytes", "connection", "group", "after", "class"),
            *("transport", "congestion_control", "dscp", "deadline_ns", "ip"),
        )
    ),
)
HOSTS = Table("hosts", 1, texts("host", "address", "ipv6"), frozenset(("ipv6",)))
"""Which address the flows of a host use: that of IPv4, or, where there is no such, of IPv6; and that of IPv6 beside one
of IPv4."""
MODES = ("push", "pull", "read", "iperf3")
"""Who begins: the sender connects, the receiver connects, the receiver's NIC reads (RDMA READ), or iperf3 in place of
the replay. Empty is the first."""
TRANSPORTS = ("tcp", "mptcp", "roce", "homa")
"""What a flow asks for. Empty is the first."""

LARGEST_HOMA_BYTES = 1_000_000
"""The longest message of Homa (HOMA_MAX_MESSAGE_LENGTH of its module for Linux)."""

_AWAITED = re.compile(r"(?P<group>[^;]*?)(?:\+(?P<delay>[0-9]+))?")


class Awaited(NamedTuple):
    """A group that a flow waits for, and the nanoseconds that pass after the group is complete."""

    group: str
    """Empty: the epoch."""
    delay_ns: int = 0


def awaited(after: str) -> list[Awaited]:
    """Return what a cell of the column `after` names: `job/map+1000;job/sort` has two groups."""
    found = (_AWAITED.fullmatch(part) for part in after.split(";") if after)
    return [Awaited(match["group"], int(match["delay"] or 0)) for match in found if match is not None]


def after_cell(waits: Iterable[Awaited]) -> str:
    """Return the cell of the column `after` that says it."""
    return ";".join(f"{group}+{delay_ns}" if delay_ns else group for group, delay_ns in waits)


LARGEST_FLOW = 2**32 - 2
"""Largest number of a flow: a packet's mark is the number plus one, and has 32 bits."""
LARGEST_ROCE_FLOW = 2**24 - 3
"""Largest number of a flow over RoCE: its queue pair's is the number plus one, of 24 bits, of which the largest means
multicast."""
LARGEST_NS = 2**62 - 1
"""Times end here (146 years), so that a sum of two is still one in 64 bits."""
SMALLEST_BYTES = 4
"""Least size of a flow, and of a pull's request: the first bytes carry the flow's number."""
LARGEST_BYTES = 2**62
"""Largest size of a flow, so that a sum of two is still one in 64 bits with a sign."""
LARGEST_REQUEST_BYTES = 2**32 - 1
"""Largest request of a pull."""
LARGEST_DSCP = 63
"""Largest differentiated services code point (RFC 2474)."""
