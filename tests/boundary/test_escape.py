"""A machine's kernel that was taken over, against the host: what SECURITY.md promises of the virtual machine.

The code runs as a module of the kernel, which is an ordinary process of the host. So it can do there what a lab from a
stranger could do at worst.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample_plans import CUBIC, star
from vm import Vm

import fabriclab
from fabriclab.engine.boundary import is_whole
from fabriclab.formats.plan.algorithm import OwnAlgorithm, sha256_of
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Queue
from fabriclab.formats.plan.traffic import LongTraffic

pytestmark = pytest.mark.vm

CODE = Path(__file__).with_name("escape.c").read_text()
STARTER = (Path(fabriclab.__file__).parent / "starters" / "congestion-control" / "mine.c").read_text()
REGISTER = "static int __init mine_register(void)\n{\n"
LONG = LongTraffic(name="long", senders=("h1", "h2"), receiver="h3", start_ns=0, stop_ns=10_000_000, stagger_ns=0)
ALLOWED = {"the scratch directory itself": 0}
"""What must work, or nothing was tried."""


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the same user."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def plan(host_file: Path, host_directory: Path, process: int, does: str = "get_out();") -> Plan:
    """Return a plan whose own algorithm does something when it is loaded."""
    defined = {"HOST_FILE": f'"{host_file}"', "HOST_DIRECTORY": f'"{host_directory}"', "HOST_PROCESS": process}
    head = "".join(f"#define {name} {value}\n" for name, value in defined.items())
    before, _, after = STARTER.partition(REGISTER)
    source = f"{before}{head}{CODE}{REGISTER}\t{does}\n{after}"
    algorithm = OwnAlgorithm(
        kind="congestion_control", name="mine", file="mine.c", sha256=sha256_of(source), source=source
    )
    transport = CUBIC.model_copy(update={"congestion_control": "mine"})
    base = star(3, traffic=(LONG,), transport=transport, queue=Queue(limit_bytes=64_000))
    return base.model_copy(update={"algorithms": (algorithm,)})


@pytest.mark.parametrize("mode", ["off", "auto"])
def test_a_kernel_that_was_taken_over_reaches_nothing_of_the_host(
    mode: str, vm: Vm, victim: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABRICLAB_SECCOMP", mode)
    directory = tmp_path / "somebody's"
    directory.mkdir()
    secret = directory / "secret"
    secret.write_text("secret\n")
    before = secret.stat()
    result = vm.run(plan(secret, directory, victim.pid))
    assert result.status == "complete", result.message
    run = result.directory
    log = (run / "logs" / "kernel.log").read_text()
    binds = log.splitlines()[0].removeprefix("boundary: ")
    if not is_whole(binds):
        pytest.skip(f"this host binds a machine by {binds} only")
    said = {what: int(number) for what, number in re.findall(r"escape: (.+): (-?\d+)$", log, re.MULTILINE)}
    assert "escape: done" in log and len(said) > 55
    assert {what: number for what, number in said.items() if number >= 0} == ALLOWED
    assert victim.poll() is None
    after = secret.stat()
    assert (secret.read_text(), after.st_mode, after.st_nlink) == ("secret\n", before.st_mode, 1)
    assert (after.st_mtime_ns, after.st_uid) == (before.st_mtime_ns, before.st_uid)
    assert [path.name for path in directory.iterdir()] == ["secret"]
    assert not [path for path in run.rglob("*") if path.is_symlink() or path.stat().st_mode & 0o6000]
    assert (run / "manifest.json").is_file() and f'"boundary": "{binds}"' in (run / "manifest.json").read_text()


def test_what_it_starts_is_of_its_group_and_dies_with_it(vm: Vm, tmp_path: Path) -> None:
    """A child of the kernel's process that would stay: it may not leave the group that is killed at the end."""
    # fork, setsid, pause for ever.
    child = "if (host(57, 0, 0, 0, 0, 0) == 0) { host(112, 0, 0, 0, 0, 0); for (;;) host(34, 0, 0, 0, 0, 0); }"
    assert vm.run(plan(tmp_path / "none", tmp_path, 1, f"{child} (void)get_out;")).status == "complete"
    assert not machines(vm)


def machines(vm: Vm) -> list[str]:
    """Return the processes of the machine's kernel that work in a directory that is gone, as one that outlived its run
    would; of other tests' machines it is there."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "exe").readlink() == vm.artefacts.kernel:
                place = str((process / "cwd").readlink())
                found += [place] if place.endswith(" (deleted)") else []
    return found


def test_a_signal_reaches_a_process_that_is_not_bound() -> None:
    """The victim of the tests above can be killed by its user: what saves it is the boundary."""
    with subprocess.Popen(["sleep", "600"]) as process:
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
