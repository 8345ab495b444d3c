"""`export`, `bundle` and `open`: what is in the files, what a stranger's bundle may not do, whether bits agree."""

from __future__ import annotations

import json
import shutil
import stat
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from synthetic_run import incast_run, incast_sweep
from typer.testing import CliRunner

import fabriclab
from fabriclab.cli.app import app
from fabriclab.results import read_run
from fabriclab.run_bundles import archive
from fabriclab.run_bundles.archive import ArchiveError, pack, unpack
from fabriclab.run_bundles.bundle import read_about, write_bundle
from fabriclab.run_bundles.same_bits import agreements, inputs_agreement, made_otherwise


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = incast_run(tmp_path_factory.mktemp("run") / "run", 2, rounds=2)
    read_run(directory)
    return directory


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return incast_sweep(tmp_path_factory.mktemp("sweep") / "sweep")


def invoke(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    return result.exit_code, result.output


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_a_runs_tables_have_what_was_measured(run: Path, tmp_path: Path, form: str) -> None:
    assert invoke("export", run, "-o", tmp_path / "tables", "--format", form)[0] == 0
    readers: dict[str, Callable[[Path], pl.DataFrame]] = {
        "csv": pl.read_csv,
        "parquet": pl.read_parquet,
        "json": pl.read_ndjson,
    }
    endings = {"csv": "csv", "parquet": "parquet", "json": "jsonl"}
    flows = readers[form](tmp_path / "tables" / f"flows.{endings[form]}")
    measured = read_run(run).flows.collect()
    assert flows.height == measured.height
    assert flows["fct_ns"].to_list() == measured["fct_ns"].to_list()
    summary = readers[form](tmp_path / "tables" / f"summary.{endings[form]}")
    goodput = summary.filter(pl.col("metric") == "goodput_bps")["value"].item()
    assert goodput == read_run(run).summary["goodput_bps"]


def test_a_description_names_every_column_of_every_table(run: Path, tmp_path: Path) -> None:
    files = fabriclab.export(run, tmp_path / "tables", tables=["flows", "queues"])
    assert [file.name for file in files] == ["flows.csv", "queues.csv", "datapackage.json"]
    resources = json.loads(files[-1].read_text())["resources"]
    for resource, file in zip(resources, files, strict=False):
        fields = resource["schema"]["fields"]
        assert [field["name"] for field in fields] == pl.read_csv(file).columns
        assert all(field["description"] for field in fields if field["name"].endswith(("_ns", "_us")))


def test_a_sweeps_tables_have_settings_and_seeds(sweep: Path, tmp_path: Path) -> None:
    fabriclab.export(fabriclab.open_sweep(sweep), tmp_path / "tables", tables=["summary"])
    summary = pl.read_csv(tmp_path / "tables" / "summary.csv")
    assert summary.columns[-2:] == ["metric", "value"]
    assert {"variant", "senders", "seed"} <= set(summary.columns)


def test_what_cannot_be_exported_is_told(run: Path, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine").write_text("mine")
    for arguments, message in (
        ((run, "-o", taken), "already exists"),
        ((run, "-o", tmp_path / "a", "--table", "flowz"), "valid here: flows, queues"),
        ((run, "-o", tmp_path / "b", "--table", "pools"), "has none of the tables pools"),
        ((tmp_path / "none",), "no such directory"),
    ):
        status, said = invoke("export", *arguments)
        assert (status, message in said) == (2, True), said
    assert not (tmp_path / "b").exists()
    assert (taken / "mine").read_text() == "mine"


def test_a_bundle_is_opened_as_it_was(sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fabriclab.open_sweep(sweep).write_report()
    status, said = invoke("bundle", sweep)
    assert (status, "sweep.fabriclab.zip" in said) == (0, True)
    status, said = invoke("open", "sweep.fabriclab.zip", "-o", "opened")
    assert (status, "sweep of the lab" in said) == (0, True)
    inside = {path.relative_to(sweep).as_posix() for path in sweep.rglob("*") if path.is_file()}
    opened = tmp_path / "opened" / "content"
    assert {path.relative_to(opened).as_posix() for path in opened.rglob("*") if path.is_file()} == inside - {
        "report.html"
    }
    assert all((opened / name).read_bytes() == (sweep / name).read_bytes() for name in inside - {"report.html"})
    assert len(fabriclab.open_sweep(opened).runs) == len(fabriclab.open_sweep(sweep).runs)
    assert "fabriclab open" in (tmp_path / "opened" / "README.txt").read_text()


def test_the_same_directory_makes_the_same_bundle(run: Path, tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        write_bundle(run, tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert read_about(tmp_path / "one.zip").kind == "run"


def test_nothing_is_replaced(run: Path, tmp_path: Path) -> None:
    file = tmp_path / "it.zip"
    assert fabriclab.bundle(run, file) == file
    for arguments in (("bundle", run, "-o", file), ("open", file, "-o", tmp_path)):
        status, said = invoke(*arguments)
        assert (status, "already exists" in said) == (2, True)
    assert fabriclab.bundle(run, file, force=True) == file


def test_what_is_no_bundle_is_told(run: Path, tmp_path: Path) -> None:
    text, other, old = tmp_path / "text", tmp_path / "other.zip", tmp_path / "old.zip"
    text.write_text("no archive")
    pack({"a": b"b"}, other)
    pack({"bundle.json": b'{"format": "fabriclab-bundle-0"}'}, old)
    for file, message in (
        (text, "is not a bundle"),
        (other, "it has no bundle.json"),
        (old, "another version"),
        (run, ""),
    ):
        status, said = invoke("open", file, "-o", tmp_path / "opened")
        assert (status, message in said) == (2, True), said
        assert not (tmp_path / "opened").exists()


@pytest.mark.parametrize(
    ("name", "mode", "message"),
    [
        ("../outside", stat.S_IFREG, "leads out"),
        ("/outside", stat.S_IFREG, "leads out"),
        ("a\\..\\b", stat.S_IFREG, "leads out"),
        ("link", stat.S_IFLNK, "is not a plain file"),
        ("pipe", stat.S_IFIFO, "is not a plain file"),
    ],
)
def test_a_strangers_archive_leaves_nothing_outside(tmp_path: Path, name: str, mode: int, message: str) -> None:
    file = tmp_path / "evil.zip"
    with zipfile.ZipFile(file, "w") as evil:
        evil.writestr("fine", "fine")
        entry = zipfile.ZipInfo(name)
        entry.external_attr = (mode | 0o777) << 16
        evil.writestr(entry, "/etc/passwd")
    with pytest.raises(ArchiveError, match=message):
        unpack(file, tmp_path / "in" / "opened")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["evil.zip"]


def test_bombs_doubles_and_damage_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb, doubled, damaged = tmp_path / "bomb.zip", tmp_path / "doubled.zip", tmp_path / "damaged.zip"
    pack({"zeros": b"\0" * (8 << 20)}, bomb)
    with zipfile.ZipFile(doubled, "w") as archive_file, pytest.warns(UserWarning, match="Duplicate"):
        archive_file.writestr("a", "1")
        archive_file.writestr("a", "2")
    pack({"a": b"content that can be damaged" * 9}, damaged)
    data = bytearray(damaged.read_bytes())
    data[40] ^= 0xFF
    damaged.write_bytes(data)
    for file, message in ((bomb, "grows more than 400 times"), (doubled, "twice"), (damaged, "damaged")):
        with pytest.raises(ArchiveError, match=message):
            unpack(file, tmp_path / "opened")
        assert not (tmp_path / "opened").exists()
    monkeypatch.setattr(archive, "MOST_FILES", 0)
    with pytest.raises(ArchiveError, match="holds 1 files"):
        unpack(bomb, tmp_path / "opened")
    monkeypatch.setattr(archive, "MOST_FILES", 9)
    monkeypatch.setattr(archive, "MOST_BYTES", 9)
    with pytest.raises(ArchiveError, match="holds more than"):
        unpack(bomb, tmp_path / "opened")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_runs_agree_or_it_is_told_where_they_begin_to_differ(run: Path, tmp_path: Path) -> None:
    earlier, other = read_run(run), read_run(incast_run(tmp_path / "other", 2, rounds=3))
    assert all(each.is_same for each in agreements(earlier, earlier))
    told = {each.name: each.told for each in agreements(earlier, other)}
    assert "rows instead of" in told["flows"]
    assert "instead of" in told["summary"]
    assert not inputs_agreement(run, tmp_path / "other").is_same
    changed = replace(earlier, manifest=earlier.manifest.model_copy(update={"artefacts": {"kernel": "another"}}))
    assert "kernel (hash)" in next(iter(made_otherwise(earlier, changed)))


def test_a_table_that_differs_is_told_by_row_and_column(run: Path, tmp_path: Path) -> None:
    copy = incast_run(tmp_path / "copy", 2, rounds=2)
    later = read_run(copy)
    queues = pl.read_parquet(copy / "queues.parquet")
    column = pl.when(pl.int_range(pl.len()) == 4).then(99).otherwise(pl.col("bytes")).alias("bytes")
    queues.with_columns(column).write_parquet(copy / "queues.parquet")
    told = {each.name: each.told for each in agreements(read_run(run), later)}
    assert told["queues"].startswith("differs from row 5 on: bytes is 99 instead of")
    queues.drop("drops").write_parquet(copy / "queues.parquet")
    assert (
        "has different columns: drops" in {each.name: each.told for each in agreements(read_run(run), later)}["queues"]
    )
    (copy / "queues.parquet").unlink()
    assert "is missing here" in {each.name: each.told for each in agreements(read_run(run), later)}["queues"]


def test_what_a_killed_machine_left_is_not_packed(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    for place in ("scratch/logs", "nodes/scratch"):
        (copy / place).mkdir(parents=True)
        (copy / place / "file").write_text("x")
    write_bundle(copy, tmp_path / "packed.zip")
    with zipfile.ZipFile(tmp_path / "packed.zip") as archive:
        assert "content/scratch/logs/file" not in archive.namelist()
        assert "content/nodes/scratch/file" in archive.namelist(), "a node may have that name"
