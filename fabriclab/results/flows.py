"""One row a flow: the trace joined with what both sides logged, and what an idle path would have taken.

Status, first rule that holds:
`complete`  the receiver read everything;
`failed: X` a side failed with errno X (the sender's is taken when both did);
`stopped`   a side was cut: a long flow at its stop time, or any flow at the end of the run;
`unstarted` a side knew the flow and its time never came;
`lost`      no row tells how it ended: the virtual machine died before the log was written. A
            sender's `complete` without the receiver's row is `lost` too, because the completion time is.

Recovery, from the sender's counters of this flow (null where it logged none; of an RDMA READ from both sides'):
`none`              no segment was sent again;
`fast retransmit`   segments were, and no retransmission timer ran out: duplicate acknowledgements, RACK (RFC 8985) or a
tail-loss probe; `timeout`, `several timeouts`   the retransmission timer ran out (RFC 6298) once, or more than once.

Other columns that are not the trace's or the log's own:
  fct_ns              last byte read - start, of complete sized flows
  transport_asked, transport   what the trace asked for, what the connection was: `tcp`, `mptcp` or `fallback`
  congestion_control  the trace's, else that of the sender's host
  base_rtt_ns, ideal_ns   of the idle path, by the formula of `fabriclab.results.idle_path`; slowdown is fct_ns /
                          ideal_ns
  deadline_missed     null without a deadline; an incomplete flow missed it. The deadline of flows of a group counts
                      from the first start of those with the same deadline
  ip                  the version of IP, 4 or 6; null where the fabric has IPv4 only
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from fabriclab.formats.framing import ROCE_TELEMETRY_BYTES
from fabriclab.formats.logs import FLOW_LOG
from fabriclab.formats.plan import Plan
from fabriclab.formats.plan.roce import Roce
from fabriclab.formats.run_directory import FLOW_LOGS, TRACE_FILE
from fabriclab.formats.trace import TRACE
from fabriclab.results.csv_logs import ResultsError, Scan, scan_csv
from fabriclab.results.idle_path import ideal_columns, path_table, roce_ideal, roce_line_time
from fabriclab.results.iperf3 import scan_iperf3

FLOW_SCHEMA = {
    "flow": pl.Int64,
    "class": pl.String,
    "src": pl.String,
    "dst": pl.String,
    "size_bytes": pl.Int64,
    "start_ns": pl.Int64,
    "connected_ns": pl.Int64,
    "first_byte_ns": pl.Int64,
    "end_ns": pl.Int64,
    "fct_ns": pl.Int64,
    "bytes": pl.Int64,
    "status": pl.String,
    "retransmits": pl.Int64,
    "timeouts": pl.Int64,
    "marks": pl.Int64,
    "delivered": pl.Int64,
    "min_rtt_us": pl.Int64,
    "srtt_us": pl.Int64,
    "group": pl.String,
    "stop_ns": pl.Int64,
    "mode": pl.String,
    "transport_asked": pl.String,
    "transport": pl.String,
    "subflows": pl.Int64,
    "congestion_control": pl.String,
    "dscp": pl.Int64,
    "recovery": pl.String,
    "deadline_ns": pl.Int64,
    "deadline_missed": pl.Boolean,
    "base_rtt_ns": pl.Int64,
    "ideal_ns": pl.Int64,
    "slowdown": pl.Float64,
    "ip": pl.Int64,
}
"""Columns of flows.parquet. `ip` is in that of a fabric with IPv6 only."""
FLOW_COLUMNS = tuple(FLOW_SCHEMA)
RECOVERIES = ("none", "fast retransmit", "timeout", "several timeouts")
_SENDER_COUNTERS = ("retransmits", "timeouts", "marks", "delivered", "min_rtt_us", "srtt_us", "transport", "subflows")
_SENDER_COLUMNS = ("status", "start_ns", "connected_ns", *_SENDER_COUNTERS)
_READER_COUNTERS = ("retransmits", "timeouts")
_RECEIVER_COLUMNS = (
    *("status", "start_ns", "connected_ns", "first_byte_ns", "end_ns", "bytes", "transport"),
    *_READER_COUNTERS,
)


def scan_flow_logs(run_dir: Path) -> Scan:
    """Return the rows of every host's flow log, lazily, and of iperf3's flows (`raw/`),
    and notes on files that are not whole."""
    scans = [
        scan_csv(path, FLOW_LOG, f"{FLOW_LOGS}/{path.name}") for path in sorted((run_dir / FLOW_LOGS).glob("*.csv"))
    ]
    scans.append(scan_iperf3(run_dir))
    return Scan(pl.concat([scan.rows for scan in scans]), tuple(note for scan in scans for note in scan.notes))


def join_flows(trace: pl.LazyFrame, log: pl.LazyFrame, plan: Plan) -> pl.DataFrame:
    """Return one row a flow of the trace, sorted by flow, with the columns of FLOW_SCHEMA.

    Raises ResultsError when a side logged a flow twice.
    """
    joined = (
        asked_flows(trace, plan)
        .join(_side(log, "src", _SENDER_COLUMNS), on="flow", how="left")
        .join(_side(log, "dst", _RECEIVER_COLUMNS), on="flow", how="left")
        .with_columns(*_of_the_starting_side("start_ns", "connected_ns"), _joined_status().alias("status"))
        .rename({f"dst_{name}": name for name in ("first_byte_ns", "end_ns", "bytes")})
        .with_columns(
            pl.coalesce("src_transport", "dst_transport").alias("transport"),
            *[_counted(name) for name in _SENDER_COUNTERS if name != "transport"],
            _completion_time().alias("fct_ns"),
        )
        .with_columns(_recovery().alias("recovery"), (pl.col("fct_ns") / pl.col("ideal_ns")).alias("slowdown"))
        .with_columns(pl.lit(None, dtype=pl.Boolean).alias("deadline_missed"))
        .select(FLOW_COLUMNS if 6 in plan.families else FLOW_COLUMNS[:-1])
        .collect(engine="streaming")
        .sort("flow")
    )
    _require_one_row_a_flow(joined)
    # The window over groups costs memory that most runs need not spend.
    has_deadlines = joined["deadline_ns"].null_count() < joined.height
    return joined.with_columns(_deadline_missed().alias("deadline_missed")) if has_deadlines else joined


def scan_flows(run_dirs: Sequence[Path], *, path_column: str | None = None) -> pl.LazyFrame:
    """Return the flows of one run or several, lazily; `path_column` holds each row's file.

    What an older version lacked is null.
    """
    files = [run_dir.absolute() / "flows.parquet" for run_dir in run_dirs]
    return pl.scan_parquet(
        files,
        glob=False,
        schema=FLOW_SCHEMA,
        missing_columns="insert",
        extra_columns="ignore",
        include_file_paths=path_column,
    )


def is_done() -> pl.Expr:
    """Return whether a flow of flows.parquet did all that it was meant to do, in a run that ended by itself.

    `fabriclab.results.summary.is_finished` knows how the run ended, and tells a flow that was cut from one that was to
    stop.
    """
    return (pl.col("status") == "complete") | ((pl.col("status") == "stopped") & pl.col("stop_ns").is_not_null())


def waited_for_timeout() -> pl.Expr:
    """Return whether a flow's retransmission timer ran out; null where nobody logged it."""
    return pl.col("recovery").is_in(RECOVERIES[2:])


