"""Plans that come by other ways than a bundle, and the writers' own guard: no file lies elsewhere."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sample_plans import star

from fabriclab.cluster.on_worker import plan_of
from fabriclab.files import NotReadableError
from fabriclab.formats.plan import PlanError, plan_json
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.reading import LARGEST_PLAN_BYTES
from fabriclab.formats.plan.setup import NodeFile, Setup
from fabriclab.formats.plan.traffic import HadoopJob, HadoopTraffic
from fabriclab.runs.directory import write_inputs

CLUSTER = HadoopTraffic(
    name="c",
    version="3.4.1",
    namenode="h1",
    resourcemanager="h1",
    data_nodes=("h1",),
    compute_nodes=("h2",),
    replication=1,
    block_bytes=1 << 20,
    slots=1,
    jobs=(
        HadoopJob(name="j", kind="jar", start_ns=0, run=("org.apache.hadoop.util.RunJar", "own.jar"), file="own.jar"),
    ),
    jars=(),
)


def test_a_clusters_message_is_a_plan() -> None:
    plan = star()
    assert plan_of(zlib.compress(plan_json(plan).encode())) == plan


# Functions: what is packed here takes a second, which only the worker that needs it spends.
MESSAGES: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "other": lambda: b"no zlib",
    "object": lambda: zlib.compress(b"{}"),
    "path": lambda: zlib.compress(plan_json(star()).replace('"h1"', '"../../h1"').encode()),
    "bomb": lambda: zlib.compress(b" " * (LARGEST_PLAN_BYTES + 100), 9),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_a_clusters_message_is_refused(message: str) -> None:
    content = MESSAGES[message]()
    with pytest.raises(PlanError):
        plan_of(content)


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the writers be all that stands between a plan and the disk."""
    monkeypatch.setattr("fabriclab.runs.directory.check_plan", lambda _: None)


def with_file(path: str) -> Plan:
    """A plan whose records were not read from JSON, so that nobody has looked at them."""
    plan = star()
    first = plan.nodes[0].model_copy(update={"setup": Setup(files=(NodeFile(path=path, text="#!", executable=True),))})
    return plan.model_copy(update={"nodes": (first, *plan.nodes[1:])})


def written(plan: Plan, tmp_path: Path) -> set[str]:
    """Write a run's inputs; return what is there beside the run directory afterwards."""
    (tmp_path / "lab").mkdir(exist_ok=True)
    (tmp_path / "run").mkdir()
    write_inputs(plan, tmp_path / "lab", tmp_path / "run")
    return {path.name for path in tmp_path.iterdir()}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("path", ["/../../../x", "/etc/../../../../x", "/etc/cron.d/../../../../x"])
def test_a_nodes_file_stays_in_its_node(path: str, tmp_path: Path) -> None:
    with pytest.raises(NotReadableError, match="leads out of this directory"):
        written(with_file(path), tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == {"lab", "run"}


def test_a_node_stays_in_the_run_directory(tmp_path: Path) -> None:
    plan = star()
    strange = plan.nodes[0].model_copy(update={"name": "../../h1"})
    with pytest.raises(PlanError):
        written(plan.model_copy(update={"nodes": (strange, *plan.nodes[1:])}), tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == {"lab", "run"}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("file", ["../secret", "sub/../../secret", "link.jar"])
def test_a_jobs_archive_is_the_labs_own(file: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("PK secret")
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "link.jar").symlink_to(tmp_path / "secret")
    job = replace(CLUSTER.jobs[0], file=file)
    with pytest.raises((PlanError, NotReadableError)):
        written(star(traffic=(replace(CLUSTER, jobs=(job,)),)), tmp_path)
    assert not [path for path in (tmp_path / "run").rglob("*") if path.is_file() and "PK" in path.read_text()]


@pytest.mark.usefixtures("unchecked")
def test_a_clusters_directory_is_the_runs_own(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "own.jar").write_text("PK")
    strange = star().model_copy(update={"traffic": (replace(CLUSTER, name="../../out"),)})
    with pytest.raises((PlanError, NotReadableError)):
        written(strange, tmp_path)
    assert {one.name for one in tmp_path.iterdir()} == {"lab", "run"}


def test_what_no_reader_would_take_is_not_written(tmp_path: Path) -> None:
    """Whoever made the plan: else a run would end before it is seen that nobody can read it."""
    with pytest.raises(PlanError, match=r"^title: Input should be a text of at most 65536 letters"):
        written(star().model_copy(update={"title": "a" * 70_000}), tmp_path)
    assert not list((tmp_path / "run").iterdir())


def test_a_sound_plan_is_written(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "own.jar").write_text("PK")
    assert written(with_file("/etc/own"), tmp_path) == {"lab", "run"}
    assert (tmp_path / "run" / "nodes" / "h1" / "root" / "etc" / "own").stat().st_mode & 0o777 == 0o755
