"""A run as a data file of flent (https://flent.org), version 4 of its format, which flent and flent-gui plot.

The file says that it is of flent's test `tcp_nup`: N streams in one direction, with round-trip times and the samples of
qdiscs, so that its plots are offered.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl

from fabriclab.files import replacing
from fabriclab.results import Results, ResultsError, Sweep

TEST = "tcp_nup"
_FORMAT_VERSION = 4
_MADE_FOR = "2.3.0"
"""The version of flent that its plots were tried with."""
_T0_S = 946_684_800
_T0 = "2000-01-01T00:00:00.000000Z"
"""What the epoch is called, as in captures: flent wants a date, and virtual time has none."""
_MOST_STREAMS = 64
"""More connections than that are put together by class: flent draws a line for each stream."""
_MOST_POINTS = 300
"""As many as flent itself has of a minute. What TCP acknowledges at once after a loss is a peak in a shorter step."""
_STREAM, _PING = "TCP upload", "Ping (ms) ICMP"
_TCP_COLUMNS = ("time_ns", "flow", "bytes_acked", "cwnd", "srtt_us", "pacing_bps", "delivery_bps")

Points = list[float | None]
"""A value a step; None: not known."""
Raw = dict[str, float | None]
"""A sample, with flent's names of its values."""


def export_flent(subject: Results | Sweep, directory: Path) -> list[Path]:
    """Write a file for each run, and return the files.

    Raises ResultsError where no TCP connection was sampled, OSError; nothing is left then.
    """
    runs = [subject] if isinstance(subject, Results) else list(subject.runs)
    directory.mkdir(parents=True, exist_ok=True)
    files = []
    with ExitStack() as all_or_none:
        for run in runs:
            text = json.dumps(flent_data(run), indent=1, sort_keys=True, allow_nan=False)
            file = directory / f"{run.directory.resolve().name}.flent.gz"
            all_or_none.enter_context(replacing(file)).write_bytes(gzip.compress(text.encode(), mtime=0))
            files.append(file)
    return files


def flent_data(run: Results) -> dict[str, Any]:
    """Return the file's object. Raises ResultsError where no TCP connection was sampled."""
    samples = _streams(run)
    step_ns = _step_ns(run, samples)
    binned = _binned(samples, step_ns)
    bins = range(max(binned["bin"].to_list(), default=-1) + 1)
    names = dict(enumerate(samples["stream"].unique(maintain_order=True), start=1))
    results = {f"{_STREAM}::{number}": _of_stream(binned, name, "goodput_mbps", bins) for number, name in names.items()}
    by_bin = binned.group_by("bin").agg(
        _sum("goodput_mbps").alias("sum"),
        pl.col("goodput_mbps").mean().alias("avg"),
        (pl.col("goodput_mbps").sum().pow(2) / (pl.col("goodput_mbps").pow(2).sum() * pl.col("goodput_mbps").count()))
        .fill_nan(None)
        .alias("fairness"),
        pl.col("rtt_ms").mean(),
    )
    results |= {f"{_STREAM} {name}": _series(by_bin, name, bins) for name in ("sum", "avg", "fairness")}
    results[_PING] = _series(by_bin, "rtt_ms", bins)
    raw = {f"{_STREAM}::{number}": _raw_stream(binned, name) for number, name in names.items()}
    raw[_PING] = [{"t": _at(at, step_ns), "val": val} for at, val in zip(bins, results[_PING], strict=True)]
    ports = _ports(run, step_ns)
    raw |= {f"qdisc_stats_{port}": rows for port, rows in ports.items()}
    return {
        "version": _FORMAT_VERSION,
        "metadata": _metadata(run, names, list(ports), step_ns, len(bins)),
        "x_values": [at * step_ns / 1e9 for at in bins],
        "results": results,
        "raw_values": raw,
    }


def _streams(run: Results) -> pl.DataFrame:
    """Return the samples of each stream: a connection, all of its subflows together, or all those of a class."""
    file = run.directory / "tcp.parquet"
    if not file.is_file():
        raise ResultsError(f"{run.directory}: TCP was not sampled; write `probes: {{tcp: {{}}}}` in experiment.yml")
    tcp = pl.scan_parquet(file).select(_TCP_COLUMNS).drop_nulls(("flow", "bytes_acked"))
    classes = run.flows.select("flow", pl.col("class").cast(pl.String))
    together = tcp.group_by("time_ns", "flow").agg(*_together())
    # A flow that was started by hand in a live lab is not in the trace.
    classed = together.join(classes, on="flow", how="left").with_columns(pl.col("class").fill_null("by hand"))
    connections = classed.sort("time_ns").collect()
    if connections.is_empty():
        raise ResultsError(
            f"{run.directory}: no TCP connection lasted until the first sample; write a shorter `interval`"
        )
    if connections["flow"].n_unique() <= _MOST_STREAMS:
        name = pl.format("flow {} ({})", "flow", "class")
        return connections.with_columns(name.alias("stream")).sort("flow", "time_ns")
    # Connections come and go: what each has delivered since its last sample is what adds up.
    delivered = connections.with_columns(_grown("flow").alias("bytes_acked"))
    by_class = delivered.group_by("time_ns", "class").agg(*_together()).sort("class", "time_ns")
    return by_class.with_columns(pl.col("bytes_acked").cum_sum().over("class"), pl.col("class").alias("stream"))


def _together() -> list[pl.Expr]:
    summed = [_sum(name) for name in ("bytes_acked", "cwnd", "pacing_bps", "delivery_bps")]
    return [*summed, pl.col("srtt_us").mean()]


