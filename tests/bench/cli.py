"""What the command line costs on this host beside the machine: CPU seconds, user and system, the least of some tries.
Judges nothing.

    python3 tests/bench/cli.py [--repeat N]

help     `fabriclab --help`
labs     `fabriclab labs`
plan     `fabriclab plan labs/dctcp-queue`
check    `fabriclab check labs/dctcp-queue`: 4 points; nearly all of it is Python that starts and ends
points   `fabriclab check labs/mptcp-short-flows`: 2,396 points
where    `images/machine/build --where`, which every run asks once
report   `fabriclab report` of a run of labs/dctcp-queue
stills   its figures as still pictures, drawn again in a process that has all it needs
own      of `fabriclab run labs/dctcp-queue` what its user waits for beside the machine: fabriclab's own CPU time before
the machine starts,
         and after it has ended. Its ratio to help, of the same minute, is what can be compared between hosts,
         busy or idle
run      `fabriclab run labs/dctcp-queue`, all of it, with the machine and what is loaded while that runs
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
FABRICLAB = (sys.executable, "-m", "fabriclab")

OWN = """
import resource, sys
import fabriclab.runs.point as point
from fabriclab.cli import main

def spent_s():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime

execute, marks = point.execute, []

def timed(*arguments):
    marks.append(spent_s())
    try:
        return execute(*arguments)
    finally:
        marks.append(spent_s())

point.execute = timed
try:
    main()
finally:
    print(marks[0], spent_s() - marks[1], file=sys.stderr)
"""
"""Runs the command line and tells the CPU seconds of its process before and after the machine."""


def cpu_s(*command: str | Path) -> float:
    """Return the CPU seconds of a command and all that it starts. Raises CalledProcessError."""
    before = _spent_s()
    subprocess.run(
        command, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    return _spent_s() - before


def own_s(*arguments: str | Path) -> tuple[float, float]:
    """Return the CPU seconds of fabriclab itself before its machine starts and after it has ended.

    Raises CalledProcessError.
    """
    command = [sys.executable, "-c", OWN, *arguments]
    done = subprocess.run(
        command, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    before, after = done.stderr.split()[-2:]
    return float(before), float(after)


def stills_s(run: Path, repeat: int) -> float:
    """Return the CPU seconds that the still pictures of a run's figures take, once their data are read."""
    from fabriclab.report.drawing.exhibits import Picture
    from fabriclab.report.drawing.stills import still
    from fabriclab.report.page import page_of

    pictures = [exhibit for exhibit in page_of([run]).exhibits if isinstance(exhibit, Picture)]
    least = float("inf")
    for _ in range(repeat):
        begun = time.process_time()
        for picture in pictures:
            still(picture.chart, picture.caption)
        least = min(least, time.process_time() - begun)
    return least


def _spent_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as name:
        run = Path(name) / "run"
        point = ("run", "labs/dctcp-queue", "--out", run, "--force")
        commands: dict[str, tuple[str | Path, ...]] = {
            "help": (*FABRICLAB, "--help"),
            "labs": (*FABRICLAB, "labs"),
            "plan": (*FABRICLAB, "plan", "labs/dctcp-queue"),
            "check": (*FABRICLAB, "check", "labs/dctcp-queue"),
            "points": (*FABRICLAB, "check", "labs/mptcp-short-flows"),
            "where": (PROJECT / "images" / "machine" / "build", "--where"),
            "run": (*FABRICLAB, *point),
            "report": (*FABRICLAB, "report", run),
        }
        least: dict[str, float] = {}
        for what, command in commands.items():
            least[what] = min(cpu_s(*command) for _ in range(repeat))
            print(f"{what:8} {least[what]:6.2f} s", flush=True)
        print(f"stills   {stills_s(run, repeat):6.3f} s", flush=True)
        before, after = min((own_s(*point) for _ in range(repeat)), key=sum)
        ratio = (before + after) / least["help"]
        print(
            f"own      {before + after:6.2f} s  ({before:.2f} before the machine, {after:.2f} after it; "
            f"{ratio:.1f} times help)"
        )


if __name__ == "__main__":
    main()
