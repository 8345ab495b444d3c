"""`make test-containers`: the engine's tests and the labs of both engines, part by part.

A part is one test, or one lab (`cases.py`), in the guest (`images/guest/run`). What a part leaves, and how it ended, is
in DIRECTORY as soon as it has ended. So the next call goes on where the last one stopped, and a person can do the hours
in pieces. Parts that failed are run again, after those that have not run yet.

Exits with 0 if everything passed, 1 if something failed, 2 if it could not begin, 3 if parts are left.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

from cases import CASES
from guest_sources import commit, sources
from side_by_side import ROOT, compare, directory_of, is_there
from side_by_side import run as run_cases

GUEST = ROOT / "images" / "guest" / "run"
HERE = "tests/containers"
PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"
LEFT = 3
"""Exit status: nothing failed, but parts are left."""


class GuestError(Exception):
    """The parts cannot be run, or not all of them; the message says why and what to do."""


@dataclass(frozen=True)
class Part:
    """A piece of the whole: its name, what runs in the guest, and what it leaves below the directory."""

    name: str
    command: str
    leaves: str


@dataclass(frozen=True)
class Ended:
    """How a part ended: its outcome, why (nothing if it passed), and how many seconds of the host's time it took."""

    outcome: str
    why: str
    seconds: float


def parts() -> list[Part]:
    """Return all parts: tests first, for a lab's figures say little about an engine that fails them."""
    return [_test(node) for node in _tests()] + [
        Part(
            case.name,
            f"python {HERE}/side_by_side.py run containerlab /out {shlex.quote(case.name)}",
            str(directory_of(case, "containerlab", Path())),
        )
        for case in CASES
    ]