def _sum(name: str) -> pl.Expr:
    """Return the sum of what is known; of nothing it is unknown."""
    return pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(name)


def _grown(over: str) -> pl.Expr:
    return pl.col("bytes_acked").cast(pl.Int64).diff().over(over).fill_null(0).clip(lower_bound=0)


def _step_ns(run: Results, samples: pl.DataFrame) -> int:
    """Return the time from one point to the next: as often as was sampled, unless these were too many points."""
    interval_ns = run.plan.probes.tcp_interval_ns or 1
    last_ns: int = max(samples["time_ns"].to_list())
    return interval_ns * max(1, -(-last_ns // (interval_ns * _MOST_POINTS)))


def _binned(samples: pl.DataFrame, step_ns: int) -> pl.DataFrame:
    """Return each stream's last sample of each step, and its goodput since the one before."""
    return (
        samples.filter(pl.col("time_ns") >= 0)
        .with_columns((pl.col("time_ns") // step_ns).alias("bin"))
        .group_by("stream", "bin", maintain_order=True)
        .last()
        .with_columns(
            (_grown("stream") * 8e3 / pl.col("time_ns").diff().over("stream")).alias("goodput_mbps"),
            (pl.col("srtt_us") / 1e3).alias("rtt_ms"),
        )
    )


def _of_stream(binned: pl.DataFrame, stream: str, column: str, bins: Sequence[int]) -> Points:
    return _series(binned.filter(pl.col("stream") == stream), column, bins)


def _series(frame: pl.DataFrame, column: str, bins: Sequence[int]) -> Points:
    by_bin = dict(frame.select("bin", column).iter_rows())
    return [by_bin.get(at) for at in bins]


def _raw_stream(binned: pl.DataFrame, stream: str) -> list[Raw]:
    own = binned.filter(pl.col("stream") == stream)
    kept = own.select(
        (_T0_S + pl.col("time_ns") / 1e9).alias("t"),
        pl.col("goodput_mbps").alias("val"),
        pl.col("rtt_ms").alias("tcp_rtt"),
        pl.col("cwnd").alias("tcp_cwnd"),
        (pl.col("pacing_bps") / 1e6).alias("tcp_pacing_rate"),
        (pl.col("delivery_bps") / 1e6).alias("tcp_delivery_rate"),
    )
    return [{name: value for name, value in row.items() if value is not None} for row in kept.iter_rows(named=True)]


def _at(at: int, step_ns: int) -> float:
    return _T0_S + at * step_ns / 1e9


def _ports(run: Results, step_ns: int) -> dict[str, list[Raw]]:
    """Return the samples of each port's queue: what stands in it, what was dropped and marked since the last."""
    file = run.directory / "queues.parquet"
    return {} if not file.is_file() else dict(_read_ports(pl.scan_parquet(file), step_ns))


def _read_ports(queues: pl.LazyFrame, step_ns: int) -> Iterator[tuple[str, list[Raw]]]:
    columns = ("time_ns", "port", "bytes", "drops", "marks")
    rows = queues.select(columns).filter(pl.col("time_ns") >= 0).with_columns(pl.col("port").cast(pl.String))
    stepped = rows.with_columns((pl.col("time_ns") // step_ns).alias("bin")).group_by("port", "bin").last()
    counted = stepped.sort("port", "bin").with_columns(pl.col("drops", "marks").cast(pl.Int64).diff().over("port"))
    for (port,), own in counted.collect().group_by("port", maintain_order=True):
        # A `*` in flent's plots matches no colon.
        yield str(port).replace(":", "-"), [_sample(*row) for row in own.select(columns).drop("port").iter_rows()]


def _sample(time_ns: int, backlog: int | None, drops: int | None, marks: int | None) -> Raw:
    known = {"backlog_bytes": backlog, "dropped": drops, "ecn_mark": marks}
    return {"t": _T0_S + time_ns / 1e9, **{name: value for name, value in known.items() if value is not None}}


def _metadata(run: Results, names: dict[int, str], ports: list[str], step_ns: int, points: int) -> dict[str, Any]:
    settings = ", ".join(f"{name} {value}" for name, value in run.settings.items())
    length_s = points * step_ns / 1e9
    streams = {f"{_STREAM}::{number}": {"UNITS": "Mbits/s", "ID": name} for number, name in names.items()}
    parameters = {"upload_streams": str(len(names))}
    if ports:
        interfaces = ",".join(port.rpartition("-")[2] for port in ports)
        parameters |= {"qdisc_stats_hosts": ",".join(ports), "qdisc_stats_interfaces": interfaces}
    return {
        **{"NAME": TEST, "TITLE": f"{run.plan.lab} {settings}".strip(), "HOST": "fabriclab", "HOSTS": ["fabriclab"]},
        **{"LOCAL_HOST": "fabriclab", "TIME": _T0, "T0": _T0, "FLENT_VERSION": _MADE_FOR, "IP_VERSION": 4},
        **{"LENGTH": length_s, "TOTAL_LENGTH": length_s, "STEP_SIZE": step_ns / 1e9, "DATA_FILENAME": None},
        "NOTE": f"{run.title}, by fabriclab in virtual time. Ping (ms) ICMP is the mean of TCP's smoothed round-trip "
        "times; no ICMP was sent.",
        "TEST_PARAMETERS": parameters,
        "SERIES_META": streams | {_PING: {"UNITS": "ms"}},
    }
