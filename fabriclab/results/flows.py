"""One row a flow: the trace joined with what both sides logged.

Status, first rule that holds:
`complete`  the receiver read everything;
`failed: X` a side failed with errno X (the sender's is taken when both did);
`stopped`   a side was cut: a long flow at its stop time, or any flow at the end of the run;
`unstarted` a side knew the flow and its time never came;
`lost`      no row tells how it ended: the machine died before the log was written. A sender's `complete` without the receiver's
            row is `lost` too, for the completion time is.
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from fabriclab.results.formats import FLOW_LOG, TRACE, ResultsError, Scan, empty_frame, scan_csv

FLOW_COLUMNS = (
    "flow",
    "class",
    "src",
    "dst",
    "size_bytes",
    "start_ns",
    "connected_ns",
    "first_byte_ns",
    "end_ns",
    "fct_ns",
    "bytes",
    "status",
    "retransmits",
    "timeouts",
    "marks",
    "delivered",
    "min_rtt_us",
    "srtt_us",
    "group",
    "stop_ns",
)
_SENDER_COLUMNS = ("status", "start_ns", "connected_ns", "retransmits", "timeouts", "marks", "delivered", "min_rtt_us", "srtt_us")
_RECEIVER_COLUMNS = ("status", "start_ns", "connected_ns", "first_byte_ns", "end_ns", "bytes")


def scan_flow_logs(run_dir: Path) -> Scan:
    """Return the rows of every host's flow log in `raw/flows`, lazily, and notes on files that are not whole."""
    scans = [scan_csv(path, FLOW_LOG, f"raw/flows/{path.name}") for path in sorted((run_dir / "raw" / "flows").glob("*.csv"))]
    rows = pl.concat([scan.rows for scan in scans]) if scans else empty_frame(FLOW_LOG)
    return Scan(rows, tuple(note for scan in scans for note in scan.notes))


def join_flows(trace: pl.LazyFrame, log: pl.LazyFrame) -> pl.DataFrame:
    """Return one row a flow of the trace, sorted by flow, with the columns of FLOW_COLUMNS.

    Raises ResultsError when a side logged a flow twice.
    """
    sender = _side(log, "src", _SENDER_COLUMNS)
    receiver = _side(log, "dst", _RECEIVER_COLUMNS)
    flows = trace.rename({"start_ns": "planned_ns"}).join(sender, on="flow", how="left").join(receiver, on="flow", how="left")
    pulled = pl.col("mode") == "pull"
    joined = (
        flows.with_columns(
            pl.when(pulled).then("dst_start_ns").otherwise("src_start_ns").alias("start_ns"),
            pl.when(pulled).then("dst_connected_ns").otherwise("src_connected_ns").alias("connected_ns"),
            _joined_status().alias("status"),
        )
        .with_columns(_completion_time().alias("fct_ns"))
        .rename({"dst_first_byte_ns": "first_byte_ns", "dst_end_ns": "end_ns", "dst_bytes": "bytes"})
        .rename({f"src_{name}": name for name in ("retransmits", "timeouts", "marks", "delivered", "min_rtt_us", "srtt_us")})
        .select(FLOW_COLUMNS)
        .collect(engine="streaming")
        .sort("flow")
    )
    _require_one_row_a_flow(joined)
    return joined


def _side(log: pl.LazyFrame, side: str, columns: tuple[str, ...]) -> pl.LazyFrame:
    return log.filter(pl.col("side") == side).select("flow", *(pl.col(column).alias(f"{side}_{column}") for column in columns))


def _joined_status() -> pl.Expr:
    sender, receiver = pl.col("src_status"), pl.col("dst_status")

    def either(status: str) -> pl.Expr:
        return (sender == status).fill_null(False) | (receiver == status).fill_null(False)

    return (
        pl.when(receiver == "complete")
        .then(pl.lit("complete"))
        .when(sender.str.starts_with("failed"))
        .then(sender)
        .when(receiver.str.starts_with("failed"))
        .then(receiver)
        .when(either("stopped"))
        .then(pl.lit("stopped"))
        .when(either("unstarted"))
        .then(pl.lit("unstarted"))
        .otherwise(pl.lit("lost"))
    )


def _completion_time() -> pl.Expr:
    finished = (pl.col("status") == "complete") & pl.col("size_bytes").is_not_null()
    return pl.when(finished).then(pl.col("dst_end_ns") - pl.col("start_ns"))


def _require_one_row_a_flow(flows: pl.DataFrame) -> None:
    repeated = flows.filter(pl.col("flow") == pl.col("flow").shift(1))
    if not repeated.is_empty():
        flow = repeated["flow"][0]
        raise ResultsError(f"raw/flows: flow {flow}: two rows of one side (or two in the trace); right is one row a flow and side")


def read_trace(run_dir: Path) -> Scan:
    """Return the flow trace of a run. Raises ResultsError when it is missing: without it nobody knows which flows are lost."""
    path = run_dir / "traffic" / "trace.csv"
    if not path.exists():
        raise ResultsError(f"{path}: missing; a run directory has its flow trace there")
    return scan_csv(path, TRACE, "traffic/trace.csv")