def asked_flows(trace: pl.LazyFrame, plan: Plan) -> pl.LazyFrame:
    """Return the trace with its defaults filled in, with the ideal of each flow and what it takes on the line
    (`fabriclab.results.idle_path`)."""
    pairs = trace.select("src", "dst").unique().collect(engine="streaming")
    hosts = [(node.name, node.transport and node.transport.congestion_control) for node in plan.nodes]
    controls = pl.LazyFrame(hosts, schema={"src": pl.String, "host_control": pl.String}, orient="row")
    asked = (
        trace.rename({"start_ns": "planned_ns", "transport": "transport_asked"})
        .with_columns(pl.col("ip").fill_null(plan.families[0]))
        .with_columns(
            pl.col("mode").fill_null("push"), pl.col("transport_asked").fill_null("tcp"), pl.col("dscp").fill_null(0)
        )
        .join(controls, on="src", how="left")
        .with_columns(pl.coalesce("congestion_control", "host_control").alias("congestion_control"))
        .join(path_table(plan, pairs.iter_rows()), on=["src", "dst"], how="left")
        .with_columns(*ideal_columns(pl.col("ip") if 6 in plan.families else None))
    )
    return _of_roce(asked, plan) if plan.uses_roce else asked


def _of_roce(asked: pl.LazyFrame, plan: Plan) -> pl.LazyFrame:
    """Return the trace with what the senders' NICs say of their flows over RoCE."""
    ports = [(node.name, port.nic) for node in plan.nodes for port in node.ports]
    # All ports of a host have the same NIC.
    nics = {name: nic.roce for name, nic in ports if nic is not None and nic.roce is not None}
    rows = [
        (name, roce.mtu, roce.dscp, ROCE_TELEMETRY_BYTES if roce.sends_telemetry else 0, _control(roce))
        for name, roce in nics.items()
    ]
    numbers = dict.fromkeys(("roce_mtu", "roce_dscp", "roce_behind"), pl.Int64)
    schema = {"src": pl.String, **numbers, "roce_control": pl.String}
    over_roce = pl.col("transport_asked") == "roce"

    def instead(name: str, value: pl.Expr) -> pl.Expr:
        return pl.when(over_roce).then(value).otherwise(pl.col(name)).alias(name)

    return asked.join(pl.LazyFrame(rows, schema=schema, orient="row"), on="src", how="left").with_columns(
        instead("ideal_ns", roce_ideal()),
        instead("line_ns", roce_line_time()),
        instead("dscp", pl.col("roce_dscp")),
        instead("congestion_control", pl.col("roce_control")),
    )


