"""`fabriclab validate`: the table of what the stages of a validation found."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
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
from fabriclab.runs.engines import EngineName
from fabriclab.validation import ValidationFinding, all_pass

_STYLES = {"pass": "green", "fail": "red", "not measured": "yellow", "does not apply": "yellow"}
_LOG_WIDTH = 180


def validate(
    lab: Path,
    seed: int | None,
    settings: Sequence[str],
    out: Path | None,
    force: bool,
    engine: EngineName,
    stall_s: float,
    junit: Path | None,
    only: Sequence[str],
    *,
    trust: bool = False,
) -> int:
    """Run the stages and print what was found; returns the exit status."""
    chosen = parse_settings(settings)

    def carry_out(trusted: bool) -> Validation:
        with FollowedRuns(f"reading {lab}", engine) as followed, _no_verdict_in(junit, lab):
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
        if junit is not None:
            _write_no_verdict(junit, lab, "interrupted")
        if found.findings:
            _show(_console(), found.findings)
        say(f"interrupted: no verdict; the measurements are in {found.directory}")
        return INTERRUPTED
    _show(_console(), found.findings)
    if junit is not None:
        write_junit(junit, f"{found.lab} validation", [_case(finding) for finding in found.findings])
    return OK if found.passed else FAILED


@contextmanager
def _no_verdict_in(junit: Path | None, lab: Path) -> Iterator[None]:
    """Write why there is no verdict where a lab is refused: a file of an earlier validation must not speak for it."""
    try:
        yield
    except FabriclabError as error:
        if junit is not None:
            _write_no_verdict(junit, lab, str(error))
        raise


def _write_no_verdict(junit: Path, lab: Path, why: str) -> None:
    write_junit(junit, f"{lab} validation", [JunitCase("validate.run", "comes to a verdict", failure=why)])


def _console() -> Console:
    """In a file or a pipeline's log a line may be long."""
    return Console() if sys.stdout.isatty() else Console(width=_LOG_WIDTH)


def _show(console: Console, findings: Sequence[ValidationFinding]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("check", "where", "expected", "measured", "verdict"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        verdict = f"[{_STYLES[finding.verdict]}]{finding.verdict}[/]"
        table.add_row(finding.check, finding.where, finding.expected, finding.measured, verdict)
    console.print(table, highlight=False)
    counts = {verdict: sum(finding.verdict == verdict for finding in findings) for verdict in _STYLES}
    text = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    console.print(text, style="green" if all_pass(findings) else "red", highlight=False)


def _case(finding: ValidationFinding) -> JunitCase:
    told = f"expected {finding.expected}; measured {finding.measured}"
    return JunitCase(
        group=f"validate.{finding.check}",
        name=f"{finding.where}: {finding.expected}",
        failure=told if finding.verdict == "fail" else None,
        skipped=finding.measured if finding.verdict in ("not measured", "does not apply") else None,
    )
