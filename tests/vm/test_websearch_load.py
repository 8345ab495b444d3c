"""A small cut of labs/websearch-load: the load that was asked for arrives, every flow ends,
and what ECN does for the short ones shows."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from lab_runs import run_lab

from fabriclab.results import Results, read_run

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]


def run(directory: Path, variant: str) -> Results:
    result = run_lab(
        directory, "websearch-load", f"variant={variant}", "load=60 %", "traffic.web.stop=250 ms", out=variant
    )
    return read_run(result.directory)


@pytest.mark.slow("runs the lab's whole mix of flows, cut in time")
def test_a_cut(tmp_path: Path) -> None:
    cubic, dctcp = run(tmp_path, "cubic"), run(tmp_path, "dctcp")
    for results in (cubic, dctcp):
        flows = results.flows.select("src", "dst", "size_bytes", "slowdown").collect()
        assert results.summary["flows_complete"] == len(flows) > 200
        assert flows["size_bytes"].max() == 10_000_000
        assert flows.filter(pl.col("src") == pl.col("dst")).is_empty()
        # Nobody is faster than alone on an idle path.
        assert float(str(flows["slowdown"].min())) >= 0.99
    assert cubic.flows.select("flow", "start_ns").collect().equals(dctcp.flows.select("flow", "start_ns").collect())
    assert float(str(cubic.summary["slowdown_median"])) > float(str(dctcp.summary["slowdown_median"]))
    assert float(str(cubic.summary["retransmits"])) > 1000 > 10 * float(str(dctcp.summary["retransmits"]))
