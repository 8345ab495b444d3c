"""What a workshop's seats take on this host when all of them begin at once: a line for each number of seats.

    python3 tests/bench/seats.py [--seats N] [--lab LAB] [--notebook NAME] [--idle SECONDS]

prompt    seconds from `fabriclab up` to the first answer of a shell in a host: the median seat, and the last one
notebook  seconds until every second seat has run the notebook to its end, while all labs are up: the last one
memory    of a seat's lab and of a notebook's kernel: pages that several processes share are divided among them
idle      how much of one processor a seat takes whose lab is up and has no traffic

A seat is what `docker compose up workshop` gives to a participant, without its container: a home and a runtime
directory of its own, the lab, and for every second seat a notebook's kernel. `docs/workshop.md` has measured values.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_MIB = 2**20
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Seat:
    """One participant's place: a directory, and the environment in which commands run."""

    def __init__(self, directory: Path) -> None:
        """Make it, with a copy of labs and notebooks. Its name is short: a socket's path has at most 107 bytes."""
        directory.mkdir()
        for name in ("labs", "analysis"):
            shutil.copytree(_ROOT / name, directory / name)
        (directory / "run").mkdir(mode=0o700)
        self.directory = directory
        cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        paths = {"HOME": str(directory), "XDG_RUNTIME_DIR": str(directory / "run"), "XDG_CACHE_HOME": cache}
        self.environment = {**os.environ, **paths, "PYTHONPATH": str(_ROOT)}

    def fabriclab(self, *words: str) -> None:
        """Run a command to its end. Raises CalledProcessError."""
        command = [sys.executable, "-m", "fabriclab", *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=self.directory, env=self.environment)

    def first_prompt_s(self, lab: str) -> float:
        """Start the lab, without its traffic, and return the seconds until a shell in a host has answered."""
        began = time.monotonic()
        self.fabriclab("up", lab, "--idle", "--name", "mine", "--out", str(self.directory / "lab"))
        self.fabriclab("exec", "h1", "hostname")
        return time.monotonic() - began

    def notebook_s(self, notebook: str) -> float:
        """Run a notebook to its end and return the seconds that it took. Raises CalledProcessError."""
        began = time.monotonic()
        program = (
            "import nbformat, sys; from nbclient import NotebookClient as C;"
            "C(nbformat.read(sys.argv[1], as_version=4), timeout=None).execute()"
        )
        mine = self.directory / "analysis"
        command = [sys.executable, "-c", program, notebook]
        subprocess.run(command, check=True, cwd=mine, env=self.environment, stderr=subprocess.DEVNULL)
        return time.monotonic() - began

    def processes(self) -> list[Path]:
        """Return the processes of this seat: their command or their environment names its directory."""
        mark = re.compile(re.escape(str(self.directory).encode()) + rb"(/|\0|$)")
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                texts = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            except OSError:
                continue
            if mark.search(texts):
                found.append(process)
        return found


def memory_mib(processes: list[Path]) -> float:
    """Return the memory of processes, a shared page's part by part (`Pss` of proc(5))."""
    total = 0
    for process in processes:
        try:
            found = re.search(r"^Pss: +(\d+) kB$", (process / "smaps_rollup").read_text(), re.MULTILINE)
        except OSError:  # it has ended
            continue
        total += int(found[1]) * 1024 if found else 0
    return total / _MIB


def cpu_s(processes: list[Path]) -> float:
    """Return the CPU time that processes have taken."""
    ticks = 0
    for process in processes:
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS_PER_S


def measure(number: int, options: argparse.Namespace) -> str:
    """Let so many participants begin at once; return the line of the table."""
    with tempfile.TemporaryDirectory(prefix="seats-") as name, ThreadPoolExecutor(number) as participants:
        seats = [Seat(Path(name) / f"s{at}") for at in range(number)]
        try:
            prompts = list(participants.map(lambda seat: seat.first_prompt_s(options.lab), seats))
            memory = statistics.mean(memory_mib(seat.processes()) for seat in seats)
            before = [cpu_s(seat.processes()) for seat in seats]
            time.sleep(options.idle)
            idle = [cpu_s(seat.processes()) - was for seat, was in zip(seats, before, strict=True)]
            running = [participants.submit(seat.notebook_s, options.notebook) for seat in seats[::2]]
            kernel = 0.0
            while not all(one.done() for one in running):
                kernel = max(kernel, statistics.mean(memory_mib(seat.processes()) for seat in seats[::2]) - memory)
                time.sleep(2)
            notebooks = [one.result() for one in running]
        finally:
            list(participants.map(lambda seat: seat.fabriclab("down", "--all"), seats))
    return (
        f"{number:>5}  {statistics.median(prompts):>6.1f} s {max(prompts):>6.1f} s  {max(notebooks):>7.1f} s  "
        f"{memory:>5.0f} MB  {kernel:>5.0f} MB  {statistics.mean(idle) / options.idle:>6.1%}"
    )


def main() -> None:
    """Measure one seat, then all of them at once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seats", type=int, default=20)
    parser.add_argument("--lab", default="labs/leaf-spine")
    parser.add_argument("--notebook", default="start.ipynb", help="of analysis/")
    parser.add_argument("--idle", type=float, default=10, help="seconds")
    options = parser.parse_args()
    print(f"{options.lab}, {options.notebook}, {len(os.sched_getaffinity(0))} cores")
    print("seats  prompt, and last   notebook       lab    kernel    idle")
    for number in sorted({1, options.seats}):
        print(measure(number, options), flush=True)


if __name__ == "__main__":
    main()
