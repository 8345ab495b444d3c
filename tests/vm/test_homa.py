"""Messages over Homa in the virtual machine, with the module for Linux that FABRICLAB_HOMA names (docs/homa.md)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import polars as pl
import pytest
from own_labs import TOPOLOGY

import fabriclab

MODULE = os.environ.get("FABRICLAB_HOMA", "")
EXPERIMENT = """title: homa
limit: 100 ms
switches: {default: {buffer: 1 MB}}
traffic:
  pushed: {kind: flows, senders: h1, receiver: h2, size: 100 KB, transport: homa, module: ./homa}
  pulled:
    {kind: flows, senders: h1, receiver: h2, size: 10 KB, mode: pull, start: 20 ms, transport: homa, module: ./homa}
"""

pytestmark = [
    pytest.mark.vm,
    pytest.mark.skipif(not MODULE, reason="Homa's module is not ours to ship; FABRICLAB_HOMA=DIR, a clone, runs it"),
]


@pytest.mark.usefixtures("artefacts")
def test_a_lone_message_takes_its_time_on_the_line(tmp_path: Path) -> None:
    """Homa's headers are longer than TCP's by a few bytes, which is all that it is slower."""
    lab = tmp_path / "lab"
    lab.mkdir()
    (lab / "topology.clab.yml").write_text(TOPOLOGY)
    (lab / "experiment.yml").write_text(EXPERIMENT)
    shutil.copytree(MODULE, lab / "homa")
    fabriclab.trust(lab)
    fabriclab.run(lab, out=tmp_path / "run")
    flows = pl.read_parquet(tmp_path / "run" / "flows.parquet")
    assert flows["status"].to_list() == ["complete"] * 2
    assert flows["transport"].to_list() == ["homa"] * 2
    assert flows["bytes"].to_list() == [100_000, 10_000]
    assert all(1 <= slowdown < 1.05 for slowdown in flows["slowdown"]), flows["slowdown"]
