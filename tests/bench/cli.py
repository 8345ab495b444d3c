"""What the command line costs on this host beside the machine: CPU seconds, user and system, the least of some tries. Judges nothing.

    python3 tests/bench/cli.py [--repeat N]

help     `fabriclab --help`
labs     `fabriclab labs`
plan     `fabriclab plan labs/dctcp-queue`
check    `fabriclab check labs/mptcp-short-flows`: 2,396 points
where    `images/machine/build --where`, which every run asks once
report   `fabriclab report` of a run of labs/dctcp-queue
run      `fabriclab run labs/dctcp-queue`, all of it, and in brackets how much of that was the machine's

CPU time counts what Preloading does while the machine runs, which no one waits for where a second CPU is idle.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
FABRICLAB = (sys.executable, "-m", "fabriclab")


def cpu_s(*command: str | Path) -> float:
    """Return the CPU seconds of a command and all that it starts. Raises CalledProcessError."""
    before = _spent_s()
    subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return _spent_s() - before


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
        commands: dict[str, tuple[str | Path, ...]] = {
            "help": (*FABRICLAB, "--help"),
            "labs": (*FABRICLAB, "labs"),
            "plan": (*FABRICLAB, "plan", "labs/dctcp-queue"),
            "check": (*FABRICLAB, "check", "labs/mptcp-short-flows"),
            "where": (PROJECT / "images" / "machine" / "build", "--where"),
            "run": (*FABRICLAB, "run", "labs/dctcp-queue", "--out", run, "--force"),
            "report": (*FABRICLAB, "report", run),
        }
        for what, command in commands.items():
            least = min(cpu_s(*command) for _ in range(repeat))
            wall_s = f"  (the machine: {json.loads((run / 'manifest.json').read_text())['wall_s']} s of wall time)" if what == "run" else ""
            print(f"{what:8} {least:6.2f} s{wall_s}", flush=True)


if __name__ == "__main__":
    main()
