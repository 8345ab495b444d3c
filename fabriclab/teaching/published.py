"""A published study beside runs that a notebook has made, as the report shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from fabriclab.api.measured import Run, Sweep
from fabriclab.errors import ArgumentError
from fabriclab.report.drawing.pools import pool_of_run, pools_of, with_looks
from fabriclab.report.drawing.studies import BesideStudy, beside_studies, studies_of


@dataclass(frozen=True)
class StudyTable:
    """What studies say of the runs' lab, their figures beside ours; a notebook shows it."""

    studies: tuple[BesideStudy, ...]

    def _repr_html_(self) -> str:
        return "".join(map(_study, self.studies))


def beside_study(measured: Sweep | Sequence[Run]) -> StudyTable:
    """Return the studies that the runs' lab reproduces, with their figures beside the runs' numbers; claims that no run
    has numbers of are left out.

    Raises ArgumentError where the lab reproduces none, ResultsError for a run that can't be read.
    """
    if isinstance(measured, Sweep):
        pools, runs = pools_of(measured.results), measured.results.runs
    else:
        runs = tuple(run.results for run in measured)
        pools = with_looks([pool_of_run(run) for run in runs])
    studies = studies_of(runs[0].plan.lab, runs[0].plan.study) if runs else []
    if not studies:
        raise ArgumentError("{0}: the lab of these runs does not reproduce a study", measured)
    plan = runs[0].plan
    return StudyTable(tuple(beside_studies(studies, pools, plan.lab, plan.study)))


def _study(beside: BesideStudy) -> str:
    study = beside.study
    rows = [
        (one.claim.claim, f"{one.claim.expected} ({one.claim.source})", "; ".join(one.numbers), one.verdict or "")
        for one in beside.claims
    ]
    claims = _table(("claim", "the study", "these runs", "verdict"), rows) if rows else ""
    tables = "".join(f"<p>{escape(each.title)}</p>{_table(each.head, each.rows)}" for each in beside.tables)
    texts = "".join(f"<p>{escape(text)}</p>" for text in (beside.setup, *beside.notes) if text)
    return f"<p><b>{escape(study.title)}</b><br><small>{escape(study.source)}</small></p>{claims}{tables}{texts}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    titles = "".join(f"<th>{escape(text)}</th>" for text in head)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _cell(text: str) -> str:
    return f'<td style="text-align:left">{escape(text)}</td>'
