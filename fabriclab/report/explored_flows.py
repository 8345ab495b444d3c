"""The flows of a run as a page holds them: all of few; of many a part, evenly taken, and the slowest of each time."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from fabriclab.report.drawing.charts import packed
from fabriclab.report.measured.quantities import Axis
from fabriclab.results import Results

SPANS = 100
"""Of a run with more flows than a page holds, the slowest of each hundredth of its time are kept."""
SLOWEST = 5
COUNTS = 400
"""Times at which it is known exactly how many flows had begun and ended."""
_COLUMNS = ("flow", "class", "src", "dst", "size_bytes", "start_ns", "fct_ns")
_NS_PER_MS = 1e6


def explored_flows(run: Results, time: Axis, begin_ns: int, most: int) -> dict[str, Any]:
    """Return flows by start, with at most about `most` of them; times are counted from `begin_ns` in the unit `time`,
    completion times in ms.

    `sample` says of each whether it is one of those evenly taken: shares are to be computed of these. Where all flows
    are there it is absent, as are `counts`: how many had begun and ended by when. Sizes of flows without one, and the
    completion times of incomplete ones, are no number.
    """
    table = run.flows.select(_COLUMNS).collect(engine="streaming").sort("start_ns", maintain_order=True)
    kept, counts = table.with_columns(sample=pl.lit(1.0)), None
    if table.height > most:
        kept, counts = _reduced(table, most), _counts(table, time, begin_ns)
    names = {column: kept[column].unique(maintain_order=True).to_list() for column in ("class", "src", "dst")}
    return {
        "total": table.height,
        "incomplete": table["fct_ns"].null_count(),
        "flow": packed(_floats(kept["flow"])),
        "start": packed((_floats(kept["start_ns"]) - begin_ns) / time.scale),
        "fct": packed(_floats(kept["fct_ns"]) / _NS_PER_MS),
        "bytes": packed(_floats(kept["size_bytes"])),
        **{column: _places(kept[column], names[column]) for column in names},
        "perMs": _NS_PER_MS / time.scale,
        **({} if counts is None else {"sample": packed(_floats(kept["sample"])), "counts": counts}),
    }


def _places(column: pl.Series, names: list[Any]) -> dict[str, Any]:
    """Return a column of few different names as these and each row's place among them."""
    places = {name: float(index) for index, name in enumerate(names)}
    return {"names": [str(name) for name in names], "of": packed([places[name] for name in column.to_list()])}


def _floats(column: pl.Series) -> np.ndarray:
    found: np.ndarray = column.cast(pl.Float64).to_numpy()
    return found


def _reduced(table: pl.DataFrame, most: int) -> pl.DataFrame:
    every = -(-table.height // most)
    spans = (pl.int_range(pl.len()) * SPANS // pl.len()).alias("span")
    rows = table.with_columns((pl.int_range(pl.len()) % every == 0).cast(pl.Float64).alias("sample"), spans)
    slow = pl.col("fct_ns").rank("ordinal", descending=True).over("span") <= SLOWEST
    return rows.filter((pl.col("sample") > 0) | slow).drop("span")


def _counts(table: pl.DataFrame, time: Axis, begin_ns: int) -> dict[str, Any]:
    starts, ends = _floats(table["start_ns"]), _floats((table["start_ns"] + table["fct_ns"]).drop_nulls())
    edges = np.linspace(starts.min(), max(starts.max(), ends.max(initial=0.0)), COUNTS + 1)
    return {
        "x": packed((edges - begin_ns) / time.scale),
        "begun": packed(np.searchsorted(np.sort(starts), edges, side="right").astype(np.float64)),
        "ended": packed(np.searchsorted(np.sort(ends), edges, side="left").astype(np.float64)),
    }
