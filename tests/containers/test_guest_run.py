"""`images/guest/run`: commands in the guest and what they leave. QEMU and ssh are stand-ins, so nothing boots."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SSH = """#!/usr/bin/env bash
# As ssh does: whatever comes by standard input is taken, unless it is told -n.
case " $* " in *" -n "*) ;; *) cat >/dev/null ;; esac
command=${!#}
command=${command//\\/root\\/environment/\\/dev\\/null}
eval "${command//\\/out/$GUEST_OUT}"
"""
STAND_INS = {
    "ssh": SSH,
    "qemu-system-x86_64": "#!/usr/bin/env bash\nexec sleep 60\n",
    "mkfs.ext4": "#!/usr/bin/env bash\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the script, a guest that is built, and programs that it calls."""
    guest = tmp_path / "checkout" / "images" / "guest"
    (guest.parent / "machine").mkdir(parents=True)
    guest.mkdir()
    shutil.copy(ROOT / "images/guest/run", guest / "run")
    for name in ("processor.sh", "cache.sh", "contents.sh"):
        shutil.copy(ROOT / "images/machine" / name, guest.parent / "machine" / name)
    for path, text in {
        **{tmp_path / "bin" / name: text for name, text in STAND_INS.items()},
        guest.parent / "machine" / "build": "#!/bin/sh\n",
        guest / "build": f"#!/bin/sh\necho {tmp_path / 'built'}\n",
    }.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    shutil.copy("/bin/true", tmp_path / "bin" / "containerlab")
    (tmp_path / "built").mkdir()
    (tmp_path / "built" / "key").write_text("a key")
    subprocess.run(["git", "init", "-q", str(tmp_path / "checkout")], check=True)
    return tmp_path


def run(directory: Path, words: list[str], lines: str = "") -> subprocess.CompletedProcess[str]:
    (directory / "out").mkdir(exist_ok=True)
    environment = {**os.environ, "PATH": f"{directory / 'bin'}:{os.environ['PATH']}", "CONTAINERLAB": ""}
    environment |= {"GUEST_OUT": str(directory / "out"), "XDG_CACHE_HOME": str(directory), "TMPDIR": str(directory)}
    argv = [str(directory / "checkout" / "images" / "guest" / "run"), *words]
    return subprocess.run(
        argv, env=environment, input=lines, capture_output=True, text=True, check=False, timeout=60, cwd=directory
    )


def test_each_line_is_a_command_whose_files_come_before_the_next(checkout: Path) -> None:
    """Before, ssh's waiting for the boot took the lines."""
    lines = "echo one >/out/first; echo told\nls /out\nfalse\n"
    done = run(checkout, ["--out", str(checkout / "here"), "--lines"], lines)
    assert done.stdout == "ended 0\nended 0\nended 1\n", done.stderr
    assert "told\n" in done.stderr, "what a command prints goes to standard error"
    assert "first" not in done.stderr, "what was brought is no longer in the guest"
    assert (checkout / "here" / "first").read_text() == "one\n"
    assert done.returncode == 0


def test_a_command_of_its_own_ends_with_its_status_and_nothing_is_left(checkout: Path) -> None:
    done = run(checkout, ["--out", str(checkout / "here"), "sh", "-c", "echo a >/out/file; exit 5"])
    assert (done.returncode, done.stdout) == (5, ""), done.stderr
    assert (checkout / "here" / "file").read_text() == "a\n"
    assert not list(checkout.glob("tmp.*")), "its disk and its key are gone"
