"""What a wheel brings along: found by its index, unpacked once and whole, told where it can't be.

FRR's root file system is in a package of its own.
"""

from __future__ import annotations

import json
import shutil
import sys
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fake_machine
import pytest

from fabriclab.engine.artefacts import Artefacts, EngineError, with_routing
from fabriclab.engine.packed import FORMAT, Packed, UnusableError, packed_in, routing_rootfs


def pack(directory: Path, files: dict[str, str], key: str = "00ff") -> Path:
    """Write an archive of a root file system and its index, as `.ci/wheel.py` does."""
    source = directory.parent / f"source-{key}"
    for name, text in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    (source / "root" / "link").symlink_to("/proc/self/mounts")
    directory.mkdir(parents=True)
    with tarfile.open(directory / "rootfs.tar.xz", "w:xz") as archive:
        archive.add(source, ".")
    described = {"kind": "rootfs", "key": key, "archive": "rootfs.tar.xz", "inner": "root", "version": "Debian trixie"}
    described["recipe"] = f"{key}-recipe"
    (directory / "machine.json").write_text(json.dumps({"format": FORMAT, "artefacts": {"rootfs": described}}))
    return directory


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fabriclab"


@pytest.fixture
def packed(tmp_path: Path, cache: Path) -> Packed:
    return packed_in(pack(tmp_path / "machine", {"root/etc/passwd": "root", "packages": "dash_1"}))["rootfs"]


def test_it_is_unpacked_to_where_a_build_would_have_put_it(packed: Packed, cache: Path) -> None:
    root = packed.unpacked()
    assert root == packed.place() == cache / "rootfs" / "00ff" / "root"
    assert (root / "etc" / "passwd").read_text() == "root"
    assert (root / "link").readlink() == Path("/proc/self/mounts")
    assert Artefacts(root, root, root).packages() == ["dash_1"]
    packed.archive.unlink()
    assert packed.unpacked() == root, "once is enough"


def test_those_who_want_it_at_once_get_the_same(packed: Packed, cache: Path) -> None:
    left = cache / "rootfs" / "00ff.partial.killed"
    left.mkdir(parents=True)
    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(lambda _: packed.unpacked(), range(8))} == {packed.place()}
    assert sorted(path.name for path in (cache / "rootfs").iterdir()) == ["00ff", "recipes"]


def test_a_checkout_finds_it_by_its_recipe_and_keeps_what_it_has(packed: Packed, cache: Path) -> None:
    packed.unpacked()
    link = cache / "rootfs" / "recipes" / "00ff-recipe"
    assert (link / "root").samefile(packed.place())
    shutil.rmtree(packed.place().parent)
    link.unlink()
    (cache / "rootfs" / "ff00").mkdir()
    link.symlink_to("../ff00")
    packed.unpacked()
    assert link.readlink() == Path("../ff00")


@pytest.mark.parametrize("lacks", [1, 30, 60, 100, 200])
def test_what_cannot_be_unpacked_leaves_nothing(packed: Packed, cache: Path, lacks: int) -> None:
    """Also where all files are whole, and only what xz checks them by is cut."""
    packed.archive.write_bytes(packed.archive.read_bytes()[:-lacks])
    with pytest.raises(UnusableError, match=r"rootfs\.tar\.xz can't be unpacked into .*XDG_CACHE_HOME names another"):
        packed.unpacked()
    assert [path for path in (cache / "rootfs").iterdir() if path.is_dir()] == []


@pytest.mark.parametrize(("cache_home", "told"), [("", "HOME is not set"), ("here", '"here" is not an absolute path')])
def test_without_a_place_for_the_cache_it_says_what_to_set(
    packed: Packed, cache_home: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", cache_home)
    with pytest.raises(UnusableError, match=f"{told}.*set HOME, or XDG_CACHE_HOME"):
        packed.unpacked()


def test_a_directory_without_an_index_that_is_known_has_nothing(tmp_path: Path) -> None:
    assert packed_in(tmp_path / "none") == {}
    (tmp_path / "machine.json").write_text('{"format": "fabriclab-machine-9", "artefacts": {"rootfs": {}}}')
    assert packed_in(tmp_path) == {}


def test_labs_with_routing_daemons_get_the_root_file_system_that_has_them(
    packed: Packed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = fake_machine.artefacts(tmp_path, "")
    assert with_routing(full) is full
    small = Artefacts(full.kernel, packed.unpacked(), full.tools)
    with pytest.raises(EngineError, match="FRR is not installed; install fabriclab-frr"):
        with_routing(small)
    pack(tmp_path / "site" / "fabriclab_frr" / "machine", {"root/a": "", "packages": "frr_10.3-3_amd64"}, key="11ee")
    (tmp_path / "site" / "fabriclab_frr" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    found = routing_rootfs()
    assert found is not None and "fabriclab_frr" not in sys.modules
    assert with_routing(small).hashes() == {**small.hashes(), "rootfs": "11ee"}
