"""Sweeps on a cluster: workers in processes of their own, with a stand-in for the machine."""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import fake_machine
import pytest
from cluster import Cluster
from cluster_bench import ROUNDS, RUN, Bench, files_of, hosts_of

import fabriclab
from fabriclab.cli.host.progress import in_words, left_seconds
from fabriclab.cluster import on_worker, parse_place, places, results_transfer
from fabriclab.cluster.messages import PointTask, UnknownSweepError

pytestmark = pytest.mark.xdist_group("cluster")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    made = Bench(tmp_path, monkeypatch)
    made.machine(ROUNDS + RUN)
    return made


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path / "dask")
    try:
        made.start()
        yield made
    finally:
        made.close()


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers do not see the sweep's directory: what they are told to look for is not there."""
    monkeypatch.setattr("fabriclab.cluster.sweeping.told_of", lambda token: f"{token}-of-another-host")


@pytest.mark.usefixtures("blind")
@pytest.mark.slow("starts Dask's scheduler and workers as processes")
def test_points_are_the_same_wherever_they_ran(bench: Bench, cluster: Cluster) -> None:
    cluster.add("one")
    cluster.add("two")
    bench.sweep(out="here")
    there = bench.sweep(on=str(cluster.file), out="there")
    assert set(there.statuses) == {"complete"}
    assert files_of(Path("there")) == files_of(Path("here"))
    assert hosts_of(Path("here")) == {None} and hosts_of(Path("there")) <= {"one", "two"}
    # What the machine is started from went into caches of their own; nothing is left on the way.
    for name in hosts_of(Path("there")):
        assert (cluster.cache(str(name)) / "kernel" / "0123456789abcdef" / "linux").is_file()
    assert [path.name for path in Path("there").iterdir() if path.name.startswith(".")] == []
    assert list(cluster.directory.rglob("run-*")) == []
    assert "Dask's scheduler: tcp://127.0.0.1:" in bench.told.notices and "joined" in bench.told.notices
    stages = {event.stage for event in bench.told if isinstance(event, fabriclab.Progress)}
    assert {"boot", "traffic", "results"} <= stages
    again = bench.sweep(on=str(cluster.file), out="there")
    assert list(again.statuses) == list(there.statuses)


def test_a_directory_that_is_shared_is_written_to(bench: Bench, cluster: Cluster) -> None:
    cluster.add("one")
    bench.sweep(out="here", keep="results")
    bench.sweep(on=cluster.address, out="there", keep="results")
    assert files_of(Path("there")) == files_of(Path("here"))
    assert {name for run in files_of(Path("there")).values() for name in run} >= {"flows.parquet", "summary.json"}
    assert not any(name.startswith(("nodes/", "logs/")) for run in files_of(Path("there")).values() for name in run)


@pytest.mark.usefixtures("blind")
@pytest.mark.slow("starts Dask's scheduler and workers, one of which is killed and missed after a while")
def test_what_a_lost_worker_had_runs_elsewhere(bench: Bench, cluster: Cluster, tmp_path: Path) -> None:
    # The first of its points takes the worker along, which is what the machine was started by.
    once = f'if [ "$is_known" = 0 ] && mkdir "{tmp_path}/killed" 2>/dev/null; then kill -KILL $PPID; sleep 60; fi\n'
    bench.machine(ROUNDS + once + RUN)
    cluster.add("one")
    bench.sweep(on=cluster.address, out="there")
    bench.machine(ROUNDS + RUN)
    bench.sweep(out="here")
    assert files_of(Path("there")) == files_of(Path("here"))
    assert "is lost; its points run again elsewhere: " in bench.told.notices


