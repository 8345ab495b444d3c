"""Running SONiC's daemons in namespaces of their own, over a root file system that stays as it is."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fabriclab.errors import FabriclabError
from fabriclab.vendors.sonic.daemons.given import files

NEEDED = ("redis-server", "redis-cli", "syncd", "portsyncd", "orchagent", "buffermgrd")
"""The programs that a root file system must have."""
_OF_A_CHASSIS = ("voq", "fabric", "dpu")
_OUTSIDE = Path(__file__).parent / "outside.sh"
_ALONE = (
    *("setpriv", "--pdeathsig", "KILL"),  # should we die without a word, all of it dies
    *("unshare", "--user", "--map-root-user", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"),
)


class DaemonsError(FabriclabError):
    """SONiC's daemons are not there, or did not do what they are for."""


def asic_db_of(tables: Mapping[str, Any], root: Path, progress: Callable[[int], None]) -> bytes:
    """Return what SONiC's daemons make of a configuration: ASIC_DB as JSON, keys with their fields.

    `root`: a root file system that has NEEDED, as docker-sonic-vs unpacked has; it is read only. `tables`: a
    config_db.json as its JSON has it. `progress` is told, twice a second, how many objects there are.
    Raises DaemonsError.
    """
    _require(root)
    _require_model(tables)
    with tempfile.TemporaryDirectory(prefix="fabriclab-sonic-") as directory:
        work = Path(directory)
        given = work / "given"
        given.mkdir()
        for name, content in files(tables).items():
            (given / name).write_bytes(content)
        try:
            _run(root, work, progress)
            return (given / "asic.json").read_bytes()
        finally:
            _make_removable(work)


def _require(root: Path) -> None:
    missing = [
        name
        for name in NEEDED
        if not any((root / where / name).exists() for where in ("usr/bin", "usr/local/bin", "usr/sbin", "bin"))
    ]
    if missing:
        raise DaemonsError(
            f"{root}: not a root file system with SONiC's daemons: it lacks {', '.join(missing)}; unpack "
            "docker-sonic-vs: docker export $(docker create docker-sonic-vs) | tar -x -C DIR"
        )
    if not (shutil.which("unshare") and shutil.which("setpriv")):
        raise DaemonsError(
            "unshare and setpriv are missing, which isolate SONiC's daemons; install them: apt-get install util-linux"
        )


def _require_model(tables: Mapping[str, Any]) -> None:
    """Refuse what these daemons alone do not make: parts of a chassis, and pools that a vendor's script computes."""
    metadata = tables.get("DEVICE_METADATA", {})
    local = metadata.get("localhost", {}) if isinstance(metadata, Mapping) else {}
    kind, model = str(local.get("switch_type", "")), str(local.get("buffer_model", ""))
    if kind in _OF_A_CHASSIS:
        raise DaemonsError(f"DEVICE_METADATA|localhost: switch_type {kind}: orchagent waits for the chassis's database")
    if model == "dynamic":
        raise DaemonsError(
            "DEVICE_METADATA|localhost: buffer_model dynamic: a script of the vendor computes the sizes, and the "
            "virtual switch lacks it; compare with a real switch: sonic-db-dump -n ASIC_DB -d -y > FILE, then "
            "--asic-db FILE"
        )


def _run(root: Path, work: Path, progress: Callable[[int], None]) -> None:
    with _started([*_ALONE, "sh", str(_OUTSIDE), str(root.resolve()), str(work)]) as process:
        said, why = "", ""
        assert process.stdout is not None
        for line in process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == "objects" and rest.isdigit():
                progress(int(rest))
            elif word == "failed":
                why = rest
            else:
                said = line.strip() or said
        status = process.wait()
    if status:
        raise DaemonsError(f"SONiC's daemons failed: {why or said or f'exit status {status}'}")


@contextmanager
def _started(argv: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Start a program; it and all its children are gone when this is left, however that is."""
    with subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)  # --kill-child: with unshare dies the first process of its world


def _make_removable(work: Path) -> None:
    """Let overlay's own directory, which it makes without any right, be removed."""
    for directory in (work / "layer").glob("*"):
        directory.chmod(0o700)
