"""Flows as a table: the columns of the flow trace (`traffic/README.md`) and, as `traffic`,
the name of what each belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from fabriclab.formats.plan.traffic import Carrier
from fabriclab.formats.trace import MODES, TRACE, TRANSPORTS
from fabriclab.workload.randomness import Integers
from fabriclab.workload.site import Site

_TYPES: Mapping[str, pl.DataType] = {
    "flow": pl.UInt32(),
    "mode": pl.Enum(MODES),
    "connection": pl.Categorical(),
    "class": pl.Categorical(),
    "transport": pl.Enum(TRANSPORTS),
    "congestion_control": pl.Categorical(),
    "dscp": pl.UInt8(),
    "ip": pl.UInt8(),
}
"""Columns of few values, or of small ones: a table of ten million flows has to fit into memory."""
COLUMNS: Mapping[str, pl.DataType] = {
    name: _TYPES.get(name, pl.String() if kind == "text" else pl.Int64()) for name, kind in TRACE.columns.items()
}
"""The columns of the trace in order with their types; `src` and `dst` of a table are an Enum of the lab's
hosts. Null is empty."""
_EMPTY = {name: pl.Series(name, [None], dtype=dtype) for name, dtype in COLUMNS.items()}
"""A cell without a value of each column: most of a table's columns have no others."""
REQUIRED = tuple(name for name in TRACE.columns if name not in TRACE.optional)
WRITTEN_WHERE_USED = ("request_bytes", "transport", "congestion_control", "dscp", "deadline_ns", "ip")
"""Columns that a trace is written without when no flow has a value there."""
_WRITTEN_AT_A_TIME = 1 << 16
_FEW = 1000


def flow_table(site: Site, traffic: str, carrier: Carrier, columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return a table of flows that are not numbered yet, in the order given.

    `columns` holds arrays (hosts as numbers in `site.hosts`; at least `start_ns` is one) or one value for all; what is
    missing is empty.
    """
    length = len(columns["start_ns"])
    given = {
        "class": traffic,
        "transport": None if carrier.transport == "tcp" else carrier.transport,
        "congestion_control": carrier.congestion_control,
        # RoCE has the NIC's, and Homa its own.
        "dscp": None if carrier.transport in ("roce", "homa") else carrier.dscp or None,
        "ip": carrier.ip,
        **columns,
    }
    made: list[pl.Series] = [pl.Series("traffic", [traffic], dtype=pl.Categorical()).new_from_index(0, length)]
    for name, dtype in list(COLUMNS.items())[1:]:
        value = given.get(name)
        if name in ("src", "dst"):
            made.append(site.host_column.gather(_series(_filled(value, length))).alias(name))
        elif value is None:
            made.append(_EMPTY[name].new_from_index(0, length))
        elif isinstance(value, np.ndarray | pl.Series | list):
            made.append(_series(value).alias(name).cast(dtype))
        else:
            made.append(pl.Series(name, [value], dtype=dtype).new_from_index(0, length))
    return pl.DataFrame(made)


def _series(values: Any) -> pl.Series:
    """Return values as a series; few of them go by a list, for Polars loads masked arrays to take an array."""
    return pl.Series(values.tolist() if isinstance(values, np.ndarray) and 0 < len(values) <= _FEW else values)


def _filled(hosts: Any, length: int) -> Integers:
    return np.full(length, hosts, dtype=np.int64) if np.ndim(hosts) == 0 else np.asarray(hosts, dtype=np.int64)


def _no_flows(site: Site) -> pl.DataFrame:
    hosts = dict.fromkeys(("src", "dst"), site.host_type)
    return pl.DataFrame(schema={"traffic": pl.Categorical(), **COLUMNS, **hosts})


def by_start(table: pl.DataFrame) -> pl.DataFrame:
    """Return the flows in the order of their starts; those of one instant stay in the order in which they stand."""
    return table.sort("start_ns", maintain_order=True)


def numbered(tables: Sequence[pl.DataFrame], first: int, site: Site) -> pl.DataFrame:
    """Return tables one after the other, flows numbered from `first`."""
    every = pl.concat(tables) if tables else _no_flows(site)
    numbers = pl.int_range(first, first + every.height, dtype=pl.UInt32, eager=True).alias("flow")
    return every.with_columns(numbers).select("traffic", *COLUMNS)


def trace_text(flows: pl.DataFrame) -> Iterator[str]:
    """Yield the text of a flow trace piece by piece, whole lines each, header first."""
    unused = [name for name in WRITTEN_WHERE_USED if flows[name].null_count() == flows.height]
    columns = [name for name in COLUMNS if name not in unused]
    yield f"{TRACE.first_line}\n"
    yield ",".join(columns) + "\n"
    for piece in flows.select(columns).iter_slices(_WRITTEN_AT_A_TIME):
        yield piece.write_csv(include_header=False)
