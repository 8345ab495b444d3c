"""Versions of FRR beside the one of the root file system: built once, of a source that the user gives, into layers
(`images/machine/frr.sh`; `images/machine/README.md`, "Layers").

A version lies over one root file system. `<cache>/frr/<root file system>/<version>` is a link to its layer.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import re
import shutil
import signal
import subprocess
import tarfile
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from fabriclab.engine.artefacts import EngineError, find_artefacts, with_routing
from fabriclab.engine.packed import UnusableError, cache_root
from fabriclab.errors import FabriclabError
from fabriclab.files import check_regular, reason
from fabriclab.formats import names
from fabriclab.formats.frr_builds import OLDEST, is_buildable
from fabriclab.shipped import shipped

SCRIPT = shipped("images/machine/frr.sh")
_CONFIGURE = "configure.ac"
_LARGEST_CONFIGURE_BYTES = 1 << 20
_DEEPEST = 2
"""frr-10.5.1/configure.ac."""
_VERSION = re.compile(r"^AC_INIT\(\[?frr\]?,\s*\[?([0-9][^\],)\s]*)", re.MULTILINE)
_PACKAGES = {b"!<arch>\ndebian-binary": "Debian", b"\xed\xab\xee\xdb": "RPM"}
"""How packages begin, and whose they are (deb(5); rpm's lead)."""
_ENDS_S = 20
"""How long a build has to end when it is told to."""


class FrrSourceError(FabriclabError):
    """What was given is no source of FRR's; the text says why, and what would be one."""


@dataclass(frozen=True)
class FrrSource:
    """A source of FRR's: an archive, or a directory."""

    path: Path
    """Absolute."""
    version: str
    """As its configure.ac says."""
    sha256: str
    """Of the archive, or of the names and contents of the directory's files."""


@dataclass(frozen=True)
class BuiltFrr:
    """A version of FRR that is there."""

    version: str
    layer: Path
    """The layer's directory, in which its root directory is."""
    size_bytes: int


def read_source(path: Path) -> FrrSource:
    """Return what a source of FRR's says of itself. Nothing of it is run or unpacked. Raises FrrSourceError."""
    try:
        if not path.is_dir():
            check_regular(path)
        text = _configure_of_directory(path) if path.is_dir() else _configure_of_archive(path)
        match = _VERSION.search(text)
        if match is None or not names.VERSION.is_in(match[1]):
            raise FrrSourceError(f"{path}: its {_CONFIGURE} is not FRR's: it has no line AC_INIT([frr], [VERSION])")
        if not is_buildable(match[1]):
            raise FrrSourceError(
                f"{path}: FRR {match[1]} needs libyang 2, and the virtual machine's Debian has libyang 3; "
                f"FRR {OLDEST} and later can be built"
            )
        digest = _hash_of_directory(path) if path.is_dir() else _hash_of_file(path)
    except OSError as error:
        raise FrrSourceError(f"{path}: {reason(error)}") from error
    return FrrSource(path.resolve(), match[1], digest)


def _configure_of_directory(path: Path) -> str:
    file = path / _CONFIGURE
    if not file.is_file():
        raise FrrSourceError(
            f"{path}: has no {_CONFIGURE}; give the top directory of FRR's source, or an archive of it"
        )
    with file.open("rb") as opened:
        return opened.read(_LARGEST_CONFIGURE_BYTES).decode(errors="replace")


def _configure_of_archive(path: Path) -> str:
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                place = PurePosixPath(member.name)
                if place.name == _CONFIGURE and len(place.parts) <= _DEEPEST and member.isfile():
                    opened = archive.extractfile(member)
                    assert opened is not None
                    return opened.read(_LARGEST_CONFIGURE_BYTES).decode(errors="replace")
    except (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError):
        raise FrrSourceError(f"{path}: {_what_it_is(path)}; give FRR's source as .tar.gz, or its directory") from None
    raise FrrSourceError(f"{path}: has no {_CONFIGURE} in its top directory; give an archive of FRR's source")


def _what_it_is(path: Path) -> str:
    """Return what a file is that is no tar archive."""
    with path.open("rb") as file:
        start = file.read(max(map(len, _PACKAGES)))
    kind = next((kind for magic, kind in _PACKAGES.items() if start.startswith(magic)), None)
    if kind is None:
        return "is not a tar archive, or not a whole one"
    return f"is a {kind} package: its programs need the libraries of the release that it was built for"


def _hash_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _hash_of_directory(path: Path) -> str:
    """Return a hash of the names and contents of all files but git's own."""
    digest = hashlib.sha256()
    for file in _files(path):
        content = str(file.readlink()) if file.is_symlink() else _hash_of_file(file)
        digest.update(f"{file.relative_to(path).as_posix()}\0{content}\0".encode(errors="surrogateescape"))
    return digest.hexdigest()


def _files(path: Path) -> Iterator[Path]:
    for directory, below, files in os.walk(path):
        below[:] = sorted(name for name in below if name != ".git")
        every = (Path(directory, name) for name in sorted([*files, *below]) if name != ".git")
        yield from (file for file in every if file.is_symlink() or file.is_file())


def build_frr(source: FrrSource) -> Path:
    """Build a version of FRR for the machine's root file system and return its layer; what is there is kept. What the
    build is at goes to standard error. It runs the source's scripts, in namespaces.

    Raises EngineError, whose text is empty where the build itself has said why it failed.
    """
    rootfs = with_routing(find_artefacts()).rootfs
    # It must hear what ends it, also where a shell started us in the background, deaf to Ctrl-C.
    heard = ("env", "--default-signal=INT,TERM,HUP")
    argv = [*heard, str(SCRIPT), "build", str(rootfs), source.version, source.sha256, str(source.path)]
    try:
        # A session of its own: what ends us must not end half of the build.
        build = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
    except OSError as error:
        raise EngineError(f"FRR can't be built: {argv[0]}: {reason(error)}") from error
    with build, _signals_interrupt():
        try:
            path, _ = build.communicate()
        except BaseException:
            _end(build)
            raise
    if build.returncode != 0:
        raise EngineError(f"FRR {source.version} can't be built of {source.path}")
    return Path(path.strip())


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt the block as Ctrl-C does, where they would end us and leave the build."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP) if is_main}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(build: subprocess.Popen[str]) -> None:
    """End a build with all that it started. It removes what it has made so far."""
    with suppress(ProcessLookupError, subprocess.TimeoutExpired):
        os.killpg(build.pid, signal.SIGINT)
        build.wait(_ENDS_S)
    # Programs in the background of a script may not have heard it.
    with suppress(ProcessLookupError):
        os.killpg(build.pid, signal.SIGKILL)


def own_rootfs() -> Path | None:
    """Return the machine's root file system with FRR; None where there is none."""
    try:
        return with_routing(find_artefacts()).rootfs
    except EngineError:
        return None


def built_versions(rootfs: Path | None) -> dict[str, BuiltFrr]:
    """Return the versions of FRR that are there for a root file system; none without one."""
    try:
        place = None if rootfs is None else cache_root() / "frr" / rootfs.parent.name
        links = sorted(place.iterdir()) if place is not None and place.is_dir() else []
    except (UnusableError, OSError):
        return {}
    found = [BuiltFrr(link.name, link.resolve(), _size(link)) for link in links if (link / "root").is_dir()]
    return {one.version: one for one in found if names.VERSION.is_in(one.version)}


def _size(layer: Path) -> int:
    try:
        return int((layer / "size").read_text())
    except (OSError, ValueError):
        return 0


def find_frr(rootfs: Path, version: str) -> Path:
    """Return the layer of a version of FRR. Raises EngineError that says how it is brought."""
    found = built_versions(rootfs).get(version)
    if found is None:
        raise EngineError(
            f"this lab runs FRR {version}, which is not here; build it once of its source: `{HOW_TO_BRING}`"
        )
    return found.layer


HOW_TO_BRING = "fabriclab frr add SOURCE"


def remove_frr(built: BuiltFrr) -> None:
    """Remove a version of FRR. Raises EngineError."""
    places = cache_root() / "frr"
    try:
        for link in places.glob("*/*"):
            if link.is_symlink() and link.resolve() == built.layer:
                link.unlink()
        doomed = built.layer.with_name(f"{built.layer.name}.removed.{os.getpid()}")
        built.layer.rename(doomed)
        shutil.rmtree(doomed)
    except OSError as error:
        raise EngineError(f"FRR {built.version} can't be removed: {reason(error)}") from error
