"""A sweep on a worker of a cluster gives the bytes of a sweep here: real machines, and a cache of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import Cluster

import fabriclab
from fabriclab.engine.artefacts import Artefacts

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.vm
BOOT_LOG = "logs/kernel.log"
"""It names directories."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path / "dask")
    try:
        made.start()
        made.add("far")
        yield made
    finally:
        made.close()


def files_of(sweep: Path) -> dict[str, dict[str, str]]:
    manifests = {file.parent.name: json.loads(file.read_text()) for file in sweep.glob("points/*/manifest.json")}
    return {
        name: {file: digest for file, digest in manifest["files"].items() if file != BOOT_LOG}
        for name, manifest in manifests.items()
    }


@pytest.mark.slow("starts a scheduler and two workers of Dask, which fetch the machine and run points")
def test_every_byte_is_the_same_wherever_a_point_runs(
    artefacts: Artefacts, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabriclab.cluster.sweeping.told_of", lambda token: f"{token}-of-another-host")
    lab, settings = ROOT / "labs" / "incast", {"senders": 2, "rounds": 1}
    here = fabriclab.sweep(lab, set=settings, seeds=2, out=tmp_path / "here")
    there = fabriclab.sweep(lab, set=settings, seeds=2, out=tmp_path / "there", on=str(cluster.file))
    assert list(here.statuses) == list(there.statuses) == ["complete"] * 4
    assert files_of(tmp_path / "there") == files_of(tmp_path / "here")
    assert len(files_of(tmp_path / "here")) == 4
    hosts = [json.loads(file.read_text())["host"] for file in (tmp_path / "there").glob("points/*/manifest.json")]
    assert {host["worker_name"] for host in hosts} == {"far"}
    assert (cluster.cache("far") / "kernel" / artefacts.kernel.parent.name / "linux").is_file()
