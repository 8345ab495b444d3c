"""Where the virtual machine's kernel, root file system and tools lie (`images/machine/README.md`, "What is built")."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from fabriclab.engine.host import describe_host, git_revision
from fabriclab.engine.packed import Packed, UnusableError, packed_machine, routing_rootfs
from fabriclab.errors import FabriclabError
from fabriclab.shipped import is_installed, shipped

BUILD = shipped("images/machine/build")

NAMES = ("kernel", "rootfs", "tools")


PROCESSOR = "x86_64"
"""What `uname -m` says where the machine runs: its kernel is built for that alone."""


class EngineError(FabriclabError):
    """A run cannot start; the text says why, and how to repair it."""


@dataclass(frozen=True)
class Artefacts:
    """What a machine is started from.

    Each lies in a directory that is named by the hash of what went into it: its sources, the packages with their
    versions and hashes, the compilers. The file `contents` beside it lists all of them.
    """

    kernel: Path
    rootfs: Path
    tools: Path
    layers: Mapping[tuple[str, ...], Path] = field(default_factory=dict)
    """Layers over the root file system (`fabriclab.engine.layers`), by their kind and what was asked for."""

    def hashes(self) -> dict[str, str]:
        """Return the hash of what went into each artefact, by its name."""
        return {"kernel": self.kernel.parent.name, "rootfs": self.rootfs.parent.name, "tools": self.tools.name}

    def packages(self) -> list[str]:
        """Return the root file system's packages as `name_version_architecture`; empty when it does not say."""
        return listed_packages(self.rootfs.parent)

    def have_routing(self) -> bool:
        """Return whether the root file system has FRR, and so can run labs with routing daemons."""
        return any(package.startswith("frr_") for package in self.packages())


def listed_packages(directory: Path) -> list[str]:
    """Return the packages that lie in an artefact's directory as its file `packages` says, empty without one."""
    listing = directory / "packages"
    return listing.read_text().split() if listing.is_file() else []


_Answer = subprocess.CompletedProcess[str]


@contextmanager
def asked_ahead() -> Iterator[None]:
    """Ask where the artefacts are, and what a manifest says of the host and of this commit, while the block does
    something else, such as importing what it needs, until it wants to know."""
    if packed_machine():
        yield
        return
    with ThreadPoolExecutor(max_workers=2) as asking:
        _asked.append(asking.submit(_ask, BUILD))
        # Both start programs, git and uname, and keep what these say.
        asking.submit(git_revision)
        asking.submit(describe_host)
        try:
            yield
        finally:
            _asked.clear()


_asked: list[Future[_Answer]] = []
"""The question that is under way, if one is. Its answer is given once: who asks again may have built something."""


def _ask(build: Path) -> _Answer:
    return subprocess.run([build, "--where"], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)


def locate_artefacts(build: Path = BUILD) -> dict[str, Path | None]:
    """Return the path of each artefact, None where it is not built. Builds nothing, but unpacks what a wheel brought
    along.

    Raises EngineError when the build script can't tell, or what is packed can't be unpacked.
    """
    if build == BUILD and packed_machine():
        return {name: _unpacked(packed_machine()[name]) for name in NAMES}
    try:
        result = _asked.pop().result() if _asked and build == BUILD else _ask(build)
    except (OSError, subprocess.CalledProcessError) as error:
        detail = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else str(error)
        raise EngineError(f"the virtual machine's files can't be found: {detail}") from error
    found = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
    return {name: Path(found[name]) if found.get(name) else None for name in NAMES}


def wrong_processor() -> str:
    """Return the name of this host's processor where the machine can't run on it; empty where it can."""
    processor = platform.machine()
    return "" if processor == PROCESSOR else processor


def find_artefacts(build: Path = BUILD) -> Artefacts:
    """Return the artefacts. Raises EngineError when one is not built, or when this host could not run them."""
    if processor := wrong_processor():
        raise EngineError(
            f"this computer's processor is {processor}: fabriclab's virtual machine runs only on x86-64 ({PROCESSOR})"
        )
    paths = locate_artefacts(build)
    missing = [name for name, path in paths.items() if path is None]
    if missing:
        raise EngineError(
            f"the virtual machine's {' and '.join(missing)} must be built first; {how_to_build()} (`fabriclab doctor` "
            "shows more)"
        )
    kernel, rootfs, tools = (path for name in NAMES if (path := paths[name]) is not None)
    return Artefacts(kernel, rootfs, tools)


def with_routing(artefacts: Artefacts) -> Artefacts:
    """Return artefacts whose root file system has FRR.

    Raises EngineError that says how to get it where there is none.
    """
    if artefacts.have_routing():
        return artefacts
    packed = routing_rootfs()
    if packed is None:
        raise EngineError(f"this lab's switches run routing daemons, but FRR is not installed; {GET_ROUTING}")
    return replace(artefacts, rootfs=_unpacked(packed))


GET_ROUTING = "install fabriclab-frr, the wheel that `make wheel` makes beside fabriclab's (pip install fabriclab[frr])"


def how_to_build() -> str:
    """Return the command that builds what is missing: an installed package has no Makefile's directory to stand in."""
    return f"run `{BUILD}`, or install the wheel that has it" if is_installed() else "run `make machine`"


def _unpacked(packed: Packed) -> Path:
    try:
        return packed.unpacked()
    except UnusableError as error:
        raise EngineError(str(error)) from error


def missing_packages(deps: Path) -> list[str]:
    """Return the packages that a build needs and this host lacks, as the script `deps` names them;
    empty when it can't tell."""
    try:
        listed = subprocess.run([deps, "--list"], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return []
    return listed.stdout.split()
