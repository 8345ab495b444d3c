"""What `make machine` and `make venv` say while they build: each step once in a log, how it ended,
nothing left running."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

from patience import patient

ROOT = Path(__file__).parents[2]
PROGRESS = ROOT / "images" / "machine" / "progress.sh"
BUILD = ROOT / "images" / "machine" / "build"


def shell(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    lines = f"set -euo pipefail\nsource '{PROGRESS}'\n{script}"
    return subprocess.run(
        ["bash", "-c", lines], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


def test_a_log_has_a_line_for_each_step(tmp_path: Path) -> None:
    steps = (
        "at() { cat step 2>/dev/null || true; }\nwork() { echo 'unpacking' >step; until [ -e seen ]; do sleep 0.1; "
        "done; echo result; }\n"
    )
    # The work goes on when its step was told: nothing here waits for a time.
    watch = "{ until grep -q unpacking log 2>/dev/null; do sleep 0.1; done; touch seen; } &\n"
    done = shell(f"cd '{tmp_path}'\n{steps}{watch}progress '[1/2] kernel' at work 2>log\nwait")
    assert (done.returncode, done.stdout) == (0, "result\n")
    said = (tmp_path / "log").read_text().splitlines()
    assert sum("[1/2] kernel: unpacking, " in line for line in said) == 1
    assert said[-1].startswith("[1/2] kernel: done in ")


def test_a_failure_is_told_and_kept() -> None:
    done = shell('at() { :; }\nwork() { return 7; }\nprogress tools at work || echo "status $?"')
    assert done.stdout == "status 7\n"
    assert "tools: failed after " in done.stderr


def test_nothing_runs_on_when_the_build_is_interrupted(tmp_path: Path) -> None:
    ticker = tmp_path / "ticker"
    script = f"source '{PROGRESS}'\nat() {{ echo $PPID >'{ticker}'; }}\n"
    script += f"work() {{ until [ -s '{ticker}' ]; do sleep 0.1; done; kill -INT $$; }}\nprogress x at work"
    subprocess.run(["bash", "-c", script], capture_output=True, check=False, timeout=patient(30))
    # Its output is a pipe that was read to the end: nobody holds it any more.
    assert ticker.exists()


def test_a_terminal_has_one_line_that_changes(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    ours, theirs = pty.openpty()
    script = (
        f"source '{PROGRESS}'\nat() {{ echo 'compiling, 3 files so far'; }}\nwork() {{ until [ -e '{seen}' ]; "
        f"do sleep 0.1; done; }}\nprogress kernel at work"
    )
    with subprocess.Popen(["bash", "-c", script], stderr=theirs, stdout=subprocess.DEVNULL):
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 4096)
            except OSError:
                break
            if b"so far" in shown:
                seen.touch()
    os.close(ours)
    assert re.search(rb"\r\x1b\[Kkernel: compiling, 3 files so far, \d+ s", shown)
    assert b"kernel: done in " in shown.splitlines()[-1]


def test_steps_are_read_off_what_lies_there(tmp_path: Path) -> None:
    functions = BUILD.read_text().partition("\naction=build\n")[0].replace("here=$(cd", f"here='{BUILD.parent}' #")
    kernel = tmp_path / "fabriclab" / "kernel" / "k.partial.1"

    def step(kind: str) -> str:
        environment = {"PATH": os.environ["PATH"], "XDG_CACHE_HOME": str(tmp_path)}
        return subprocess.run(
            ["bash", "-c", f"{functions}\nstep_of_{kind}"], capture_output=True, text=True, check=False, env=environment
        ).stdout.strip()

    assert step("rootfs") == "asking Debian's archive"
    (tmp_path / "fabriclab" / "rootfs" / "r.partial.1" / "root" / "usr" / "bin").mkdir(parents=True)
    assert step("rootfs").startswith("unpacking packages, ")
    assert step("tools").startswith("compiling, ")
    kernel.mkdir(parents=True)
    said = [step("kernel")]
    for make in ("source", "version", "objects", "objects/a.o"):
        if make in ("source", "objects"):
            (kernel / make).mkdir()
        else:
            (kernel / make).touch()
        said.append(step("kernel"))
    assert said[:4] == ["downloading its source", "unpacking its source", "patching it", "configuring it"]
    assert said[4:] == ["compiling, 1 of about 1030 files"]
    for number in range(1030):
        (kernel / "objects" / f"{number}.o").touch()
    assert step("kernel") == "compiling, 1031 files"
    (kernel / "linux").touch()
    (kernel / "source").rmdir()
    assert step("kernel") == "tidying up", "its source goes, which is not a download"


def test_what_is_left_is_told_where_it_can_be_known(tmp_path: Path) -> None:
    # The ticker is asked a second time only when it has told what it was asked first.
    step = f"at() {{ printf x >>'{tmp_path}/asked'; printf 'compiling\\t400\\n'; }}\n"
    work = f"work() {{ until grep -q xx '{tmp_path}/asked' 2>/dev/null; do sleep 0.1; done; }}\n"
    said = shell(f"{step}{work}progress kernel at work").stderr
    assert re.search(r"^kernel: compiling, \d+ s, about 7 min to go$", said, re.MULTILINE)
    assert shell("for s in 20 60 100; do about $s; done").stdout.splitlines() == [
        "less than a minute",
        "about a minute",
        "about 2 min",
    ]


def test_the_demo_names_its_steps_and_counts_through_all_programs(tmp_path: Path) -> None:
    copy = tmp_path / "checkout"
    for name in (".ci/demo", "images/machine/build"):
        (copy / name).parent.mkdir(parents=True)
    (copy / ".ci" / "deps").write_text("#!/bin/sh\necho deps\n")
    (copy / ".ci" / "demo").write_bytes((ROOT / ".ci" / "demo").read_bytes())
    (copy / "images" / "machine" / "build").write_text("#!/bin/sh\nprintf 'kernel=\\nrootfs=/r\\ntools=\\n'\n")
    (copy / ".venv" / "bin").mkdir(parents=True)
    (copy / "bin").mkdir()
    for program, body in {
        "bin/make": 'echo "$* $STEPS" >&2',
        ".venv/bin/fabriclab": 'echo "$* $STEPS"',
        ".venv/bin/python": '[ "$1" = .ci/page.py ]  # no charts are there yet',
    }.items():
        (copy / program).write_text(f"#!/bin/sh\n{body}\n")
    programs = (*(copy / "bin").iterdir(), *(copy / ".venv" / "bin").iterdir())
    for script in (copy / "images/machine/build", copy / ".ci" / "deps", *programs):
        script.chmod(0o755)
    path = f"{copy}/bin:{os.environ['PATH']}"
    done = shell(f"bash '{copy}/.ci/demo' .venv/.made-1", PATH=path)
    said = done.stdout.splitlines()
    assert [line[:6] for line in said[1:6]] == ["  [1] ", "  [2] ", "  [3] ", "  [4] ", "  [5] "]
    assert done.stderr == (
        "--no-print-directory --silent -j4 venv part-kernel part-tools charts packages kernel tools charts lab\n"
    )
    assert said[6:] == ["deps", "[5/5] the in-cast lab", "sweep labs/incast "]


def test_a_step_is_numbered_among_those_that_were_named() -> None:
    steps = "packages kernel lab"
    assert shell("numbered kernel 'the kernel'; numbered rootfs", STEPS=steps).stdout == "[2/3] the kernel\nrootfs\n"
    assert shell("unset STEPS; numbered kernel").stdout == "kernel\n"