def _tests() -> list[str]:
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-n0"]
    argv += ["--collect-only", "-m", "containers", HERE]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    found = [line for line in done.stdout.splitlines() if "::" in line and not line.startswith(("SKIPPED", "ERROR"))]
    if done.returncode != 0 or not found:
        raise GuestError(f"pytest does not find the engine's tests:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return found


def _test(node: str) -> Part:
    leaves = f"tests/{''.join(letter if letter.isalnum() else '-' for letter in node)}.xml"
    options = f"-p no:cacheprovider -q -m containers --junitxml=/out/{leaves}"
    # The guest has no pytest-timeout: it does not know our settings for that, and warnings are errors.
    options += " -W ignore::pytest.PytestConfigWarning"
    # Its Docker daemon is nobody else's: it may be killed.
    command = f"FABRICLAB_DAEMON_MAY_DIE=1 python -m pytest {options} {shlex.quote(node)}"
    return Part(node.removeprefix(f"{HERE}/"), command, leaves)


class Record:
    """DIRECTORY/parts.json: of which sources the parts are, and how each ended."""

    def __init__(self, out: Path, keep: bool) -> None:
        self._path = out / "parts.json"
        self._lock = threading.Lock()
        self.ended: dict[str, Ended] = {}
        now = {"sources": sources(ROOT), "commit": commit(ROOT)}
        if self._path.is_file():
            before = json.loads(self._path.read_text(encoding="utf-8"))
            self.ended = {name: Ended(**ended) for name, ended in before["parts"].items()}
            if before["sources"] != now["sources"] and not keep:
                raise GuestError(
                    f"{out} has {len(self.ended)} parts of other sources (commit {before['commit']}): remove it to"
                    " begin anew, or KEEP=1 goes on with what is left, and the whole is then of several sources"
                )
        out.mkdir(parents=True, exist_ok=True)
        self._sources = now

    def add(self, name: str, ended: Ended) -> None:
        """Keep how a part ended."""
        with self._lock:
            self.ended[name] = ended
            found = {key: asdict(value) for key, value in self.ended.items()}
            new = self._path.with_suffix(".new")
            new.write_text(json.dumps({**self._sources, "parts": found}, indent=1) + "\n", encoding="utf-8")
            new.replace(self._path)

    def left(self, every: Iterable[Part]) -> list[Part]:
        """Return the parts that are still to run: first those that have not run, then those that failed."""
        outcomes = [(part, self.ended[part.name].outcome if part.name in self.ended else "") for part in every]
        return [part for wanted in ("", FAILED) for part, outcome in outcomes if outcome == wanted]


def outcome(part: Part, status: int, out: Path, seconds: float) -> Ended:
    """Return how a part ended. A test that was skipped was not run, whatever its exit status says."""
    leaves = out / part.leaves
    if leaves.suffix != ".xml":
        manifest = leaves / "manifest.json"
        ran = json.loads(manifest.read_text(encoding="utf-8"))["status"] if manifest.is_file() else "no results"
        good = status == 0 and ran in ("complete", "starved")
        return Ended(PASSED if good else FAILED, "" if ran == "complete" else ran, seconds)
    if not leaves.is_file():
        return Ended(FAILED, f"pytest ended with {status} before any test did", seconds)
    skipped = ElementTree.parse(leaves).find(".//skipped")  # ours, from our own guest
    if skipped is not None:
        return Ended(NOT_RUN, skipped.get("message", ""), seconds)
    return Ended(PASSED if status == 0 else FAILED, "" if status == 0 else f"pytest ended with {status}", seconds)


class Guest:
    """A guest that runs one part after the other, until it is stopped."""

    def __init__(self, out: Path, program: Sequence[str]) -> None:
        self._out = out
        argv = [*program, "--out", str(out), "--lines"]
        # A group of its own: what it has started ends with it.
        self._process = subprocess.Popen(
            argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )

    def run(self, part: Part) -> Ended:
        """Run a part; GuestError if the guest is gone."""
        began = time.monotonic()
        leaves = self._out / part.leaves
        leaves.unlink(missing_ok=True) if leaves.suffix == ".xml" else shutil.rmtree(leaves, ignore_errors=True)
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            print(part.command, file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline().split()
        except BrokenPipeError:
            answer = []
        if len(answer) != 2:
            raise GuestError(f"the guest ended with {self._process.wait()} during: {part.name}")
        return outcome(part, int(answer[1]), self._out, time.monotonic() - began)

    def end(self) -> None:
        """Tell the guest to end, if it still runs; what it was at is then cut off."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGTERM)

    def close(self) -> None:
        """End the guest, and wait until it has ended."""
        self.end()
        with self._process:
            pass


class Work:
    """Parts that are run by several guests side by side, each of which takes the next one."""

    def __init__(self, record: Record, left: list[Part], out: Path, until: float, program: Sequence[str]) -> None:
        self._record, self._out, self._until, self._program = record, out, until, program
        self._queue = deque(left)
        self._all = len(left)
        self._lock = threading.Lock()
        self._guests: list[Guest] = []
        self.troubles: list[str] = []

    def run(self, jobs: int) -> None:
        """Run until nothing is left, or the time is over, or every guest is gone."""
        threads = [threading.Thread(target=self._one_guest) for _ in range(min(jobs, self._all))]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            self._queue.clear()
            for guest in self._guests:
                guest.end()
            for thread in threads:
                thread.join()

    def _one_guest(self) -> None:
        guest = Guest(self._out, self._program)
        self._guests.append(guest)
        try:
            while (part := self._next()) is not None:
                print(f"== {part.name}", file=sys.stderr, flush=True)
                ended = guest.run(part)
                self._record.add(part.name, ended)
                self._tell(part, ended)
        except GuestError as error:
            self.troubles.append(str(error))
        finally:
            guest.close()

    def _next(self) -> Part | None:
        with self._lock:
            return self._queue.popleft() if self._queue and time.monotonic() < self._until else None

    def _tell(self, part: Part, ended: Ended) -> None:
        why = f" ({ended.why})" if ended.why else ""
        left = f"{len(self._queue)} of {self._all} parts are left"
        print(
            f"== {part.name}: {ended.outcome}{why} in {ended.seconds / 60:.1f} min; {left}", file=sys.stderr, flush=True
        )


def verdict(every: Sequence[Part], record: Record) -> int:
    """Print how all parts ended, worst last; returns the exit status."""
    ended = [(part.name, record.ended[part.name]) for part in every if part.name in record.ended]
    for wanted in (NOT_RUN, FAILED):
        for name, one in ended:
            if one.outcome == wanted:
                print(f"{name}: {wanted}: {one.why}")
    counts = {wanted: sum(one.outcome == wanted for _, one in ended) for wanted in (PASSED, FAILED, NOT_RUN)}
    left = len(every) - len(ended)
    hours = sum(one.seconds for _, one in ended) / 3600
    counted = ", ".join(f"{count} {word}" for word, count in counts.items())
    print(f"{len(every)} parts: {counted}, {left} left; {hours:.1f} hours of guests so far")
    if counts[FAILED]:
        return 1
    return LEFT if left else 0


def on_the_host(out: Path) -> int:
    """Run in the virtual machine what containers ran, if that is missing, and compare; returns the exit status."""
    ran = [case for case in CASES if (directory_of(case, "containerlab", out) / "summary.json").is_file()]
    missing = [case.name for case in ran if not is_there(case, "vm", out)]
    broken = run_cases("vm", out, missing) if missing else 0
    wrong = compare(out)
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong or broken else 0


def main(words: Sequence[str] | None = None, program: Sequence[str] = (str(GUEST),)) -> int:
    """Read the command line, and run what is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="guests side by side, each of one core and 6 GB")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no further part after so many")
    parser.add_argument("--only", default="", metavar="TEXT", help="only parts that have this text in their name")
    parser.add_argument("--keep", action="store_true", help="go on, though the sources are others than before")
    arguments = parser.parse_args(words)
    out: Path = arguments.directory.absolute()
    try:
        every = [part for part in parts() if arguments.only.lower() in part.name.lower()]
        if not every:
            raise GuestError(f"no part has {arguments.only!r} in its name")
        record = Record(out, arguments.keep)
        left = record.left(every)
        print(f"{len(every) - len(left)} of {len(every)} parts are done, {len(left)} are left", file=sys.stderr)
        work = Work(record, left, out, time.monotonic() + arguments.minutes * 60, program)
        if left:
            work.run(arguments.jobs)
    except GuestError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted: what has ended is kept, and the same command goes on with what is left", file=sys.stderr)
        return 130
    status = verdict(every, record)
    print("\n".join(work.troubles), file=sys.stderr)
    compared = on_the_host(out) if status != LEFT else 0
    return 2 if work.troubles else status or compared


if __name__ == "__main__":
    sys.exit(main())
