"""What the first matrix of each lab takes of one CPU: the key `minutes` of its experiment.yml. usage: labs.py [LAB...]

It is CPU time, user and system, of `fabriclab sweep` and of all that it starts, one run at a time, so that a busy
computer moves it little. Nothing is written into the labs: who measures on an idle computer writes the figures there.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LABS = Path(__file__).parents[2] / "labs"


def cpu_minutes(lab: Path) -> float:
    """Return the CPU minutes of a lab's first matrix.

    Raises CalledProcessError when it can't be run; checks that fail do not matter.
    """
    before = _spent_s()
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "fabriclab", "sweep", str(lab), "--jobs", "1", "--out", f"{scratch}/sweep"]
        result = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if result.returncode not in (0, 1):
            raise subprocess.CalledProcessError(result.returncode, command, result.stdout, result.stderr)
    return (_spent_s() - before) / 60


def _spent_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Print a line for each lab."""
    names = sys.argv[1:] or sorted(directory.parent.name for directory in LABS.glob("*/experiment.yml"))
    for name in names:
        print(f"{name:20} {cpu_minutes(LABS / name):6.2f} CPU minutes", flush=True)


if __name__ == "__main__":
    main()
