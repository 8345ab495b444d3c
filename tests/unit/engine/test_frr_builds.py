"""Versions of FRR: what is a source of it, how one is built, found, named and removed."""

from __future__ import annotations

import io
import os
import signal
import tarfile
import threading
import time
from pathlib import Path

import pytest
from fake_frr import CONFIGURE, artefacts_with_frr, source_in
from patience import patient
from processes import live_processes

from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.frr import FrrSourceError, build_frr, built_versions, read_source, remove_frr
from fabriclab.engine.layers import with_layers


@pytest.fixture
def artefacts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Artefacts:
    return artefacts_with_frr(tmp_path, monkeypatch)


def archive_of(directory: Path, name: str, text: str = CONFIGURE) -> Path:
    archive = directory / "frr.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        member = tarfile.TarInfo(name)
        member.size = len(text)
        file.addfile(member, io.BytesIO(text.encode()))
    return archive


def test_a_source_says_its_version(tmp_path: Path) -> None:
    assert read_source(source_in(tmp_path)).version == "10.5.1"
    assert read_source(archive_of(tmp_path, "frr-10.5.1/configure.ac")).version == "10.5.1"
    development = CONFIGURE.replace("10.5.1", "10.8-dev")
    assert read_source(archive_of(tmp_path, "configure.ac", development)).version == "10.8-dev"


@pytest.mark.parametrize("version", ["8.4.4", "9.1.3", "10.0.5", "10.0-dev"])
def test_one_that_does_not_compile_is_refused_before_it_is_tried(tmp_path: Path, version: str) -> None:
    """Before, seven minutes of compiling went by first."""
    archive = archive_of(tmp_path, "configure.ac", CONFIGURE.replace("10.5.1", version))
    with pytest.raises(FrrSourceError, match=rf"FRR {version} needs libyang 2, .*; FRR 10\.1 and later can be built"):
        read_source(archive)
    assert read_source(archive_of(tmp_path, "configure.ac", CONFIGURE.replace("10.5.1", "10.1"))).version == "10.1"


def test_the_hash_is_that_of_all_files_but_gits(tmp_path: Path) -> None:
    source = source_in(tmp_path)
    before = read_source(source).sha256
    (source / ".git").mkdir()
    (source / ".git" / "HEAD").write_text("ref")
    os.mkfifo(source / "pipe")
    assert read_source(source).sha256 == before
    (source / "link").symlink_to("elsewhere")
    linked = read_source(source).sha256
    (source / "bgpd.c").write_text("int main;")
    assert len({before, linked, read_source(source).sha256}) == 3


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("frr-10.5.1/deep/configure.ac", CONFIGURE, "has no configure.ac in its top directory"),
        ("frr/configure.ac", "AC_INIT([quagga], [1.2])", "is not FRR's"),
        ("frr/configure.ac", "AC_INIT([frr], [10/../5])", "is not FRR's"),
    ],
)
def test_what_is_no_source_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(FrrSourceError, match=said):
        read_source(archive_of(tmp_path, name, text))


@pytest.mark.parametrize(
    ("start", "kind"), [(b"!<arch>\ndebian-binary   1700000000", "Debian"), (b"\xed\xab\xee\xdb\3\0\0\0", "RPM")]
)
def test_a_package_is_refused_as_one(tmp_path: Path, start: bytes, kind: str) -> None:
    file = tmp_path / "frr.package"
    file.write_bytes(start + bytes(600))
    with pytest.raises(FrrSourceError, match=f"is a {kind} package: its programs need the libraries"):
        read_source(file)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no archive")
    with pytest.raises(
        FrrSourceError, match=r"is not a tar archive, or not a whole one; give FRR's source as \.tar\.gz"
    ):
        read_source(file)
    whole = archive_of(tmp_path, "frr/README").read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FrrSourceError, match="not a whole one"):
        read_source(file)
    with pytest.raises(FrrSourceError, match="no such file"):
        read_source(tmp_path / "absent")
    with pytest.raises(FrrSourceError, match=r"has no configure\.ac; give the top directory"):
        read_source(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FrrSourceError, match="pipe"):
        read_source(tmp_path / "pipe")


def test_one_is_built_found_and_removed(artefacts: Artefacts, tmp_path: Path) -> None:
    layer = build_frr(read_source(source_in(tmp_path)))
    (found,) = built_versions(artefacts.rootfs).values()
    assert (found.version, found.layer, found.size_bytes) == ("10.5.1", layer, 31_000_000)
    wanted = {"frr-10.5.1": ("10.5.1",)}
    assert with_layers(artefacts, [wanted]).layers == {("frr-10.5.1", "10.5.1"): layer}
    remove_frr(found)
    assert built_versions(artefacts.rootfs) == {} and not layer.exists()
    with pytest.raises(
        EngineError, match=r"runs FRR 10\.5\.1, which is not here; build it .*`fabriclab frr add SOURCE`"
    ):
        with_layers(artefacts, [wanted])


def test_a_version_is_that_of_one_root_file_system(artefacts: Artefacts, tmp_path: Path) -> None:
    build_frr(read_source(source_in(tmp_path)))
    other = tmp_path / "rootfs" / "0000000000000000" / "root"
    assert built_versions(other) == {} and list(built_versions(artefacts.rootfs)) == ["10.5.1"]


def test_a_layer_that_is_gone_or_has_another_name_is_none(artefacts: Artefacts, tmp_path: Path) -> None:
    place = tmp_path / "cache" / "fabriclab" / "frr" / artefacts.rootfs.parent.name
    place.mkdir(parents=True)
    (place / "10.5.1").symlink_to("../../layers/gone")
    (place / "10.5.1 x").mkdir()
    (place / "10.5.1 x" / "root").mkdir()
    assert built_versions(artefacts.rootfs) == {}


def test_a_build_that_fails_says_which(artefacts: Artefacts, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = source_in(tmp_path)
    (source / "broken").touch()
    with pytest.raises(EngineError, match=rf"FRR 10\.5\.1 can't be built of {source}"):
        build_frr(read_source(source))
    assert "bgpd.c:1: error: no" in capfd.readouterr().err
    assert artefacts.rootfs.is_dir() and built_versions(artefacts.rootfs) == {}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_ends_all_of_a_build(artefacts: Artefacts, tmp_path: Path, number: signal.Signals) -> None:
    source = source_in(tmp_path)
    hang = source / "hang"
    hang.touch()
    read = read_source(source)

    def interrupt() -> None:
        end = time.monotonic() + patient(20)
        while not hang.read_text() and time.monotonic() < end:
            time.sleep(0.02)
        signal.pthread_kill(threading.main_thread().ident or 0, number)

    asking = threading.Thread(target=interrupt)
    # A shell that starts pytest in the background has it deaf to Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        asking.start()
        with pytest.raises(KeyboardInterrupt):
            build_frr(read)
    finally:
        signal.signal(signal.SIGINT, before)
    asking.join()
    assert (source / "ended").exists()
    # What is killed, and is nobody's child, takes a moment to be gone.
    end = time.monotonic() + patient(20)
    while (left := live_processes(f"600.{hang.read_text().strip()}")) and time.monotonic() < end:
        time.sleep(0.02)
    assert left == []
    assert built_versions(artefacts.rootfs) == {} and artefacts.rootfs.is_dir()
