"""A small cut of the lab of study S1: what carries the background, whom it delays, and which waits explain it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from lab_runs import run_lab

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

SHORTER = ("traffic.long.stop=2.5 s", "traffic.short.stop=2 s", "traffic.query.stop=2 s", "traffic.message.stop=2 s")
RTO_MIN_NS = 200_000_000


def run(directory: Path, *settings: str) -> pl.DataFrame:
    """Run two and a half seconds of the lab; return its flows. All are complete: the lab's own checks say so."""
    return run_lab(directory, "mptcp-short-flows", *SHORTER, *settings).flows()


def of_class(flows: pl.DataFrame, name: str) -> pl.DataFrame:
    return flows.filter(pl.col("class") == name)


@pytest.mark.slow("runs the lab in two variants")
def test_uncoupled_subflows_in_the_background_delay_short_flows_by_timeouts(tmp_path: Path) -> None:
    beside_tcp, beside_mptcp = (of_class(run(tmp_path, f"variant={variant}"), "short") for variant in ("tcp", "mptcp"))
    trace = ("src", "dst", "size_bytes")
    assert beside_tcp.select(trace).equals(beside_mptcp.select(trace))
    assert set(beside_mptcp["transport"]) == {"tcp"}
    for statistic in (pl.Expr.mean, pl.Expr.std):
        assert (
            beside_tcp.select(statistic(pl.col("fct_ns"))).item()
            < beside_mptcp.select(statistic(pl.col("fct_ns"))).item()
        )
    waited, unhurt = (beside_mptcp.filter(pl.col("timeouts") > 0), beside_mptcp.filter(pl.col("retransmits") == 0))
    # Of so few flows as many may wait for a timer, each for longer: by the seed 6 beside 6, or 8 beside 12.
    assert waited.height >= beside_tcp.filter(pl.col("timeouts") > 0).height
    assert (waited["fct_ns"] >= RTO_MIN_NS).all()
    assert not unhurt.is_empty()
    assert (unhurt["fct_ns"] < RTO_MIN_NS).all()


def test_the_coupled_background_has_eight_subflows_of_lia(tmp_path: Path) -> None:
    long = of_class(run(tmp_path, "variant=mptcp-lia", "probes.tcp.interval=100 ms", "probes.tcp.traffic=long"), "long")
    assert set(long["transport"]) == {"mptcp"}
    assert set(long["subflows"]) == {8}
    samples = pl.read_parquet(tmp_path / "run" / "tcp.parquet").join(
        long.select("flow", node="src"), on=["flow", "node"]
    )
    established = samples.filter((pl.col("state") == "established") & (pl.col("bytes_acked") > 1_000_000))
    assert set(established["congestion"]) == {"lia"}
    assert (established.group_by("flow").agg(pl.col("subflow").n_unique())["subflow"] > 1).all()


def test_the_mix_is_sent_over_mptcp_where_it_is_asked(tmp_path: Path) -> None:
    flows = run(tmp_path, "variant=mix-beside-lia", "foreground=mptcp")
    groups = json.loads((tmp_path / "run" / "plan.json").read_text())["groups"]
    assert {name: len(hosts) for name, hosts in groups.items()} == {"background": 8, "foreground": 8}
    assert set(flows["class"]) == {"long", "query", "message"}
    for name, least, most in (("query", 2_000, 16_000), ("message", 50_000, 1_000_000)):
        found = of_class(flows, name)
        assert set(found["src"]) <= set(groups["foreground"])
        assert set(found["transport"]) == {"mptcp"}
        assert found["size_bytes"].is_between(least, most).all()
    assert of_class(flows, "message")["subflows"].max() == 8
