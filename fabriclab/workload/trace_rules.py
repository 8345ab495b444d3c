"""The rules of the flow trace that hold for a row (`traffic/README.md`), as expressions over the rows' texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from fabriclab.formats.family import Family
from fabriclab.formats.trace import (
    LARGEST_BYTES,
    LARGEST_DSCP,
    LARGEST_FLOW,
    LARGEST_HOMA_BYTES,
    LARGEST_NS,
    LARGEST_REQUEST_BYTES,
    LARGEST_ROCE_FLOW,
    MODES,
    SMALLEST_BYTES,
    TRANSPORTS,
)

_MOST_LISTED = 20
_AFTER = r"^(\+[0-9]+;)*[^;+][^;]*(;[^;]+)*$"
_TOO_LARGE_FOR_ROCE = f"must be at most {LARGEST_ROCE_FLOW} over RoCE, whose queue pairs have numbers of 24 bits"


@dataclass(frozen=True)
class Rule:
    """What must not be.

    `says` makes the message of a row's values; the default names the column, its value and what would be right.
    """

    column: str
    broken: pl.Expr
    right: str
    says: Callable[[dict[str, Any]], str] | None = None

    def message(self, row: dict[str, Any]) -> str:
        """Return what is wrong with a row."""
        return self.says(row) if self.says else f"{self.column}: {row[self.column] or ''!r} {self.right}"


def whole_number(column: str) -> pl.Expr:
    """Return the column as whole numbers; null where it is empty or holds anything else."""
    text = pl.col(column)
    return pl.when(text.str.contains(r"^[0-9]{1,19}$")).then(text).cast(pl.Int64, strict=False)


def rules(hosts: Sequence[str], congestion_controls: Sequence[str], families: Sequence[Family]) -> list[Rule]:
    """Return the rules of a row, which has every column of the trace as text."""
    has = _one_of("ip", tuple(map(str, families)), "must be an IP version of the fabric's addresses: ")
    return [*_number_rules(), *_name_rules(hosts, congestion_controls), has, *_rules_of_ends(), *_rules_of_kinds()]


def _number_rules() -> list[Rule]:
    return [
        _bounded("flow", 0, LARGEST_FLOW, needed=True),
        _bounded("start_ns", 0, LARGEST_NS, needed=True),
        Rule(
            "size_bytes",
            _no_number("size_bytes", SMALLEST_BYTES, LARGEST_BYTES),
            f"must be at least {SMALLEST_BYTES}, a whole number of bytes",
        ),
        _bounded("stop_ns", 1, LARGEST_NS),
        Rule(
            "request_bytes",
            _no_number("request_bytes", SMALLEST_BYTES, LARGEST_REQUEST_BYTES),
            f"must be a whole number of bytes from {SMALLEST_BYTES} to {LARGEST_REQUEST_BYTES}",
        ),
        _bounded("dscp", 0, LARGEST_DSCP),
        _bounded("deadline_ns", 1, LARGEST_NS),
    ]


def _name_rules(hosts: Sequence[str], congestion_controls: Sequence[str]) -> list[Rule]:
    named = [_one_of(column, hosts, "is not a host of this lab: ", needed=True) for column in ("src", "dst")]
    return [
        *named,
        Rule("dst", pl.col("dst") == pl.col("src"), "is also src; it must be another host"),
        _one_of("mode", MODES, "must be one of "),
        _one_of("transport", TRANSPORTS, "must be one of "),
        _one_of("congestion_control", congestion_controls, "must be one of "),
    ]


def _rules_of_ends() -> list[Rule]:
    size, stop = pl.col("size_bytes").is_null(), pl.col("stop_ns").is_null()
    too_early = pl.col("after").is_null() & whole_number("stop_ns").is_between(1, whole_number("start_ns"))
    return [
        Rule("size_bytes", size == stop, "", _says_which_end),
        Rule(
            "stop_ns",
            too_early,
            "",
            lambda row: f"stop_ns: {row['stop_ns']!r} must be later than start_ns, {row['start_ns']}",
        ),
    ]


def _says_which_end(row: dict[str, Any]) -> str:
    return (
        f"exactly one of size_bytes ({row['size_bytes'] or ''!r}) and stop_ns ({row['stop_ns'] or ''!r}) must be given"
    )


def _rules_of_kinds() -> list[Rule]:
    """Return the rules of what goes with what."""
    long, mptcp, iperf3 = pl.col("stop_ns").is_not_null(), pl.col("transport") == "mptcp", pl.col("mode") == "iperf3"
    roce, homa = ((pl.col("transport") == name).fill_null(value=False) for name in ("roce", "homa"))
    request, kept = pl.col("request_bytes").is_not_null(), pl.col("connection").is_not_null()
    return [
        Rule("mode", iperf3 & ~long, "needs a stop_ns, because iperf3 sends until a set time"),
        Rule(
            "after",
            iperf3 & pl.col("after").is_not_null(),
            "can't be used with iperf3, which starts at start_ns; leave it empty",
        ),
        Rule("after", ~pl.col("after").str.contains(_AFTER), "must be groups with ';' between them, such as a+1000;b"),
        Rule("request_bytes", request & pl.col("mode").ne_missing("pull"), "is only for mode pull; leave it empty"),
        Rule(
            "connection",
            kept & long,
            "would be kept, but a long flow ends with its connection; leave it empty where stop_ns is given",
        ),
        Rule(
            "connection", kept & mptcp, "would be kept, but each flow over MPTCP has its own connection; leave it empty"
        ),
        Rule(
            "connection",
            kept & roce & pl.col("mode").fill_null("push").ne("push"),
            "would be kept, but only pushes share a queue pair; leave it empty",
        ),
        Rule(
            "mode",
            (pl.col("mode") == "read") & ~roce,
            "is RDMA READ, which only RoCE has; write push or pull, or transport roce",
        ),
        Rule("mode", iperf3 & homa, "has streams, which Homa has not; write another transport"),
        Rule("stop_ns", long & homa, "is of a long flow, but Homa sends messages of a size; write size_bytes"),
        Rule("connection", kept & homa, "would be kept, but Homa has no connections; leave it empty"),
        *(
            Rule(
                column,
                homa & (pl.col(column).cast(pl.Int64, strict=False) > LARGEST_HOMA_BYTES),
                f"is more than a message of Homa has; write at most {LARGEST_HOMA_BYTES}",
            )
            for column in ("size_bytes", "request_bytes")
        ),
        *(
            Rule(column, homa & pl.col(column).is_not_null(), "is what Homa decides; leave it empty")
            for column in ("congestion_control", "dscp")
        ),
        Rule("ip", homa & (pl.col("ip") == "6"), "can't be 6, because Homa goes over IPv4 here; leave it empty"),
        Rule("mode", iperf3 & roce, "sends over sockets, not over RoCE; write another transport"),
        *(
            Rule(column, roce & pl.col(column).is_not_null(), "is what the NIC says for RoCE; leave it empty")
            for column in ("congestion_control", "dscp")
        ),
        Rule("ip", roce & (pl.col("ip") == "6"), "can't be 6, because RoCE goes over IPv4 only; leave it empty"),
        Rule("flow", roce & ~whole_number("flow").is_between(0, LARGEST_ROCE_FLOW), _TOO_LARGE_FOR_ROCE),
    ]


def _no_number(column: str, least: int, largest: int) -> pl.Expr:
    """Return whether something stands there that is not a whole number between the two."""
    return pl.col(column).is_not_null() & ~whole_number(column).is_between(least, largest).fill_null(value=False)


def _bounded(column: str, least: int, largest: int, *, needed: bool = False) -> Rule:
    broken = _no_number(column, least, largest)
    return Rule(
        column,
        broken | pl.col(column).is_null() if needed else broken,
        f"must be a whole number from {least} to {largest}",
    )


def _one_of(column: str, words: Sequence[str], right: str, *, needed: bool = False) -> Rule:
    listed = ", ".join([*words[:_MOST_LISTED], *(["..."] if len(words) > _MOST_LISTED else [])])
    broken = ~pl.col(column).is_in(list(words))
    return Rule(column, broken.fill_null(value=needed), f"{right}{listed}")
