"""The lab whose switches are what their config_db.json says: BGP of both styles, ECMP, and the loss of a link."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from vm import called

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("artefacts")]

LAB = Path(__file__).parents[2] / "labs" / "sonic-leaf-spine"
STORAGE = 3
"""The queue of DSCP 3."""


def storage_bytes(run: Path, leaf: str) -> list[int]:
    """Return what each uplink of a leaf sent in the lossless class."""
    rows = pl.read_parquet(run / "switch_queues.parquet").filter(pl.col("queue") == STORAGE).sort("time_ns")
    return [
        int(rows.filter(pl.col("port") == f"{leaf}:{port}")["sent_bytes"][-1]) for port in ("Ethernet8", "Ethernet12")
    ]


@pytest.mark.parametrize("cut", ["up", "down"])
def test_the_fabric_carries_its_load_and_survives_a_cut(cut: str, tmp_path: Path) -> None:
    result = called(tmp_path, "run", str(LAB), "--set", f"cut={cut}", "--out", "run", "--no-report")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("pass: ") >= 5 and "fail: " not in result.stdout
    for leaf in ("leaf2", "leaf3", "leaf4"):
        carried = storage_bytes(tmp_path / "run", leaf)
        # ECMP: neither uplink has less than a quarter.
        assert min(carried) > sum(carried) / 4
    lame, whole = storage_bytes(tmp_path / "run", "leaf1")
    assert (lame < whole / 2) == (cut == "down")


def test_an_operator_s_checks_of_routing_pass(tmp_path: Path) -> None:
    result = called(tmp_path, "validate", str(LAB), "--only", "reach", "--out", "out")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "224 of 224 flows" in result.stdout
