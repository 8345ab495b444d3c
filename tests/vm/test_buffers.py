"""A small cut of the lab of study S0: what deep and shallow buffers, ECN and PFC do to a job beside other traffic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from lab_runs import run_lab

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

COMPUTE_NODES = 14
SHORT = ("size=20 MB", "duration=200 ms")


def run(directory: Path, variant: str, *settings: str) -> dict[str, Any]:
    """Run a tenth of the job under load; every check of the lab that concerns it passes.

    Return the summary's metrics.
    """
    return run_lab(directory, "buffers", f"variant={variant}", *SHORT, *settings, out=variant).complete_metrics()


@pytest.mark.slow("runs the lab in several variants")
def test_what_stands_before_a_compute_node(tmp_path: Path) -> None:
    """Deep buffers hold milliseconds, shallow ones drop, ECN keeps the queue short and every packet."""
    deep, shallow, ecn = (run(tmp_path, variant) for variant in ("deep", "shallow", "shallow-ecn"))
    queue = "queue_mean_bytes[leaf-b:eth1]"
    assert deep[queue] > 3 * shallow[queue] > 3 * 2 * ecn[queue]
    assert shallow["queue_drops"] > deep["queue_drops"] > ecn["queue_drops"] == 0
    assert ecn["ecn_marks"] > 0 == ecn["retransmits"]


@pytest.mark.slow("runs the lab in several variants")
def test_pfc_alone_pauses_and_discards_what_does_not_stop(tmp_path: Path) -> None:
    """The compute nodes stop; the spine, which knows nothing of PFC, does not. With ECN nobody has to."""
    alone, with_ecn = run(tmp_path, "shallow-pfc"), run(tmp_path, "shallow-ecn-pfc")
    assert alone["queue_drops"] == 0
    assert alone["ingress_discards"] == alone["ingress_discards[leaf-b:eth15]"] > 0
    servers = [alone[f"pauses_sent[leaf-b:eth{number}]"] for number in range(1, COMPUTE_NODES + 1)]
    assert min(servers) > 100
    assert (with_ecn["queue_drops"], with_ecn["ingress_discards"], with_ecn["pauses_sent"]) == (0, 0, 0)


@pytest.mark.slow("runs the lab in several variants")
def test_data_nodes_as_linux_comes_refuse_the_ecn_of_dctcp_only(tmp_path: Path) -> None:
    marks = {}
    for variant in ("mixed-htcp", "mixed-dctcp"):
        run(tmp_path, variant)
        flows = pl.read_parquet(tmp_path / variant / "flows.parquet").filter(
            pl.col("group").str.starts_with("job/output/")
        )
        assert flows.height == COMPUTE_NODES
        marks[variant] = flows["marks"].sum()
    assert marks["mixed-htcp"] > 0 == marks["mixed-dctcp"]
