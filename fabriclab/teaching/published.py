"""A published study beside runs that a notebook has made, as the report shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from fabriclab.api.measured import Run, Sweep
from fabriclab.errors import ArgumentError
from fabriclab.report.drawing.pools import pool_of_run, pools_of, varied_settings, with_looks
from fabriclab.report.drawing.studies import ComparedPart, Study, compare_with, read_study


@dataclass(frozen=True)
class StudyTable:
    """The experiments of a study that the runs reproduce, the study's figures beside ours; a notebook shows it."""

    study: Study
    parts: tuple[ComparedPart, ...]

    def _repr_html_(self) -> str:
        shown = "".join(map(_part, self.parts))
        return f"<p><b>{escape(self.study.title)}</b><br><small>{escape(self.study.source)}</small></p>{shown}"


def beside_study(measured: Sweep | Sequence[Run]) -> StudyTable:
    """Return the study that the runs' lab reproduces with its figures beside theirs; rows that no run can answer are
    left out.

    Raises ArgumentError where the lab reproduces none, ResultsError for a run that can't be read.
    """
    if isinstance(measured, Sweep):
        pools, runs, varied = pools_of(measured.results), measured.results.runs, varied_settings(measured.results)
    else:
        runs = tuple(run.results for run in measured)
        pools = with_looks([pool_of_run(run) for run in runs])
        varied = tuple({name for run in runs for name in run.settings})
    study = read_study(runs[0].plan.study) if runs and runs[0].plan.study is not None else None
    if study is None:
        raise ArgumentError("{0}: the lab of these runs does not reproduce a study", measured)
    return StudyTable(study, tuple(compare_with(study, pools, runs[0].plan.lab, varied)))


def _part(compared: ComparedPart) -> str:
    part = compared.part
    shown = "".join(f"<li>{escape(text)}</li>" for text in part.must_show)
    head = "".join(f"<th>{escape(text)}</th>" for text in ("", *part.references, "these runs"))
    rows = "".join(
        "<tr>" + "".join(map(_cell, (row.text, *row.references, "; ".join(row.ours)))) + "</tr>"
        for row in compared.rows
        if row.ours
    )
    return (
        f"<p><b>{escape(part.title)}.</b> {escape(part.setup)} A reproduction must show:</p><ul>{shown}</ul>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _cell(text: str) -> str:
    return f'<td style="text-align:left">{escape(text)}</td>'
