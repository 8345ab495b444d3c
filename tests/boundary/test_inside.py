"""What a program in a node may do and see, as root there: the second line of the boundary, inside the machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from filtered import LANDLOCK, without
from sample_plans import star
from vm import Vm, fabriclab_command

pytestmark = pytest.mark.vm

SYS_MODULE, SYS_RAWIO, SYS_BOOT, MKNOD, NET_ADMIN, NET_RAW = 16, 17, 22, 27, 12, 13
SCRIPT = r"""
grep CapBnd /proc/self/status
cat /proc/sys/kernel/modules_disabled
echo "cmdline $(cat /proc/cmdline)"
echo "mounts $(cat /proc/mounts | tr '\n' ' ')"
echo "dates $(stat -c %Y /job/machine/job.json /job/logs /usr/bin/env | sort -u | tr '\n' ' ')"
echo "now $(date +%s)"
echo "owners $(stat -c %u:%g /job/machine/job.json /job/logs /usr/bin/env | sort -u | tr '\n' ' ')"
echo "disk $(df -B1 --output=size,avail /job | tail -1)"
ln -s /etc/passwd /job/report.html
ln -s /etc/passwd /job/logs/link
ln /job/logs/inside@h1.log /job/logs/hard
mkfifo /job/logs/pipe
mknod /dev/own c 10 240
echo changed >/job/machine/job.json
echo changed >/job/plan.json
cp /bin/sh /job/logs/shell && chmod 4755 /job/logs/shell && stat -c 'inside %a' /job/logs/shell
mkdir -p /job/mine && echo mine >/job/mine/file
printf x >"/job/logs/$(printf 'a\033[31mb')"
echo over >/job/logs/kernel.log
insmod /job/logs/shell || modprobe dummy2 || true
"""


@pytest.fixture
def said(vm: Vm) -> dict[str, str]:
    traffic = [{"name": "inside@h1", "node": "h1", "argv": ["/bin/sh", "-c", SCRIPT]}]
    outcome = vm.boot(star(3), traffic)
    run = vm.directory / "run"
    text = (run / "logs" / "inside@h1.log").read_text()
    assert outcome.status == "complete", text
    return {"message": outcome.message, "text": text, "run": str(run)}


def test_root_in_a_node_has_what_networking_needs(said: dict[str, str]) -> None:
    bounding = int(said["text"].split("CapBnd:")[1].split()[0], 16)
    for kept in (NET_ADMIN, NET_RAW):
        assert bounding >> kept & 1
    for dropped in (SYS_MODULE, SYS_RAWIO, SYS_BOOT, MKNOD):
        assert not bounding >> dropped & 1
    assert said["text"].splitlines()[1] == "1"  # modules_disabled


def test_nothing_inside_tells_of_the_host(said: dict[str, str], vm: Vm) -> None:
    """No paths, no dates, no owners, not how full its disk is."""
    home = str(Path.home())
    for told in (str(vm.directory), str(vm.artefacts.rootfs), str(vm.artefacts.tools), home + "/"):
        assert told not in said["text"]
    lines = dict(line.split(" ", 1) for line in said["text"].splitlines() if " " in line)
    # They are as old as the machine.
    (dated,) = map(int, lines["dates"].split())
    assert 0 <= int(lines["now"]) - dated < 60
    assert lines["owners"].split() == ["0:0"]
    assert lines["disk"].split() == [str(1 << 40), str(1 << 40)]


def test_what_a_program_leaves_behind_is_plain_files_or_nothing(said: dict[str, str]) -> None:
    run = Path(said["run"])
    assert not [path for path in run.rglob("*") if path.is_symlink() or not (path.is_file() or path.is_dir())]
    assert not (run / "report.html").exists() and not (run / "scratch").exists()
    assert "inside 4755" in said["text"], "the program sees the mode that it chose"
    assert (run / "logs" / "shell").stat().st_mode & 0o7777 == 0o644
    assert (run / "output" / "mine" / "file").read_text() == "mine\n", "what has no place of its own in a run"
    assert (run / "machine" / "job.json").read_text() != "changed\n"
    assert (run / "plan.json").read_text() != "changed\n"
    # The host's own log stays its own, and is the only one of that name.
    assert (run / "logs" / "kernel.log").read_text().startswith("boundary: ")
    assert "'logs/kernel.log' has the name of one of the host's own logs: left out" in said["message"]
    assert "'logs/a\\x1b[31mb' has a name that can't be shown: left out" in said["message"]


@pytest.mark.slow("runs a lab as a process of its own, with its report")
def test_a_host_without_landlock_runs_labs_and_says_so(tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = subprocess.run(
        [*fabriclab_command(), "run", "incast", "--set", "senders=2", "--out", str(out)],
        preexec_fn=without(LANDLOCK),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "FABRICLAB_SECCOMP": "off"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    manifest = (out / "manifest.json").read_text()
    assert '"boundary": "no landlock (files and signals are not bound), seccomp"' in manifest
    assert '"status": "complete"' in manifest
