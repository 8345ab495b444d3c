"""Asks for known vulnerabilities of all that the locks name: `make audit` calls it.

Python's packages by pip-audit, npm's by npm, Rust's crates by cargo-audit, each from the database that it asks by
itself. What could not be asked is said, and is not the same as nothing found: the exit status is 1 where something is
known to be vulnerable, 2 where something could not be asked, 0 where all was asked and nothing found.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import page

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / ".ci" / "locks"
NPM = (
    *("docs/web", "fabriclab/page/web", "fabriclab/report/web", "images/workshop/proxy"),
    ".vscode/extensions/fabriclab",
)
VULNERABLE, NOT_ASKED = 1, 2


@dataclass(frozen=True)
class Answer:
    """What a database says of a lock."""

    asked: int
    """Of how many packages it was asked, and knew them."""
    found: Sequence[str] = ()
    """What is vulnerable, one a line: package, version, the vulnerabilities."""
    unasked: str = ""
    """Why something could not be asked; empty where all was."""


def python_answer(said: str) -> Answer:
    """Read what pip-audit writes as JSON. Of a package that its service does not have it knows nothing, and says so as
    if it were well. Raises ValueError for what is no such JSON."""
    packages = json.loads(said)["dependencies"]
    skipped = [one for one in packages if "skip_reason" in one]
    found = [
        f"{one['name']} {one['version']}: {', '.join(each['id'] for each in one['vulns'])}"
        for one in packages
        if one.get("vulns")
    ]
    reason = f"{len(skipped)} of {len(packages)}: {skipped[0]['skip_reason']}" if skipped else ""
    return Answer(len(packages) - len(skipped), found, reason)


def npm_answer(said: str) -> Answer:
    """Read what npm writes as JSON. Raises ValueError for what is no such JSON, KeyError for an error of npm's."""
    answer = json.loads(said)
    if "error" in answer:
        return Answer(0, unasked=str(answer.get("message") or answer["error"].get("summary")))
    found = [f"{name} {one['range']}: {one['severity']}" for name, one in answer["vulnerabilities"].items()]
    return Answer(answer["metadata"]["dependencies"]["total"], found)


def cargo_answer(said: str) -> Answer:
    """Read what cargo-audit writes as JSON. Raises ValueError for what is no such JSON."""
    answer = json.loads(said)
    found = [
        f"{one['package']['name']} {one['package']['version']}: {one['advisory']['id']}"
        for one in answer["vulnerabilities"]["list"]
    ]
    return Answer(answer["lockfile"]["dependency-count"], found)


def ask(command: Sequence[str | Path], read: Callable[[str], Answer], environment: dict[str, str], cwd: Path) -> Answer:
    """Return what a program's database says; why not where it says nothing."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=environment)
    except OSError as error:
        return Answer(0, unasked=f"{command[0]}: {error.strerror}")
    try:
        return read(ended.stdout)
    except (ValueError, KeyError, TypeError):
        lines = (ended.stderr or ended.stdout).strip().splitlines()
        return Answer(0, unasked=lines[-1] if lines else f"{command[0]} said nothing")


def audits(place: Path) -> Iterator[tuple[str, Answer]]:
    """Yield each lock's name with what is known of it; the programs that the host lacks are brought to a directory."""
    environment = {**os.environ, "PYTHONPATH": str(place), "PYTHONWARNINGS": "ignore"}
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", place, "--require-hashes", "-r", LOCKS / "audit.txt"], check=True)
    pip_audit = [sys.executable, "-m", "pip_audit", "--progress-spinner=off", "--format=json"]
    for lock in sorted(LOCKS.glob("*.txt")):
        command = [*pip_audit, "--disable-pip", "--require-hashes", "-r", lock]
        yield str(lock.relative_to(ROOT)), ask(command, python_answer, environment, ROOT)
    npm = page.npm(place)
    for folder in NPM:
        command = [*npm, "audit", "--json", "--package-lock-only"]
        yield f"{folder}/package-lock.json", ask(command, npm_answer, dict(os.environ), ROOT / folder)
    if shutil.which("cargo-audit") is None:
        yield "Cargo.lock", Answer(0, unasked="cargo-audit is missing: cargo install --locked cargo-audit")
    else:
        yield "Cargo.lock", ask(["cargo", "audit", "--json"], cargo_answer, dict(os.environ), ROOT)


def told(name: str, answer: Answer) -> str:
    """Return what is known of a lock, in words."""
    words = [f"{answer.asked} packages asked for, {len(answer.found) or 'none'} known to be vulnerable"]
    if answer.unasked:
        words = [*(words if answer.asked else []), f"not asked: {answer.unasked}"]
    return "\n".join([f"{name}: {'; '.join(words)}", *(f"  {one}" for one in answer.found)])


def status(answers: Sequence[Answer]) -> int:
    """Return the exit status: what was not asked is not well."""
    if any(one.found for one in answers):
        return VULNERABLE
    return NOT_ASKED if any(one.unasked or not one.asked for one in answers) else 0


def main() -> int:
    """Ask for all locks, tell, and return the exit status."""
    answers: list[Answer] = []
    with tempfile.TemporaryDirectory() as place:
        for name, answer in audits(Path(place)):
            print(told(name, answer), flush=True)
            answers.append(answer)
    if status(answers) == NOT_ASKED:
        print("not everything could be asked: this says nothing of what is left out above", file=sys.stderr)
    return status(answers)


if __name__ == "__main__":
    sys.exit(main())
