"""Labs on both engines, beside each other: what was measured, by how much the engines differ, and why.

`run ENGINE DIRECTORY [CASE...]` runs the cases; `images/guest/run` does it for containers, where a stock kernel is.
The virtual machine runs each with several seeds: late starts decide which flow loses a packet, and no two runs in
containers have the same. `compare DIRECTORY` compares both and fails where containers are outside of what the seeds
give by more than a case allows. `keep DIRECTORY` writes what was measured to docs/engines.json, of which
docs/engines.md is made (`engines_page.py`).

`cases.py` has them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from cases import CASES, Case

ROOT = Path(__file__).resolve().parents[2]
ENGINES = ("vm", "containerlab")
SEEDS = range(1, 6)
"""Of the virtual machine's runs of a case."""
GOODPUT, QUEUE = 0.02, 0.10
"""How far containers may be outside of the machine's range where nothing is said: shares of its nearer end."""
RECORD = ROOT / "docs" / "engines.json"


def directory_of(case: Case, engine: str, out: Path) -> Path:
    """Return where a case's run lies; of the virtual machine there is a run for each seed in it."""
    return out / engine / "".join(letter if letter.isalnum() else "-" for letter in case.name.lower())


def runs_of(case: Case, engine: str, out: Path) -> dict[Path, list[str]]:
    """Return where the runs of a case lie, and what `fabriclab run` is given for each."""
    place = directory_of(case, engine, out)
    if engine != "vm":
        return {place: case.argv}
    return {place / f"seed-{seed}": [*case.argv, "--seed", str(seed)] for seed in SEEDS}


def is_there(case: Case, engine: str, out: Path) -> bool:
    """Return whether all runs of a case have left results."""
    return all((directory / "summary.json").is_file() for directory in runs_of(case, engine, out))


def run(engine: str, out: Path, names: list[str]) -> int:
    """Run cases one after the other; returns how many did not leave results."""
    broken = 0
    for case in CASES:
        if names and case.name not in names:
            continue
        print(f"== {case.name}: {engine}", flush=True)
        for directory, words in runs_of(case, engine, out).items():
            argv = [sys.executable, "-m", "fabriclab", "run", *words, "--trust", "--no-report", "--force"]
            argv += ["--engine", engine, "--out", str(directory)]
            done = subprocess.run(
                argv, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
            )
            print("\n".join(done.stderr.splitlines()[-3:]), flush=True)
        broken += not is_there(case, engine, out)
    return broken


def measured(case: Case, out: Path) -> dict[str, Any] | None:
    """Return what a run in containers found, None where there is none."""
    directory = directory_of(case, "containerlab", out)
    if not (directory / "summary.json").is_file():
        return None
    summary = json.loads((directory / "summary.json").read_text())["metrics"]
    manifest = json.loads((directory / "manifest.json").read_text())
    found = {name: summary.get(name) for name in case.metrics}
    return {"status": manifest["status"], "metrics": found}


def emulated(case: Case, out: Path) -> dict[str, list[float] | None] | None:
    """Return what the virtual machine's runs found, sorted; None where one is missing, or has not got a metric."""
    if not is_there(case, "vm", out):
        return None
    runs = [json.loads((directory / "summary.json").read_text())["metrics"] for directory in runs_of(case, "vm", out)]
    found: dict[str, list[float] | None] = {}
    for name in case.metrics:
        values = [run.get(name) for run in runs]
        found[name] = None if None in values else sorted(values)
    return found


def outside(virtual: list[float] | None, real: float | None) -> float | None:
    """Return by which share containers are outside of the machine's range, 0 within it; None where one of them is not
    known, or the range ends at 0."""
    if virtual is None or real is None:
        return None
    nearer = min(max(real, virtual[0]), virtual[-1])
    if nearer == real:
        return 0.0
    return real / nearer - 1 if nearer else None


def bound(name: str) -> float | None:
    """Return by how much the engines may differ; None: it is shown, not judged."""
    if name.startswith(("goodput_bps", "throughput_bps")):
        return GOODPUT
    return QUEUE if name.startswith("queue_mean_bytes") else None


def compare(out: Path) -> list[str]:
    """Return what differs by more than it may and has no reason."""
    wrong = []
    for case in CASES:
        virtual, real = emulated(case, out), measured(case, out)
        if virtual is None or real is None:
            continue
        for name in case.metrics:
            off, most = outside(virtual[name], real["metrics"][name]), bound(name)
            shown = "unknown" if off is None else f"{off:+.1%}"
            print(f"{case.name}: {name} {virtual[name]} {real['metrics'][name]} {shown} {real['status']}")
            if off is not None and most is not None and abs(off) > most and name not in case.reasons:
                wrong.append(f"{case.name}: {name} is outside by {off:+.1%}, at most {most:.0%} is expected")
    return wrong


def kept(case: Case, out: Path) -> dict[str, Any] | None:
    """Return what the page says of a case, None where an engine has not run it."""
    virtual, real = emulated(case, out), measured(case, out)
    if virtual is None or real is None or real["status"] not in ("complete", "starved"):
        return None
    manifest = json.loads((directory_of(case, "containerlab", out) / "manifest.json").read_text())
    calibration = manifest.get("calibration") or {}
    metrics = [
        {
            "name": name,
            "vm": virtual[name],
            "containerlab": real["metrics"][name],
            "reason": case.reasons.get(name, ""),
        }
        for name in case.metrics
    ]
    links = {key: calibration.get(key) for key in ("slowest_path", "worst_line")}
    where = {"lab": case.lab, "settings": dict(case.settings), "kernel": manifest["versions"]["kernel"]}
    return {"name": case.name, **where, "status": real["status"], "metrics": metrics, **links}


def keep(out: Path) -> int:
    """Write what both engines measured to the page's data: cases that ran stand for what was there of them."""
    found = {case.name: record for case in CASES if (record := kept(case, out)) is not None}
    before = json.loads(RECORD.read_text())["cases"] if RECORD.is_file() else []
    every = {case["name"]: case for case in before} | found
    cases = [every[case.name] for case in CASES if case.name in every]
    RECORD.write_text(json.dumps({"cases": cases}, indent=1) + "\n")
    print(f"{RECORD}: {len(found)} of {len(CASES)} cases are of these runs")
    return 0 if len(found) == len(CASES) else 1


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run", help="run the cases on an engine")
    running.add_argument("engine", choices=ENGINES)
    running.add_argument("directory", type=Path)
    running.add_argument("cases", nargs="*", help="names; none: all")
    for name, text in (("compare", "say by how much the engines differ"), ("keep", "write docs/engines.json")):
        commands.add_parser(name, help=text).add_argument("directory", type=Path)
    arguments = parser.parse_args()
    if arguments.command == "run":
        return min(run(arguments.engine, arguments.directory, arguments.cases), 1)
    if arguments.command == "keep":
        return keep(arguments.directory)
    wrong = compare(arguments.directory)
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