@pytest.mark.slow("starts Dask's scheduler and workers as processes")
def test_a_point_that_fails_twice_is_reported_and_the_rest_goes_on(
    bench: Bench, cluster: Cluster, tmp_path: Path
) -> None:
    dies = f'if [ "$is_known$rounds" = 05 ]; then mkdir "{tmp_path}/$$"; echo Oops; exit 3; fi\n'
    once = f'if [ "$is_known$rounds" = 04 ] && mkdir "{tmp_path}/once" 2>/dev/null; then exit 3; fi\n'
    bench.machine(ROUNDS + dies + once + RUN)
    cluster.add("one", (), "--nthreads", "2")
    done = bench.sweep(on=cluster.address, out="there")
    failed = [status for status in done.statuses if status != "complete"]
    assert failed == ["crashed"]
    assert sum(path.name.isdigit() for path in tmp_path.iterdir()) == 2
    (result,) = [
        event.result for event in bench.told if isinstance(event, fabriclab.Ended) and event.result.status != "complete"
    ]
    assert "it failed twice" in result.message and "Oops" in result.message
    assert bench.told.notices.count("is run once more") == 2


@pytest.mark.usefixtures("blind")
@pytest.mark.slow("starts Dask's scheduler and workers as processes")
def test_a_worker_without_space_is_left_out(bench: Bench, cluster: Cluster) -> None:
    # No file of more than 16 KiB there: the machine's own files are larger.
    (bench.directory / "cache" / "kernel" / "0123456789abcdef" / "ballast").write_bytes(os.urandom(1 << 16))
    cluster.add("small", ("prlimit", "--fsize=16384"))
    with pytest.raises(fabriclab.EngineError, match="no worker of the cluster can run points: worker tcp://") as caught:
        bench.sweep(on=cluster.address, out="there")
    assert "no file may become so large" in str(caught.value) or "File too large" in str(caught.value)
    cluster.add("large")
    cluster.wait_for("large")
    done = bench.sweep(on=cluster.address, out="there")
    assert set(done.statuses) == {"complete"} and hosts_of(Path("there")) == {"large"}
    assert "is left out: " in bench.told.notices


