"""What the machine is started from as a wheel brings it along: archives, unpacked into the artefact cache when they are
first needed.

A directory of archives has `machine.json`, which `.ci/wheel.py` writes. What is unpacked lies where
`images/machine/build` would have put it, under the same key of its contents, and its recipe has a link to it: a
checkout and a wheel share it. The lock, the rename and the link are those of `images/machine/cache.sh`.
"""

from __future__ import annotations

import fcntl
import json
import lzma
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from fabriclab.shipped import is_installed, shipped

FORMAT = "fabriclab-machine-1"
INDEX = "machine.json"
ROUTING_PACKAGE = "fabriclab_frr"
"""The package whose wheel has the root file system with FRR."""
_CHUNK_BYTES = 2**20


class UnusableError(Exception):
    """An archive can't be unpacked; the text says why and what mends it."""


@dataclass(frozen=True)
class Packed:
    """One artefact in an archive."""

    kind: str
    key: str
    archive: Path
    inner: str
    """What of the unpacked directory is the artefact; empty: all of it."""
    version: str
    """What it is, in words."""
    recipe: str = ""
    """The hash of the sources that it was made from; empty where nobody says."""

    def place(self) -> Path:
        """Return where it lies when it is unpacked. Raises UnusableError where there is no place for a cache."""
        return cache_root() / self.kind / self.key / self.inner

    def unpacked(self) -> Path:
        """Return where it lies, unpacked if it was not yet; others that want it at once wait. Raises UnusableError."""
        place = self.place()
        if not place.exists():
            try:
                self._unpack(cache_root() / self.kind / self.key)
            except (OSError, EOFError, lzma.LZMAError, tarfile.TarError) as error:
                raise UnusableError(
                    f"{self.archive} can't be unpacked into {cache_root()}: {error} (XDG_CACHE_HOME names another "
                    "place)"
                ) from error
        return place

    def _unpack(self, final: Path) -> None:
        final.parent.mkdir(parents=True, exist_ok=True)
        with locked(final.with_name(f"{final.name}.lock")):
            if final.exists():
                return
            for left in final.parent.glob(f"{final.name}.partial.*"):
                shutil.rmtree(left, ignore_errors=True)  # by one that was killed: who has the lock is the only one
            partial = Path(tempfile.mkdtemp(prefix=f"{final.name}.partial.", dir=final.parent))
            try:
                with lzma.open(self.archive) as stream, tarfile.open(fileobj=stream, mode="r:") as archive:
                    # Modes, and links to what lies outside, are the root file system's own. Filters: Python 3.11.4 on.
                    if hasattr(tarfile, "fully_trusted_filter"):
                        archive.extractall(partial, filter="fully_trusted")
                    else:
                        archive.extractall(partial)
                    # tar stops at its own end: what xz has behind it says whether the archive is whole (CRC64).
                    while stream.read(_CHUNK_BYTES):
                        pass
                partial.chmod(0o755)
                partial.rename(final)
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                raise
            if self.recipe:
                _link_recipe(final, self.recipe)


def _link_recipe(artefact: Path, recipe: str) -> None:
    """Let a checkout find what its recipe makes, unless it has something else of that recipe."""
    recipes = artefact.parent / "recipes"
    recipes.mkdir(exist_ok=True)
    with suppress(FileExistsError):
        (recipes / recipe).symlink_to(Path("..") / artefact.name)


def packed_in(directory: Path) -> dict[str, Packed]:
    """Return the artefacts that a directory has archives of; none where it has no index of a format that is known."""
    return {
        name: Packed(
            *(each["kind"], each["key"], directory / each["archive"], each["inner"], each["version"]),
            recipe=each.get("recipe", ""),
        )
        for name, each in _index(directory).get("artefacts", {}).items()
    }


def packed_revision() -> str | None:
    """Return the commit that the installed wheel was made from; None where it does not say."""
    return _index(shipped("machine")).get("revision")


def _index(directory: Path) -> dict[str, Any]:
    try:
        index: dict[str, Any] = json.loads((directory / INDEX).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    return index if index["format"] == FORMAT else {}


@cache
def packed_machine() -> dict[str, Packed]:
    """Return kernel, root file system and tools where the package was installed with them; else nothing."""
    return packed_in(shipped("machine")) if is_installed() else {}


def routing_rootfs() -> Packed | None:
    """Return the root file system with FRR of the package that has it, where that is installed."""
    spec = find_spec(ROUTING_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    return packed_in(Path(spec.origin).parent / "machine").get("rootfs")


def cache_root() -> Path:
    """Return the cache's directory, as cache.sh has it."""
    named = os.environ.get("XDG_CACHE_HOME") or (f"{home}/.cache" if (home := os.environ.get("HOME")) else "")
    if not named.startswith("/"):
        wrong = f'"{named}" is not an absolute path' if named else "HOME is not set"
        raise UnusableError(
            f"{wrong}, so there is no directory for the virtual machine's files; set HOME, or XDG_CACHE_HOME to a "
            "directory of "
            "your own"
        )
    return Path(named) / "fabriclab"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of one artefact in the cache, whose file goes with it; wait for whoever holds it.

    Raises UnusableError where it can't be held.
    """
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            raise UnusableError(
                f"{path}: can't be locked ({error.strerror}), as on some network file systems; set XDG_CACHE_HOME to a "
                "directory of your own on a local disk"
            ) from error
        yield
        path.unlink(missing_ok=True)
