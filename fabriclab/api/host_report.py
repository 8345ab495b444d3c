"""What this host can run, and the remedies for the rest."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from fabriclab.api.lab_names import known_labs
from fabriclab.engine.artefacts import (
    BUILD,
    GET_ROUTING,
    PROCESSOR,
    EngineError,
    locate_artefacts,
    missing_packages,
    wrong_processor,
)
from fabriclab.engine.boundary import is_whole, what_binds
from fabriclab.engine.containers.docker import image_identity
from fabriclab.engine.containers.preflight import general_problems
from fabriclab.engine.containers.tcp_table import large_table
from fabriclab.engine.cpu import usable_cpus
from fabriclab.engine.host import fabriclab_version, git_revision
from fabriclab.engine.packed import Packed, UnusableError, packed_machine, routing_rootfs
from fabriclab.engine.private_directory import memory_directory, memory_places, why_not
from fabriclab.registry.vendors import VENDORS, NodeKind
from fabriclab.shipped import INSTALLED, PROJECT, is_installed, shipped

_MIB = 1 << 20
_MEMORY_INFO = Path("/proc/meminfo")
_MOUNT_PROC = "sudo mount -t proc proc /proc"
_CONTAINERS = "--engine containerlab"
_MACHINE_MIB = 512
"""Memory of a machine of some fifty hosts."""
_BUILD_MIB = 6000
"""Disk that a build needs: kernel source and objects, root file system, Rust objects."""

_DEPS = shipped(".ci/deps")
"""Names the packages that a build needs and this host lacks."""


@dataclass(frozen=True)
class HostFinding:
    """One finding about this host."""

    name: str
    state: str
    """How it is, in words."""
    remedy: str = ""
    """What mends it, a command where there is one; empty where it is as it should be."""
    needed: bool = True
    """Whether labs need it in the virtual machine; what only containers need is not."""


@dataclass(frozen=True)
class HostReport:
    """The findings about this host."""

    findings: tuple[HostFinding, ...]

    @property
    def remedies(self) -> tuple[str, ...]:
        """The steps, in this order, before labs can run in the virtual machine."""
        wanted = (finding.remedy for finding in self.findings if finding.remedy and finding.needed)
        return tuple(dict.fromkeys(wanted))

    @property
    def labs_can_run(self) -> bool:
        """Whether labs can run in the virtual machine."""
        return not self.remedies


def doctor() -> HostReport:
    """Check this host (processor, memory, programs, built files, containers) and return the findings.

    A missing part is a finding, and raises nothing. The check may take a few seconds if it asks Docker.
    """
    return HostReport(tuple(_examine()))


def _examine() -> Iterator[HostFinding]:
    yield _package()
    yield _processor()
    yield HostFinding("CPUs", str(len(usable_cpus())))
    if not _MEMORY_INFO.exists():
        yield HostFinding(
            "/proc", "is not mounted: a virtual machine can't be started or watched without it", _MOUNT_PROC
        )
    yield _memory()
    yield _machine_memory()
    yield from _programs()
    yield from _artefacts()
    yield from _boundary()
    yield from _routing()
    yield _disk(Path.cwd())
    yield from _containers()
    yield from (_image(vendor.kind) for vendor in VENDORS if vendor.kind is not None)


def _image(kind: NodeKind) -> HostFinding:
    """Whether nodes of a vendor's kind can run in containers; in the virtual machine they always can."""
    if shutil.which("docker") is None:
        return HostFinding(kind.image, "not: docker", kind.guide, needed=False)
    try:
        identity = image_identity(kind.image)
    except EngineError as error:
        return HostFinding(kind.image, " ".join(str(error).splitlines()[:2]), kind.guide, needed=False)
    if identity is None:
        absent = f"there is no such image; nodes of kind {kind.name} run only in the virtual machine"
        return HostFinding(kind.image, absent, kind.guide, needed=False)
    return HostFinding(kind.image, identity)


def _containers() -> Iterator[HostFinding]:
    """What the container engine itself looks for before a run."""
    try:
        problems = general_problems()
    except EngineError as error:
        problems = [" ".join(str(error).splitlines())]
    for problem in problems:
        state, _, cure = problem.partition(": ")
        yield HostFinding(_CONTAINERS, state, cure or "images/README.md", needed=False)
    if not problems:
        yield HostFinding(
            _CONTAINERS, "Docker, Containerlab, the images and the kernel have what nearly every lab needs"
        )
        if slow := large_table():
            state, _, cure = slow.partition(": ")
            yield HostFinding(_CONTAINERS, state, cure, needed=False)


