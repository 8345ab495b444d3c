"""Runs many mutants: `make fuzz CASES=20000 SEED=1`. A case is read cleanly or refused with sentences; anything else is
a finding.

A case follows from seed and number alone: `python tests/fuzz/campaign.py --seed 1 --first 4711 --cases 1 --keep DIR`
makes it again.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from bundle_subjects import bundle_subjects, plan_subjects
from subjects import Subject, subjects, texts_read_once

CPU_LIMIT_S = 60.0
"""The CPU time of one case: the slowest sound lab takes less than one."""
MEMORY_LIMIT_BYTES = 2 * 2**30
"""By which one case may raise the process's peak; the programs and libraries themselves take some 200 MB."""
_LONGEST_SENTENCE = 4000


class _TooSlow(BaseException):
    """A case that takes too much CPU time; no reader may catch it."""


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    number: int
    subject: str
    kind: str
    """`sound`, `refused`, or of a finding its name and place."""
    detail: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether something has to be mended."""
        return self.kind not in ("sound", "refused")


def run_case(number: int, seed: int, every: Sequence[Subject], directory: Path) -> Outcome:
    """Make one mutant in an empty directory and read it."""
    rng = random.Random(f"{seed}:{number}")
    subject = every[number % len(every)]
    for name, data in subject.mutant(rng).items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(data)
    peak = _peak_bytes()
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT_S)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # its lines of code on a terminal would be no clean message
            subject.attempt(directory, rng)
    except subject.clean as error:
        wrong = unclean(str(error))
        return Outcome(number, subject.name, *(("refused", "") if wrong is None else (f"message {wrong}", str(error))))
    except (Exception, _TooSlow) as error:
        return Outcome(number, subject.name, f"{type(error).__name__} at {_place(error)}", traceback.format_exc())
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        if directory.exists() and (risen := _peak_bytes() - peak) > MEMORY_LIMIT_BYTES:
            print(f"case {number} ({subject.name}) took {risen / 2**20:.0f} MiB of memory", file=sys.stderr)
    return Outcome(number, subject.name, "sound")


def unclean(message: str) -> str | None:
    """Return what is wrong with the sentences of an error; None when nothing is."""
    if not message.strip():
        return "is empty"
    for line in message.split("\n"):
        if not line.strip():
            return "has an empty line"
        if len(line) > _LONGEST_SENTENCE:
            return "is endless"
        if any(ord(letter) < 32 for letter in line):
            return "has control characters"
        if " object at 0x" in line or "Traceback" in line:
            return "shows the program's inside"
    return None


def _place(error: BaseException) -> str:
    """Return the innermost place in fabriclab that a traceback names."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/fabriclab/" in frame.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.filename.rpartition('/fabriclab/')[2]}:{last.name}"


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run_cases(
    cases: int, seed: int, first: int = 0, keep: Path | None = None, every: Sequence[Subject] = ()
) -> Iterator[Outcome]:
    """Yield the outcome of each case; `keep` has the files of findings afterwards. `every`: of these alone."""
    every = every or [*subjects(), *bundle_subjects(), *plan_subjects()]
    before = signal.signal(signal.SIGPROF, _too_slow)
    try:
        with texts_read_once():
            for number in range(first, first + cases):
                with tempfile.TemporaryDirectory(prefix="fabriclab-fuzz-") as scratch:
                    outcome = run_case(number, seed, every, Path(scratch))
                    if keep is not None and outcome.is_finding:
                        shutil.copytree(scratch, keep / str(number), dirs_exist_ok=True)
                        (keep / f"{number}.txt").write_text(f"{outcome.subject}\n{outcome.kind}\n{outcome.detail}\n")
                    yield outcome
    finally:
        signal.signal(signal.SIGPROF, before)


def _too_slow(_: int, frame: FrameType | None) -> None:
    raise _TooSlow(f"more than {CPU_LIMIT_S:.0f} s of CPU time")


def main() -> int:
    """Run a campaign and print its figures; returns 1 when there are findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", choices=("bundles", "plans"), help="these subjects alone")
    parser.add_argument("--keep", type=Path, help="a directory for the files of findings")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (16 * 2**30, resource.RLIM_INFINITY))
    kinds: Counter[str] = Counter()
    examples: dict[str, Outcome] = {}
    chosen: dict[str | None, Callable[[], Sequence[Subject]]]
    chosen = {"bundles": bundle_subjects, "plans": plan_subjects, None: tuple}
    every = chosen[options.only]()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):  # what was found until then is told
        for outcome in run_cases(options.cases, options.seed, options.first, options.keep, every):
            kinds[outcome.kind] += 1
            if outcome.is_finding and examples.setdefault(outcome.kind, outcome) is outcome:
                told = f"case {outcome.number}, {outcome.subject}: {outcome.kind}\n{outcome.detail.rstrip()}\n"
                print(told, flush=True)
    spent = f"{time.process_time():.0f} CPU seconds, peak {_peak_bytes() / 2**20:.0f} MiB"
    print(f"{kinds.total()} cases from {options.first} of seed {options.seed}: {spent}")
    for kind, count in kinds.most_common():
        print(
            f"  {count:6} {kind}"
            + (f" (first: {examples[kind].number}, {examples[kind].subject})" if kind in examples else "")
        )
    return 1 if examples else 0


if __name__ == "__main__":
    sys.exit(main())
