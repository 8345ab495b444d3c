"""A bundle from a stranger: what may not be unpacked is not, what is damaged is told in one sentence."""

from __future__ import annotations

import shutil
import stat
import zipfile
from collections import namedtuple
from pathlib import Path

import pytest
from synthetic_run import incast_run
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.files import NotReadableError, below
from fabriclab.results import read_run
from fabriclab.run_bundles import archive
from fabriclab.run_bundles.archive import ArchiveError, pack, unpack
from fabriclab.run_bundles.bundle import write_bundle


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = incast_run(tmp_path_factory.mktemp("run") / "run", 2, rounds=2)
    read_run(run)
    file = run.parent / "it.zip"
    write_bundle(run, file)
    return file


def entries_of(bundle: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(bundle) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def refused(file: Path, tmp_path: Path) -> str:
    """Open a bundle by the command; return what it says, of which nothing is left."""
    before = set(tmp_path.rglob("*"))
    result = CliRunner().invoke(app, ["open", str(file), "-o", str(tmp_path / "opened")])
    assert result.exit_code == 2, (result.output, result.exception)
    assert "Traceback" not in result.output and result.output.count("\n") == 1
    assert set(tmp_path.rglob("*")) == before
    return result.output


def test_what_is_larger_than_the_disk_is_not_begun(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10**9, 10**9 - 5000, 5000))
    said = refused(bundle, tmp_path)
    assert "needs" in said and "5 KB are free" in said and str(tmp_path) in said


def test_700_kb_do_not_become_400_mb(bundle: Path, tmp_path: Path) -> None:
    """Many files, each of which grows no more than a bundle's may."""
    file = tmp_path / "bomb.zip"
    text = b"0123456789abcdef" * 60_000
    pack(entries_of(bundle) | {f"content/logs/{number}": text for number in range(420)}, file)
    assert file.stat().st_size < 3 << 20
    assert "may grow at most 100 times" in refused(file, tmp_path)


def test_a_real_bundle_grows_little(bundle: Path, tmp_path: Path) -> None:
    """The bounds of growth hold far from what runs leave: a plan of many alike hosts grows most."""
    with zipfile.ZipFile(bundle) as opened:
        entries = opened.infolist()
    total, packed = sum(entry.file_size for entry in entries), sum(entry.compress_size for entry in entries)
    assert total / packed < archive.MOST_RATIO / 5
    assert max(entry.file_size / max(1, entry.compress_size) for entry in entries) < archive.MOST_FILE_RATIO / 5
    unpack(bundle, tmp_path / "opened")


@pytest.mark.parametrize(
    ("name", "mode", "method", "message"),
    [
        ("../../x", stat.S_IFREG, zipfile.ZIP_STORED, "leads out"),
        ("/tmp/x", stat.S_IFREG, zipfile.ZIP_STORED, "leads out"),
        ("content/../../x", stat.S_IFREG, zipfile.ZIP_STORED, "leads out"),
        ("content/" + "a" * 3000, stat.S_IFREG, zipfile.ZIP_STORED, "leads out"),
        ("content/x", stat.S_IFLNK, zipfile.ZIP_STORED, "is not a plain file"),
        ("content/x", stat.S_IFCHR, zipfile.ZIP_STORED, "is not a plain file"),
        ("content/x", stat.S_IFREG, zipfile.ZIP_LZMA, "is compressed in a way that bundles do not use"),
        ("content/plan.json/x", stat.S_IFREG, zipfile.ZIP_STORED, "lies below a file"),
    ],
)
def test_what_no_bundle_holds(name: str, mode: int, method: int, message: str, bundle: Path, tmp_path: Path) -> None:
    file = tmp_path / "it.zip"
    shutil.copy(bundle, file)
    with zipfile.ZipFile(file, "a") as opened:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = (mode | 0o777) << 16
        opened.writestr(entry, b"/etc/passwd", method)
    said = refused(file, tmp_path)
    assert message in said and len(said) < 600


def test_an_executable_of_a_bundle_is_none_here(bundle: Path, tmp_path: Path) -> None:
    file = tmp_path / "it.zip"
    shutil.copy(bundle, file)
    with zipfile.ZipFile(file, "a") as opened:
        entry = zipfile.ZipInfo("content/run.sh")
        entry.external_attr = (stat.S_IFREG | stat.S_ISUID | 0o777) << 16
        opened.writestr(entry, b"#!/bin/sh\n")
    unpack(file, tmp_path / "opened")
    assert (tmp_path / "opened" / "content" / "run.sh").stat().st_mode & 0o7111 == 0


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bundle.json", b"[" * 100_000),
        ("bundle.json", b'{"format": "fabriclab-bundle-1", "runs": ' + b"9" * 5000 + b"}"),
        ("bundle.json", b'{"format": "fabriclab-bundle-1", "title": 5}'),
        ("bundle.json", b"\xff\xfe"),
        ("bundle.json", b"null"),
        ("bundle.json", b" " * (2 << 20)),
    ],
    ids=["deep", "digits", "types", "bytes", "null", "long"],
)
def test_what_is_damaged_in_what_a_bundle_says_of_itself(
    name: str, content: bytes, bundle: Path, tmp_path: Path
) -> None:
    file = tmp_path / "it.zip"
    pack(entries_of(bundle) | {name: content}, file)
    assert "bundle.json" in refused(file, tmp_path)


def test_every_byte_of_the_directory_may_be_damaged(bundle: Path, tmp_path: Path) -> None:
    """The archive's own directory, a byte at a time: opened, or refused in one sentence."""
    data, file = bundle.read_bytes(), tmp_path / "it.zip"
    begin = data.index(b"PK\1\2")
    for at in range(begin, len(data), 7):
        file.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        try:
            unpack(file, tmp_path / "opened")
        except ArchiveError as error:
            assert "\n" not in str(error)
        else:
            shutil.rmtree(tmp_path / "opened")


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "..", "", "a\0b", "link/x", "link"], ids=ascii)
def test_a_writer_does_not_leave_its_directory(name: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "link").symlink_to(tmp_path)
    with pytest.raises(NotReadableError):
        below(tmp_path / "mine", name)


def test_a_writer_joins_what_lies_in_its_directory(tmp_path: Path) -> None:
    assert below(tmp_path, "a/b.txt") == tmp_path / "a" / "b.txt"
