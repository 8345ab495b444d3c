"""`fabriclab validate`: the table of what the stages of a validation found."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from fabriclab.api.validation import Validation
from fabriclab.api.validation import validate as validate_lab
from fabriclab.cli.arguments.settings import parse_settings
from fabriclab.cli.host.consent import with_consent
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.failure import FAILED, INTERRUPTED, OK, say
from fabriclab.cli.host.followed import FollowedRuns
from fabriclab.cli.text.junit import JunitCase, write_junit
from fabriclab.errors import FabriclabError
from fabriclab.files import write_all
from fabriclab.runs.engines import EngineName
from fabriclab.validation import ValidationFinding, all_pass
from fabriclab.validation.document import to_json

_STYLES = {
    "pass": "green",
    "fail": "red",
    "warning": "yellow",
    "not judged": "yellow",
    "not measured": "yellow",
    "does not apply": "yellow",
}
_SKIPPED = ("warning", "not judged", "not measured", "does not apply")
_LOG_WIDTH = 180


@dataclass(frozen=True)
class VerdictFiles:
    """The files that the verdict goes to."""

    junit: Path | None = None
    json: Path | None = None

    def write(self, found: Validation) -> None:
        """Write the verdict."""
        if self.junit is not None:
            write_junit(self.junit, f"{found.lab} validation", [_case(finding) for finding in found.findings])
        self._write_json(to_json(found.lab, str(found.directory), found.findings, found.why_undecided))

    def write_no_verdict(self, lab: Path, why: str, found: Validation | None = None) -> None:
        """Write why there is no verdict, and what was found before."""
        if self.junit is not None:
            cases = [JunitCase("validate.run", "comes to a verdict", failure=why)]
            write_junit(self.junit, f"{lab} validation", cases)
        if found is None:
            self._write_json(to_json(str(lab), None, (), why))
        else:
            self._write_json(to_json(found.lab, str(found.directory), found.findings, why))

    @contextmanager
    def when_refused(self, lab: Path) -> Iterator[None]:
        """Write why a lab is refused: a file of an earlier validation must not speak for it."""
        try:
            yield
        except FabriclabError as error:
            self.write_no_verdict(lab, str(error))
            raise

    def _write_json(self, text: str) -> None:
        if self.json is not None:
            write_all({self.json: text})


def validate(
    lab: Path,
    seed: int | None,
    settings: Sequence[str],
    out: Path | None,
    force: bool,
    engine: EngineName,
    stall_s: float,
    files: VerdictFiles,
    only: Sequence[str],
    *,
    trust: bool = False,
    accepts_unjudged: bool = False,
) -> int:
    """Run the stages and print what was found; returns the exit status. `accepts_unjudged`: OK, too, where nothing
    failed and something was not judged."""
    chosen = parse_settings(settings)

    def carry_out(trusted: bool) -> Validation:
        with FollowedRuns(f"reading {lab}", engine) as followed, files.when_refused(lab):
            return validate_lab(
                lab,
                only=only,
                set=chosen,
                seed=seed,
                out=out,
                force=force,
                engine=engine,
                stall_s=stall_s,
                trust=trusted,
                progress=followed.show,
                cancel=followed.interrupt,
            )

    found = with_consent(carry_out, trust)
    if found.interrupted:
        files.write_no_verdict(lab, "interrupted", found)
        if found.findings:
            _show(_console(), found.findings)
        say(f"interrupted: no verdict; the measurements are in {found.directory}")
        return INTERRUPTED
    _show(_console(), found.findings)
    files.write(found)
    if found.why_undecided is not None:
        say(f"no verdict: {found.why_undecided}")
    is_accepted = accepts_unjudged and found.why_undecided is not None
    return OK if found.passed or is_accepted else FAILED


def _console() -> Console:
    """In a file or a pipeline's log a line may be long."""
    return Console() if sys.stdout.isatty() else Console(width=_LOG_WIDTH)


def _show(console: Console, findings: Sequence[ValidationFinding]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("check", "where", "expected", "measured", "verdict"):
        table.add_column(heading, overflow="fold")
    # A policy of one switch keeps many checks from being judged: its sentence stands once, below the table.
    reasons = list(dict.fromkeys(finding.why for finding in findings if finding.why))
    for finding in findings:
        verdict = f"[{_STYLES[finding.verdict]}]{finding.verdict}[/]"
        note = f" ({reasons.index(finding.why) + 1})" if finding.why else ""
        table.add_row(finding.check, finding.where, finding.expected, finding.measured, f"{verdict}{note}")
    console.print(table, highlight=False)
    for number, reason in enumerate(reasons, start=1):
        console.print(f"({number}) {reason}", highlight=False, markup=False)
    counts = {verdict: sum(finding.verdict == verdict for finding in findings) for verdict in _STYLES}
    text = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    console.print(text, style="green" if all_pass(findings) else "red", highlight=False)


def _case(finding: ValidationFinding) -> JunitCase:
    told = f"expected {finding.expected}; measured {finding.told}"
    return JunitCase(
        group=f"validate.{finding.check}",
        name=f"{finding.where}: {finding.expected}",
        failure=told if finding.verdict == "fail" else None,
        skipped=finding.told if finding.verdict in _SKIPPED else None,
    )