@pytest.mark.slow("starts Dask's scheduler and workers as processes")
def test_versions_must_be_the_same(bench: Bench, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.add("one")
    with monkeypatch.context() as other:
        other.setattr(on_worker, "sources_hash", lambda: "of-another")
        with pytest.raises(fabriclab.EngineError, match="same version, but different sources"):
            bench.sweep(on=cluster.address, out="there")
    own = fabriclab.cluster.admission.own_versions()
    with monkeypatch.context() as other:
        other.setattr("fabriclab.cluster.admission.own_versions", lambda: {**own, "distributed": "1.0"})
        with pytest.raises(
            fabriclab.EngineError, match=r"it has distributed .*, but this host has 1\.0; install the same"
        ):
            bench.sweep(on=cluster.address, out="there")
    bench.machine(ROUNDS + 'echo $PPID > "$job/collect/other"\n' + RUN)
    with pytest.raises(
        fabriclab.EngineError, match=r"the reference point gives different bytes there \(collect/other\)"
    ):
        bench.sweep(on=cluster.address, out="there")


@pytest.mark.slow("starts Dask's scheduler and workers as processes")
def test_an_interrupt_loses_nothing(bench: Bench, cluster: Cluster) -> None:
    stays = 'if [ "$is_known" = 0 ] && [ "$rounds" != 3 ]; then\n' + fake_machine.EPOCH + fake_machine.STOPPABLE
    bench.machine(ROUNDS + stays + "exit\nfi\n" + RUN)
    cluster.add("one")
    cancel = fabriclab.Cancel()

    def tell(event: fabriclab.ProgressEvent) -> None:
        if isinstance(event, fabriclab.Ended):
            cancel.request()

    done = fabriclab.sweep(bench.lab, progress=tell, cancel=cancel, on=cluster.address, out="there")
    assert sorted(done.statuses) == ["complete", "interrupted", "interrupted", "interrupted"]
    # It goes on here. (The worker has the machine that stays: the stand-in's hash is always the same.)
    bench.machine(ROUNDS + RUN)
    again = bench.sweep(out="there")
    assert set(again.statuses) == {"complete"}
    (begun,) = [event for event in bench.told if isinstance(event, fabriclab.Begun) and event.done]
    assert begun.done == 1


@pytest.mark.slow("starts Dask's scheduler and workers as processes")
def test_a_scheduler_that_goes_away_ends_the_sweep(
    bench: Bench, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fabriclab.cluster.dispatch._GIVES_UP_S", 1.0)
    monkeypatch.setattr(places, "_CONNECT_S", 3)
    stays = 'if [ "$is_known" = 0 ] && [ "$rounds" != 3 ]; then sleep 60; fi\n'
    bench.machine(ROUNDS + stays + RUN)
    cluster.add("one")

    def tell(event: fabriclab.ProgressEvent) -> None:
        if isinstance(event, fabriclab.Ended):
            cluster.kill_scheduler()

    with pytest.raises(fabriclab.EngineError, match="scheduler no longer answers"):
        fabriclab.sweep(bench.lab, progress=tell, on=cluster.address, out="there")
    statuses = [point["status"] for point in json.loads(Path("there/sweep.json").read_text())["points"]]
    assert sorted(statuses) == ["complete", "missing", "missing", "missing"]


def test_nobody_answers(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_CONNECT_S", 0.3)
    with pytest.raises(fabriclab.EngineError, match=r"--on dask://127\.0\.0\.1:9: no Dask scheduler answers at tcp://"):
        bench.sweep(on="dask://127.0.0.1:9", out="there")
    assert not Path("there").exists()


def test_what_is_missing_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        raise ImportError(name=name)

    monkeypatch.setattr("importlib.import_module", nothing)
    with pytest.raises(
        fabriclab.EngineError, match=r"distributed is not installed.*pip install 'fabriclab\[cluster\]'"
    ):
        bench.sweep(on="dask://127.0.0.1:9")
    with pytest.raises(fabriclab.ArgumentError, match="containers run only on this host"):
        bench.sweep(on="slurm", engine="containerlab")


@pytest.mark.parametrize(
    ("text", "kind", "address"),
    [
        ("dask://node1", "dask", "tcp://node1:8786"),
        ("dask://10.0.0.1:9000", "dask", "tcp://10.0.0.1:9000"),
        ("tls://node1:8786", "dask", "tls://node1:8786"),
        ("ssh://a,user@b", "ssh", "a,user@b"),
        ("slurm", "slurm", ""),
        ("kubernetes", "kubernetes", ""),
    ],
)
def test_places_are_read(text: str, kind: str, address: str) -> None:
    place = parse_place(text)
    assert place is not None and (place.kind, place.address) == (kind, address)


def test_places_that_are_none(tmp_path: Path) -> None:
    assert parse_place("local") is None
    for text in ("dask", "dask://", "dask://node:port", "http://node", "ssh://a b"):
        with pytest.raises(fabriclab.ArgumentError, match="write one of local, dask://HOST:8786"):
            parse_place(text)
    with pytest.raises(fabriclab.ArgumentError, match="no such file"):
        parse_place(str(tmp_path / "none.json"))


def test_a_run_directory_comes_home_whole_or_not_at_all(tmp_path: Path) -> None:
    run = tmp_path / "run"
    (run / "logs").mkdir(parents=True)
    (run / "manifest.json").write_text("{}")
    (run / "logs" / "a").write_bytes(os.urandom(100_000))
    packed = io.BytesIO()
    results_transfer.pack(run, packed)
    content = packed.getvalue()
    results_transfer.unpack([content[:1000], content[1000:]], tmp_path / "part")
    results_transfer.settle(tmp_path / "part", run)
    assert sorted(path.name for path in run.rglob("*")) == ["a", "logs", "manifest.json"]
    with pytest.raises((EOFError, tarfile.TarError, OSError)):
        results_transfer.unpack([content[:5000]], tmp_path / "cut")
    outside = io.BytesIO()
    with tarfile.open(fileobj=outside, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("../outside"))
    with pytest.raises(tarfile.TarError):
        results_transfer.unpack([outside.getvalue()], tmp_path / "bad")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


def test_a_worker_that_knows_no_sweep_says_so() -> None:
    with pytest.raises(UnknownSweepError):
        on_worker.run_point_task(PointTask("unknown", 0, b"", ""))


def test_what_is_left_is_told_from_what_was_done() -> None:
    # 10 points left, two under way and half done: 9 runs of 30 s, two at a time.
    assert left_seconds([20.0, 40.0], 10, 2) == 135.0
    assert left_seconds([0.0], 10, 2) is None
    assert [in_words(left) for left in (5, 150, 3600 * 5)] == [
        "less than a minute to go",
        "about 2 min to go",
        "about 5 h to go",
    ]
