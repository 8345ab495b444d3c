"""A small cut of the lab of study S2: what timeouts of in-cast, deep buffers and DCTCP do to
queries and short messages."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from lab_runs import run_lab

from fabriclab.results import coflow_table

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

RTO_MIN_NS = 300_000_000
JITTER_NS = 10_000_000


def run(directory: Path, *settings: str, duration: str = "150 ms") -> pl.DataFrame:
    """Run a part of the lab; return its flows. All are complete: the lab's own check says so."""
    return run_lab(directory, "query-mix", f"duration={duration}", *settings).flows()


def queries(flows: pl.DataFrame) -> pl.DataFrame:
    """Return the queries: a coflow of 43 answers each, with its completion time."""
    table = coflow_table(flows.filter(pl.col("class") == "query").lazy()).filter(pl.col("level") == "coflow")
    assert set(table["flows"]) == {43}
    return table


@pytest.mark.slow("runs the mix of queries in three variants")
def test_deep_buffers_mend_what_dctcp_mends_without_them(tmp_path: Path) -> None:
    flows = {
        variant: run(tmp_path, f"variant={variant}", duration="300 ms")
        for variant in ("tcp-shallow", "tcp-deep", "dctcp-shallow")
    }
    trace = ("flow", "src", "dst", "size_bytes", "class")
    first, *others = (each.sort("flow").select(trace) for each in flows.values())
    assert all(first.equals(other) for other in others)
    query = {
        variant: queries(each).select(slowest=pl.col("completion_ns").max(), median=pl.col("completion_ns").median())
        for variant, each in flows.items()
    }
    slowest, median = (
        {variant: each[name].item() for variant, each in query.items()} for name in ("slowest", "median")
    )
    assert slowest["tcp-shallow"] >= RTO_MIN_NS > max(slowest["tcp-deep"], slowest["dctcp-shallow"])
    assert median["tcp-deep"] > max(median["tcp-shallow"], median["dctcp-shallow"])
    messages = {
        variant: each.filter(pl.col("class") == "message").select(pl.col("fct_ns").median()).item()
        for variant, each in flows.items()
    }
    assert messages["tcp-deep"] > max(messages["tcp-shallow"], messages["dctcp-shallow"])
    assert flows["dctcp-shallow"]["timeouts"].sum() == 0


def test_jitter_moves_the_requests_alone(tmp_path: Path) -> None:
    flows = run(
        tmp_path,
        "variant=dctcp-shallow",
        "jitter=10 ms",
        "traffic.update.enabled=false",
        "traffic.message.enabled=false",
    )
    spread = flows.group_by("group").agg((pl.col("start_ns").max() - pl.col("start_ns").min()).alias("ns"))
    assert spread.select(pl.col("ns").is_between(JITTER_NS // 2, JITTER_NS).all()).item()
    assert queries(flows).select(pl.col("completion_ns").median()).item() > JITTER_NS / 2
