"""`fabriclab studies`: the claims of published studies, and what our measurements say to each."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from fabriclab.api.lab_names import LABS, short
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.failure import FAILED, OK, BadInputError
from fabriclab.shipped import shipped
from fabriclab.studies.claims import DIRECTORY, Study, read_studies
from fabriclab.studies.page import write_page
from fabriclab.studies.verdicts import Data, Judged, judge

PAGE = "docs/studies.md"


def write() -> int:
    """Write the tables of the page of all claims; returns the exit status."""
    page = shipped(PAGE)
    if not page.is_file():
        raise BadInputError(f"--write: {PAGE} lies in a checkout only, and this is an installed package")
    data = Data(shipped(LABS))
    judged = {study.study: (study, judge(study, data)) for study in read_studies(shipped(DIRECTORY))}
    write_page(page, judged)
    print(f"{short(page)}: {sum(len(claims) for _, claims in judged.values())} claims")
    return OK


def studies(names: Sequence[str]) -> int:
    """Print the claims of these studies, or of all, with their verdicts; returns the exit status, which is not 0 where
    a published verdict no longer follows from the data."""
    known = {study.study: study for study in read_studies(shipped(DIRECTORY))}
    wanted = [name.upper() for name in names]
    if unknown := [name for name in wanted if name not in known]:
        raise BadInputError(f"{unknown[0]}: no such study; write one of: {', '.join(known)}")
    data, moved = Data(shipped(LABS)), []
    for name in wanted or known:
        found = judge(known[name], data)
        _print(known[name], found)
        moved += [
            f"{name}, {claim}: published {one.claim.verdict}, the data say {one.verdict}"
            for claim, one in found.items()
            if not one.is_as_published
        ]
    for line in moved:
        print(line)
    return FAILED if moved else OK


def _print(study: Study, claims: dict[str, Judged]) -> None:
    table = Table(title=f"{study.study}: {study.title}", title_justify="left", show_lines=True)
    for heading in ("claim", "the study", "here", "verdict"):
        table.add_column(heading, overflow="fold")
    for one in claims.values():
        lab = f"{one.claim.lab}: " if one.numbers else ""
        more = one.claim.why or one.claim.would_decide
        table.add_row(
            one.claim.claim,
            one.claim.expected,
            lab + "; ".join(one.numbers),
            f"{one.verdict}{'. ' + more if more else ''}",
        )
    Console().print(table)
