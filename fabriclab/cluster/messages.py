"""Messages between a sweep and the workers of a cluster: records, pickled by both sides of one version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fabriclab.engine.watch import Status
from fabriclab.runs.point import Keep

DaskClient = Any
"""A `distributed.Client`; its methods have no types."""
DaskFuture = Any
"""A `distributed.Future`, likewise."""


@dataclass(frozen=True)
class Artefact:
    """Kernel, root file system, tools, or a layer over the root file system, by the hash of what it was made from."""

    kind: str
    key: str
    inner: str
    """What of its directory in the cache is the artefact; empty: all of it."""
    listing: str = ""
    """The hash of the list of Debian packages in it, whose versions the key does not say; empty: there is none."""
    packages: tuple[str, ...] = ()
    """What a layer was asked for."""


@dataclass(frozen=True)
class SweepContext:
    """What is the same for all points of a sweep, and is told to each worker once, when it joins."""

    id: str
    """A word of its own for every sweep that is begun."""
    artefacts: tuple[Artefact, ...]
    """Kernel, root file system, tools."""
    command: tuple[str, ...]
    report: Mapping[str, Any]
    stall_s: float
    keep: Keep
    ingest: Callable[[Path], None]
    """Turns a run directory's raw logs into results; a function of the package, which the worker has too."""
    lab_files: Mapping[str, bytes]
    """The lab's own files, which every run keeps."""
    modules: Mapping[tuple[str, str], bytes]
    """The user's own algorithms as the kernel takes them, by name and file: a worker needs no compiler."""
    shared: str
    """A file beside the sweep; a worker that finds `id` in it sees the sweep's own directory."""
    tell_s: float
    """The least time between two words of a run's progress, in seconds."""

    @property
    def topic(self) -> str:
        """The name under which workers tell how their runs get on."""
        return f"fabriclab-{self.id}"


@dataclass(frozen=True)
class WorkerFacts:
    """What a worker is like."""

    host: str
    sources: str
    """The hash of the package's sources."""
    versions: Mapping[str, str]
    """Those of the libraries that write results."""
    missing: tuple[Artefact, ...]
    """What the worker's cache lacks."""
    shares: bool
    """Whether the worker sees the sweep's directory."""


@dataclass(frozen=True)
class PointTask:
    """One point for a worker."""

    sweep: str
    number: int
    """Which of the sweep's points."""
    plan: bytes
    """Its JSON, compressed (zlib)."""
    part: str
    """Where the run directory goes if the worker sees the sweep's directory; empty if not."""


@dataclass(frozen=True)
class PointAnswer:
    """How a run ended on a worker, and what it left.

    The run directory is in `archive` (a tar file, compressed), or in `rest_path` on the worker where it is too large
    for one message, or stands in the task's `part` already.
    """

    status: Status
    message: str
    wall_s: float
    virtual_ns: int
    full: bool
    archive: bytes = field(default=b"", repr=False)
    rest_path: str = ""


class UnfitError(Exception):
    """A worker can't take part in a sweep; the text says why and what mends it."""


class UnknownSweepError(Exception):
    """A worker does not know the sweep: it was started anew at an address that is known."""


def let_go(future: DaskFuture) -> None:
    """Say that nobody waits for what a worker does; where the cluster is gone, that is so already."""
    with suppress(Exception):  # of a class that Dask's versions do not share
        future.cancel()
