"""`confine`, which starts the machine's kernel: what it binds, and what it says where the host can't."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from filtered import LANDLOCK, SECCOMP, without

from fabriclab.engine.artefacts import Artefacts
from fabriclab.engine.boundary import CONFINE, is_whole, what_binds

SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/proc", "/dev/null")


def confine(
    artefacts: Artefacts, arguments: Sequence[str], preexec: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(artefacts.tools / CONFINE), *arguments],
        capture_output=True,
        text=True,
        preexec_fn=preexec,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def shell(artefacts: Artefacts, script: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a shell that may execute the system's programs."""
    system = [f"--execute={path}" for path in SYSTEM if Path(path).exists()]
    return confine(artefacts, [*system, *options, "--", "/bin/sh", "-c", script])


def binds_whole(artefacts: Artefacts) -> None:
    binds = what_binds(artefacts.tools)
    if not is_whole(binds):
        pytest.skip(f"this host binds a machine by {binds} only")


def test_a_program_reads_and_writes_what_it_is_given(artefacts: Artefacts, tmp_path: Path) -> None:
    binds_whole(artefacts)
    for name in ("given", "read", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(f"{name}\n")
    script = (
        f"cd {tmp_path}; cat read/file given/file; echo x >given/new; cat other/file; echo x >other/new; "
        "echo x >read/new; mv read/file given/moved; ln -s ../other given/link; mkfifo given/pipe; ls other"
    )
    done = shell(artefacts, script, f"--read={tmp_path}/read", f"--write={tmp_path}/given")
    assert done.stdout.splitlines()[1:] == ["read", "given"]
    assert done.stdout.startswith("boundary: landlock ")
    assert done.stderr.count("ermission denied") == 7, done.stderr
    assert sorted(path.name for path in (tmp_path / "given").iterdir()) == ["file", "new"]
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["file"]


def test_it_has_no_privileges_no_core_and_no_more_files_than_it_may(artefacts: Artefacts, tmp_path: Path) -> None:
    script = "grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; ulimit -c; ulimit -f"
    lines = shell(artefacts, script, "--file-bytes=1048576").stdout.split()
    said = dict(zip(lines[-8:-2:2], lines[-7:-2:2], strict=True))
    # Root keeps its reach into other users' directories (DAC_OVERRIDE, DAC_READ_SEARCH) where files are bound.
    assert int(said["CapEff:"], 16) & ~0b110 == 0
    assert os.geteuid() != 0 or int(said["CapBnd:"], 16) & ~0b110 == 0
    assert said["NoNewPrivs:"] == "1"
    assert lines[-2:] == ["0", "2048"]  # in blocks of 512 bytes


@pytest.mark.parametrize(
    ("calls", "said"),
    [
        (LANDLOCK, "no landlock (files and signals are not bound), seccomp"),
        (SECCOMP, "no seccomp (system calls are not bound)"),
        ((*LANDLOCK, *SECCOMP), "no landlock (files and signals are not bound), no seccomp"),
    ],
)
def test_what_a_host_lacks_is_said(calls: Sequence[int], said: str, artefacts: Artefacts) -> None:
    done = confine(artefacts, ["--machine-calls", "--ask"], without(calls))
    assert done.returncode == 0 and said in done.stdout
    assert not is_whole(done.stdout)


def test_what_cannot_be_started_is_named(artefacts: Artefacts, tmp_path: Path) -> None:
    done = confine(artefacts, ["--", str(tmp_path / "none")])
    assert (done.returncode, done.stderr) == (125, f"confine: {tmp_path}/none: ENOENT: No such file or directory\n")
    done = confine(artefacts, [f"--read={tmp_path}/none", "--", "/bin/true"])
    assert done.returncode == 125 and f"{tmp_path}/none" in done.stderr
    assert "no program" in confine(artefacts, []).stderr or confine(artefacts, []).returncode == 2


def test_no_program_but_itself_may_be_executed_with_the_machines_calls(artefacts: Artefacts) -> None:
    """A shell that may make the machine's calls alone can't start anything."""
    binds_whole(artefacts)
    done = shell(artefacts, "echo begun; /bin/ls; echo $?", "--machine-calls")
    assert "begun" in done.stdout and "Function not implemented" in done.stderr
