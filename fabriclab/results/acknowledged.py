"""What the senders of long flows were acknowledged over time, by the TCP samples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

Array = npt.NDArray[np.float64]


def long_lives(flows: pl.LazyFrame, tcp: pl.LazyFrame) -> pl.DataFrame:
    """Return flow, src, start_ns and end_ns of the long flows that were not broken off.

    One that got nothing through ran none the less: it ends when it was stopped, at the last sample in a run that was
    cut, not at the last byte that arrived.
    """
    last_ns = tcp.select(pl.col("time_ns").max()).collect(engine="streaming").item()
    ran = flows.filter(
        pl.col("stop_ns").is_not_null() & pl.col("start_ns").is_not_null() & (pl.col("status") == "stopped")
    )
    end = pl.min_horizontal("stop_ns", pl.lit(last_ns, pl.Int64)).alias("end_ns")
    return ran.select("flow", "src", "start_ns", end).collect(engine="streaming")


def acknowledged(tcp: pl.LazyFrame, lives: pl.DataFrame) -> dict[int, pl.DataFrame]:
    """Return time_ns and bytes_acked of each flow's sender; of MPTCP the sum over subflows."""
    senders = lives.lazy().select("flow", pl.col("src").alias("node"))
    rows = tcp.join(senders, on=["flow", "node"], how="semi", maintain_order="left").filter(
        pl.col("bytes_acked").is_not_null()
    )
    subflow = pl.col("subflow").fill_null(-1) if "subflow" in tcp.collect_schema().names() else pl.lit(-1)
    gained = (
        pl.col("bytes_acked")
        .cast(pl.Int64)
        .diff()
        .fill_null(pl.col("bytes_acked").cast(pl.Int64))
        .over("flow", "subflow")
    )
    sums = rows.select("time_ns", "flow", "bytes_acked", subflow.alias("subflow")).select(
        "time_ns", "flow", gained.alias("gained")
    )
    table = sums.with_columns(pl.col("gained").cum_sum().over("flow").alias("bytes")).select("time_ns", "flow", "bytes")
    return {
        int(key[0]): part for key, part in table.collect(engine="streaming").partition_by("flow", as_dict=True).items()
    }


def counter_at(part: pl.DataFrame, times: npt.NDArray[np.int64]) -> Array:
    """Return the counter's value at each time: a row holds until the next; 0 before the first."""
    row = np.searchsorted(part["time_ns"].to_numpy(), times, side="right") - 1
    result: Array = np.where(row >= 0, part["bytes"].to_numpy()[np.maximum(row, 0)], 0).astype(np.float64)
    return result