def _memory() -> HostFinding:
    available = _available_memory_bytes() // _MIB
    remedy = "" if available >= _MACHINE_MIB else "free some memory"
    return HostFinding("memory", f"{available} MiB available; a virtual machine needs about {_MACHINE_MIB}", remedy)


def _available_memory_bytes() -> int:
    with suppress(OSError):
        for line in _MEMORY_INFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _machine_memory() -> HostFinding:
    """Where a machine's memory lies; it is best in /dev/shm, and elsewhere if that will not do."""
    need_bytes = _MACHINE_MIB * _MIB
    first, *others = memory_places(Path.cwd())
    reason = why_not(first, need_bytes)
    if not reason:
        return HostFinding("machine's memory", f"in {first}")
    try:
        place = memory_directory(need_bytes, others)
    except EngineError as error:
        return HostFinding("machine's memory", str(error), f"make {_MACHINE_MIB} MiB of room in {first}")
    return HostFinding("machine's memory", f"in {place}, because {first} {reason}", f"enlarge {first}", needed=False)


def _processor() -> HostFinding:
    if processor := wrong_processor():
        return HostFinding(
            "processor",
            f"{processor}: the virtual machine runs only on x86-64",
            "use a computer with an x86-64 processor",
        )
    return HostFinding("processor", PROCESSOR)


def _programs() -> Iterator[HostFinding]:
    if packed_machine():
        return  # There is nothing to build.
    install = f"{_DEPS}" if is_installed() else "make deps"
    missing = missing_packages(_DEPS)
    # Who has a built machine needs none of them.
    built = _is_built()
    yield HostFinding(
        "programs to build",
        "all" if not missing else f"not: {', '.join(missing)}",
        install if missing else "",
        needed=not built,
    )


def _is_built() -> bool:
    if packed_machine():
        return True
    try:
        return all(locate_artefacts().values())
    except EngineError:
        return False


def _package() -> HostFinding:
    """Where the package is from, and with it the labs and all else that it finds."""
    place = f"installed, {INSTALLED.parent}" if is_installed() else f"a checkout, {PROJECT}"
    return HostFinding("fabriclab", " ".join(filter(None, (fabriclab_version(), git_revision(), place))))


def _artefacts() -> Iterator[HostFinding]:
    """What the machine is started from: built here, or brought along by a wheel."""
    for name, packed in packed_machine().items():
        yield HostFinding(name, _packed_state(packed))
    if packed_machine():
        return
    build = str(BUILD) if is_installed() else "make machine"
    try:
        paths = locate_artefacts()
    except EngineError as error:
        yield HostFinding("machine", str(error), build)
        return
    for name, path in paths.items():
        yield HostFinding(name, str(path) if path else "not built", "" if path else build)


def _boundary() -> Iterator[HostFinding]:
    """What keeps a machine from the rest of this host (SECURITY.md), once it can be asked."""
    try:
        tools = locate_artefacts()["tools"]
        binds = None if tools is None else what_binds(tools)
    except EngineError as error:
        yield HostFinding("boundary", str(error))
        return
    if binds is not None:
        remedy = "" if is_whole(binds) else "Linux 6.12 or later, with Landlock, binds all (SECURITY.md)"
        yield HostFinding("boundary", binds, remedy, needed=False)


def _packed_state(packed: Packed) -> str:
    """Say which state of an artefact a wheel has, and where it lies or will."""
    try:
        place = packed.place()
    except UnusableError as error:
        return f"{packed.version}, in {packed.archive}: {error}"
    return f"{packed.version}, " + (
        f"{place} (from the wheel)" if place.exists() else f"in the wheel; the first run unpacks it to {place}"
    )


def _routing() -> Iterator[HostFinding]:
    """Whether labs with routing daemons can run, where the machine's root file system has none."""
    if not packed_machine():
        return
    packed = routing_rootfs()
    if packed is not None:
        yield HostFinding("rootfs with FRR", _packed_state(packed))
        return
    labs = ", ".join(lab.name for lab in known_labs() if _runs_daemons(lab))
    state = f"not here: labs whose switches run routing daemons can't run ({labs})"
    yield HostFinding("rootfs with FRR", state, GET_ROUTING, needed=False)


def _runs_daemons(lab: Path) -> bool:
    # Where nobody asks for it, nothing of a lab is loaded.
    from fabriclab.api.look import plan
    from fabriclab.errors import FabriclabError

    with suppress(FabriclabError):
        return plan(lab).bgp is not None
    return False


def _disk(directory: Path) -> HostFinding:
    free = shutil.disk_usage(directory).free // _MIB
    need = 100 if _is_built() else _BUILD_MIB
    return HostFinding(
        "disk",
        f"{free} MiB free in {directory}",
        "" if free >= need else f"free {need - free} MiB on the disk of {directory}",
    )
