"""images/sonic/trial, as a person with the image runs it; Docker and fabriclab are stand-ins."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from repository import ROOT

TRIAL = ROOT / "images" / "sonic" / "trial"
DOCKER = """#!/bin/sh
case "$1" in
  version) echo 27.1 ;;
  image) [ "$5" = "docker-sonic-vs:ours" ] && echo "sha256:1 amd64" || { echo "no such image" >&2; exit 1; } ;;
  create) echo c1 ;;
  export) tar -c -C "$FILES" . ;;
  rm) echo "$@" >> "$FILES/../removed" ;;
esac
"""
FABRICLAB = """#!/bin/sh
case "$1" in
  run) grep "image: 'docker-sonic-vs:ours'" "$2/topology.clab.yml"; echo "home is $HOME at $2"; exit ${FAILS:-0} ;;
  sonic) [ -f "$4/etc/release" ] && echo "daemons of $(cat "$4/etc/release")" ;;
  *) echo "$@" ;;
esac
"""


def tried(directory: Path, image: str = "docker-sonic-vs:ours", **environment: str) -> tuple[int, str, str]:
    """Return exit status, report and what was printed."""
    (directory / "root" / "etc").mkdir(parents=True)
    (directory / "root" / "etc" / "release").write_text("202511")
    programs = directory / "bin"
    programs.mkdir()
    for name, text in {
        "docker": DOCKER,
        "fabriclab": FABRICLAB,
        "containerlab": "#!/bin/sh\necho version: 0.70\n",
    }.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    report = directory / "report.txt"
    own = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "FILES": str(directory / "root"),
        "HOME": str(directory / "home"),
    }
    done = subprocess.run(
        [TRIAL, image, report], env={**os.environ, **own, **environment}, capture_output=True, text=True, check=False
    )
    return done.returncode, report.read_text() if report.exists() else "", done.stderr


def test_each_step_is_in_the_report(tmp_path: Path) -> None:
    status, report, said = tried(tmp_path)
    assert status == 0 and "result: all steps ended well" in report, report
    assert "image: 'docker-sonic-vs:ours'" in report and "daemons of 202511" in report and "sha256:1 amd64" in report
    assert report.count("exit status 0") == 7 and "report: " in said
    assert (tmp_path / "removed").read_text() == "rm -f c1\n"


def test_the_report_has_no_names_of_the_host(tmp_path: Path) -> None:
    report = tried(tmp_path)[1]
    assert "home is ~ at /tmp/trial/lab" in report
    assert str(tmp_path / "home") not in report and str(ROOT) not in report


def test_a_failed_step_is_told_and_the_others_run(tmp_path: Path) -> None:
    status, report, _ = tried(tmp_path, FAILS="3")
    assert status == 1 and "exit status 3" in report and "daemons of 202511" in report
    assert "result: a step failed" in report


@pytest.mark.parametrize("image", ["", "a b", "$(reboot)", "-x"])
def test_what_is_no_image_is_refused(image: str, tmp_path: Path) -> None:
    status, report, said = tried(tmp_path, image)
    assert status == 2 and not report and "is no image" in said
