"""Where the points of a sweep run, as `--on` names it, and the connection to it."""

from __future__ import annotations

import importlib
import logging
import re
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriclab.cluster.messages import DaskClient
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
            raise ArgumentError(
                "{on} {0}: there is no such file; `dask scheduler --scheduler-file {0}` writes it", text
            )
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
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado.application", "asyncio")]
    with ExitStack() as stack, warnings.catch_warnings():
        # Versions that differ we tell ourselves, once; so we do a worker that is lost.
        warnings.simplefilter("ignore")
        for logger in loggers:
            stack.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)
        if isinstance(on, distributed.Client):
            yield on
            return
        if isinstance(on, Place) and on.address.startswith("tls://"):
            _check_certificate(on, distributed.Security())
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


def _check_certificate(place: Place, security: Any) -> None:
    """Look whether Dask's configuration has what TLS needs. Raises EngineError.

    A client that has no certificate ends with an error of its own programming, and not before half a minute is over.
    """
    settings = "distributed.comm.tls in ~/.config/dask/distributed.yaml"
    try:
        context = security.get_connection_args("client")["ssl_context"]
    except (OSError, ValueError) as error:
        named = f"{security.tls_ca_file}, {security.tls_client_cert}, {security.tls_client_key}"
        raise EngineError(
            f"--on {place.text}: the certificates of {settings} can't be used ({_first_line(error)}): {named}"
        ) from error
    if context is None:
        raise EngineError(
            f"--on {place.text}: TLS needs certificates, but Dask's configuration names none; write ca-file, "
            "client.cert "
            f"and client.key below {settings} (docs/cluster.md)"
        )


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
            f"--on {on.text}: no Dask scheduler answers{where} within {_CONNECT_S} s; start one (`dask scheduler`), or "
            f"correct the address, the firewall or TLS; nothing was run ({_first_line(error)})"
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
        raise ArgumentError(
            "{on} {0}: write for how many runs at a time workers are requested, such as {jobs} 20", place.text
        )
    cluster = _started(place)
    stack.callback(_ended, cluster, place)
    if place.kind != "ssh":
        _ask_for_room(cluster, place, jobs or 1)
    return cluster


def _ask_for_room(cluster: Any, place: Place, jobs: int) -> None:
    """Ask a batch system, or Kubernetes, for as many workers as runs are to go on at a time. Raises EngineError."""
    if place.kind == "kubernetes":
        cluster.scale(jobs)
        return
    # By jobs: dask-jobqueue 0.9 does not know any more how many cores one has (`scale(cores=...)`: "unreachable").
    cores = int(_imported("dask", "cluster").config.get(f"jobqueue.{place.kind}.cores"))
    cluster.scale(jobs=-(-jobs // cores))

    async def submitted() -> None:
        await cluster
        # What has failed is only logged; who waits for it tries again, and learns why.
        for job in list(cluster.workers.values()):
            await job

    try:
        cluster.sync(submitted)
    except RuntimeError as error:  # what the command that submits jobs says on its standard error
        said = [line for line in str(error).splitlines() if line.strip()]
        raise EngineError(
            f"--on {place.text}: the batch system did not accept the job: {said[-1] if said else error} (the queue, "
            "cores and memory "
            "are set in Dask's jobqueue.yaml, ~/.config/dask; docs/cluster.md)"
        ) from error


def _ended(cluster: Any, place: Place) -> None:
    """End what Dask has started.

    No job of dask-jobqueue 0.9 ever gets closed by its own `close`, and Dask asserts that each is closed, of those that
    something still holds: an error's traceback does. A cluster that ends in this assertion stays half open.
    """
    if place.kind in _QUEUES:
        closed = _imported("distributed", "cluster").Status.closed
        for job in list(cluster.workers.values()):
            job.status = closed
    cluster.close()


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


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Let nobody take Ctrl-C from us: dask-jobqueue 0.9 does as it is imported (`runner.py`), which then ends a sweep
    without order, and which is an error where a thread imports it."""
    real = signal.signal
    signal.signal = lambda *_: None
    try:
        yield
    finally:
        signal.signal = real


def _imported(module: str, extra: str) -> Any:
    try:
        with _signals_kept():
            return importlib.import_module(module)
    except ImportError as error:
        raise EngineError(
            f"{error.name or module} is not installed, which sweeps on a cluster need: pip install 'fabriclab[{extra}]'"
        ) from error
