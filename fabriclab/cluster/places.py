"""Where the points of a sweep run, as `--on` names it, and the connection to it."""

from __future__ import annotations

import importlib
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriclab.cluster.parcels import DaskClient
from fabriclab.engine.artefacts import EngineError
from fabriclab.errors import ArgumentError

LOCAL = "local"
_QUEUES = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "lsf": "LSFCluster",
    "sge": "SGECluster",
    "oar": "OARCluster",
    "htcondor": "HTCondorCluster",
}
"""What dask-jobqueue has for each batch system."""
_EXAMPLES = (
    "local, dask://HOST:8786, tls://HOST:8786, a scheduler's file (FILE.json), ssh://HOST1,HOST2, slurm (or pbs, lsf, "
    "sge, oar, htcondor), kubernetes"
)
_CONNECT_S = 10
_PORT = 8786


@dataclass(frozen=True)
class Place:
    """A cluster, as it was named."""

    text: str
    kind: str
    """`dask`, `file`, `ssh`, `kubernetes`, or a batch system of dask-jobqueue."""
    address: str = ""
    """The scheduler's address, its file, or hosts with commas between them."""


def parse_place(text: str) -> Place | None:
    """Return what `--on` names; None for this host. Raises ArgumentError that says what may be there."""
    if text == LOCAL:
        return None
    if text in _QUEUES or text == "kubernetes":
        return Place(text, text)
    if text.endswith(".json"):
        if not Path(text).is_file():
            raise ArgumentError("{on} {0}: no such file; `dask scheduler --scheduler-file {0}` writes it", text)
        return Place(text, "file", text)
    scheme, separator, rest = text.partition("://")
    if separator and scheme == "ssh" and re.fullmatch(r"[\w.@:-]+(,[\w.@:-]+)*", rest):
        return Place(text, "ssh", rest)
    named = re.fullmatch(r"(?P<host>[\w.-]+|\[[0-9a-fA-F:]+\])(:(?P<port>\d{1,5}))?", rest)
    if scheme in ("dask", "tcp", "tls") and named is not None and 0 < int(named["port"] or _PORT) < 1 << 16:
        protocol = "tcp" if scheme == "dask" else scheme
        return Place(text, "dask", f"{protocol}://{named['host']}:{named['port'] or _PORT}")
    raise ArgumentError("{on} {0!r}: write one of {1}", text, _EXAMPLES)


@contextmanager
def connected(on: Place | Any, jobs: int | None) -> Iterator[DaskClient]:
    """Connect to a cluster, started if Dask is to start it, for `jobs` runs at a time.

    `on`: a place, or Dask's own Client or Cluster. Raises EngineError that says which package is missing, or that
    nobody answers; ArgumentError where a number of runs must be said.
    """
    distributed = _imported("distributed", "cluster")
    logger = logging.getLogger("distributed")
    level = logger.level
    with ExitStack() as stack, warnings.catch_warnings():
        # Versions that differ we tell ourselves, once; so we do a worker that is lost.
        warnings.simplefilter("ignore")
        stack.callback(logger.setLevel, level)
        logger.setLevel(logging.CRITICAL)
        if isinstance(on, distributed.Client):
            yield on
            return
        target = _target(on, jobs, stack) if isinstance(on, Place) else on
        try:
            client = distributed.Client(
                **target if isinstance(target, dict) else {"address": target},
                timeout=_CONNECT_S,
                set_as_default=False,
                name="fabriclab",
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineError(_no_answer(on, error)) from error
        stack.callback(_closed, client)
        yield client


def _closed(client: DaskClient) -> None:
    """Close a connection, however the other end stands."""
    try:
        client.close(timeout=2)
    except (OSError, TimeoutError):
        return


def _no_answer(on: Place | Any, error: Exception) -> str:
    if isinstance(on, Place) and on.kind in ("dask", "file"):
        where = f" at {on.address}" if on.kind == "dask" else ""
        return (
            f"--on {on.text}: no Dask scheduler answers{where} within {_CONNECT_S} s: start one (`dask scheduler`), or "
            f"mend address, firewall or TLS; nothing was run ({_first_line(error)})"
        )
    return f"the cluster can't be reached: {_first_line(error)}"


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _target(place: Place, jobs: int | None, stack: ExitStack) -> Any:
    """Return what a Client connects to: an address, a file, or a cluster that is started."""
    if place.kind == "dask":
        return place.address
    if place.kind == "file":
        return {"scheduler_file": place.address}
    if jobs is None and place.kind != "ssh":
        raise ArgumentError("{on} {0}: say for how many runs at a time room is asked for: {jobs} 20", place.text)
    cluster = _started(place)
    stack.enter_context(cluster)
    if place.kind in _QUEUES:
        cluster.scale(cores=jobs)
    elif place.kind == "kubernetes":
        cluster.scale(jobs)
    return cluster


def _started(place: Place) -> Any:
    if place.kind in _QUEUES:
        module, extra, name = "dask_jobqueue", "slurm", _QUEUES[place.kind]
    elif place.kind == "ssh":
        _imported("asyncssh", "ssh")
        module, extra, name = "distributed.deploy.ssh", "ssh", "SSHCluster"
    else:
        module, extra, name = "dask_kubernetes.operator", "kubernetes", "KubeCluster"
    make: Callable[..., Any] = getattr(_imported(module, extra), name)
    hosts = place.address.split(",")
    try:
        # The first host also has the scheduler.
        return make([hosts[0], *hosts]) if place.kind == "ssh" else make()
    except Exception as error:  # whatever these packages raise: it is about their settings, or their hosts
        raise EngineError(
            f"--on {place.text}: Dask can't start {name}: {_first_line(error)} (its settings are in Dask's "
            "configuration, ~/.config/dask; docs/cluster.md)"
        ) from error


def _imported(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise EngineError(
            f"{error.name or module} is not installed, with which sweeps run on a cluster: "
            f"pip install 'fabriclab[{extra}]'"
        ) from error