def _control(roce: Roce) -> str:
    return "none" if roce.control is None else roce.control.name


def _side(log: pl.LazyFrame, side: str, columns: tuple[str, ...]) -> pl.LazyFrame:
    return log.filter(pl.col("side") == side).select(
        "flow", *(pl.col(column).alias(f"{side}_{column}") for column in columns)
    )


def _of_the_starting_side(*names: str) -> list[pl.Expr]:
    asked = pl.col("mode").is_in(("pull", "read"))
    return [pl.when(asked).then(f"dst_{name}").otherwise(f"src_{name}").alias(name) for name in names]


def _counted(name: str) -> pl.Expr:
    """Return a counter of the sender's. Of a READ its receiver counts the timeouts and what it asked for again; the
    sender counts what it sent again until it had sent all once."""
    sender = pl.col(f"src_{name}")
    if name not in _READER_COUNTERS:
        return sender.alias(name)
    reader = pl.max_horizontal(sender, f"dst_{name}")
    return pl.when(pl.col("mode") == "read").then(reader).otherwise(sender).alias(name)


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
    return pl.when(finished).then(pl.col("end_ns") - pl.col("start_ns"))


def _recovery() -> pl.Expr:
    timeouts, retransmits = pl.col("timeouts"), pl.col("retransmits")
    none, fast, once, several = (pl.lit(recovery) for recovery in RECOVERIES)
    return (
        pl.when(timeouts > 1)
        .then(several)
        .when(timeouts == 1)
        .then(once)
        .when(retransmits == 0)
        .then(none)
        .when(timeouts == 0)
        .then(fast)
    )


def _deadline_missed() -> pl.Expr:
    together = pl.col("start_ns").min().over("group", "deadline_ns")
    since = pl.when(pl.col("group").is_null()).then("start_ns").otherwise(together)
    late = (pl.col("status") != "complete") | (pl.col("end_ns") - since > pl.col("deadline_ns"))
    return pl.when(pl.col("deadline_ns").is_not_null() & pl.col("size_bytes").is_not_null()).then(late)


def _require_one_row_a_flow(flows: pl.DataFrame) -> None:
    repeated = flows.filter(pl.col("flow") == pl.col("flow").shift(1))
    if not repeated.is_empty():
        flow = repeated["flow"][0]
        raise ResultsError(
            f"raw/flows: flow {flow}: one side has two rows (or the trace has); each flow must have one row for each "
            "side"
        )


def read_trace(run_dir: Path) -> Scan:
    """Return the flow trace of a run.

    Raises ResultsError when it is missing: without it nobody knows which flows are lost.
    """
    path = run_dir / TRACE_FILE
    if not path.exists():
        raise ResultsError(f"{path}: missing; a run directory must have its flow trace there")
    return scan_csv(path, TRACE, TRACE_FILE)
