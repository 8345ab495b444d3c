"""Sweeps on clusters that are reached or started in other ways than by a scheduler's plain address."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cluster_ways
import dask
import distributed
import pytest
from cluster import Cluster
from cluster_bench import ROUNDS, RUN, Bench, hosts_of
from patience import patient

import fabriclab
from fabriclab.cluster import places

pytestmark = pytest.mark.xdist_group("cluster")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(tmp_path, monkeypatch)
    made.machine(ROUNDS + RUN)
    made.hide()
    return made


@pytest.mark.slow("makes certificates, starts Dask's scheduler and workers as processes")
def test_tls_needs_certificates_and_then_works(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster_ways.needed("openssl")
    with pytest.raises(
        fabriclab.EngineError, match=r"--on tls://127\.0\.0\.1:9: TLS needs certificates, but Dask's .* names none"
    ):
        bench.sweep(on="tls://127.0.0.1:9", out="none")
    settings = cluster_ways.certify(tmp_path / "keys")
    for name, value in cluster_ways.in_environment(settings).items():
        monkeypatch.setenv(name, value)
    cluster = Cluster(tmp_path / "dask")
    try:
        with dask.config.set(settings):
            cluster.start("--protocol", "tls")
            cluster.add("one")
            there = bench.sweep(on=cluster.address, out="there")
        with (
            dask.config.set(settings | {"distributed.comm.tls.ca-file": str(tmp_path / "gone.pem")}),
            pytest.raises(fabriclab.EngineError, match=r"can't be used \(.*No such file.*gone\.pem"),
        ):
            bench.sweep(on=cluster.address, out="none")
    finally:
        cluster.close()
    assert cluster.address.startswith("tls://") and set(there.statuses) == {"complete"}
    assert hosts_of(Path("there")) == {"one"} and not Path("none").exists()


def test_ssh_starts_a_cluster_and_ends_it(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("asyncssh")
    cluster_ways.needed("sshd", "ssh-keygen")
    server = cluster_ways.SshServer(tmp_path / "ssh", f"XDG_CACHE_HOME={tmp_path / 'there'}")
    try:
        monkeypatch.setenv("HOME", str(server.home))
        there = bench.sweep(on="ssh://node1", out="sweep")
    finally:
        server.close()
    assert set(there.statuses) == {"complete"}
    assert (tmp_path / "there/fabriclab/kernel/0123456789abcdef/linux").is_file(), "a cache of its own was filled"
    until = time.monotonic() + patient(60)
    while left := subprocess.run(["pgrep", "-af", str(tmp_path)], capture_output=True, text=True).stdout:
        assert time.monotonic() < until, f"Dask left {left}"
        time.sleep(0.1)


SBATCH = """#!/bin/sh
for file; do :; done
if grep -q 'SBATCH -p full' "$file"; then echo 'sbatch: error: invalid partition specified: full' >&2; exit 1; fi
kept=$(mktemp)  # the script is gone when this returns: Slurm keeps its own copy, too
cp "$file" "$kept"
setsid sh "$kept" >/dev/null 2>&1 &
echo "Submitted batch job $!"
"""
SCANCEL = '#!/bin/sh\nkill -KILL -- "-$1"\n'


def slurm(directory: Path, monkeypatch: pytest.MonkeyPatch, queue: str) -> dict[str, Any]:
    """Put a stand-in for Slurm's commands on the path; return Dask's settings for a queue."""
    if find_spec("dask_jobqueue") is None:
        pytest.skip("dask-jobqueue is an extra that a host may lack: pip install 'fabriclab[slurm]'")
    places._imported("dask_jobqueue", "slurm")  # its defaults, below what is set here
    commands = directory / "slurm"
    commands.mkdir()
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (commands / name).write_text(text)
        (commands / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{commands}:{os.environ['PATH']}")
    monkeypatch.setenv("TMPDIR", str(directory))
    place = str(directory / "dask")
    settings: dict[str, Any] = {"cores": 2, "processes": 1, "memory": "1 GB", "queue": queue, "local-directory": place}
    settings["scheduler-options"] = {"dashboard": False, "host": "127.0.0.1"}
    return {f"jobqueue.slurm.{name}": value for name, value in settings.items()}


def test_what_slurm_refuses_is_told(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    handler = signal.getsignal(signal.SIGINT)
    with (
        dask.config.set(slurm(tmp_path, monkeypatch, "full")),
        pytest.raises(fabriclab.EngineError, match=r"did not accept the job: sbatch: .* partition specified: full \("),
    ):
        bench.sweep(on="slurm", jobs=1, out="none")
    assert not Path("none").exists()
    clusters = [found for found in gc.get_objects() if isinstance(found, distributed.SpecCluster)]
    assert {cluster.status for cluster in clusters} <= {distributed.Status.closed}, "one is left half open"
    assert signal.getsignal(signal.SIGINT) is handler, "Ctrl-C is whose it was"


def test_slurm_runs_workers_as_jobs(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with dask.config.set(slurm(tmp_path, monkeypatch, "all")):
        there = bench.sweep(on="slurm", jobs=3, out="sweep")
    assert set(there.statuses) == {"complete"} and hosts_of(Path("sweep")) <= {"SLURMCluster-0", "SLURMCluster-1"}
