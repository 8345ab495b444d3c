"""Figures and tables of runs and sweeps in a notebook: the same as in the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from fabriclab.formats.figures import FIGURE_KINDS
from fabriclab.report.drawing.exhibits import Absent, Cell, DataTable, Exhibit, Picture
from fabriclab.report.drawing.style import css_variables
from fabriclab.report.selection import run_exhibits, sweep_exhibits
from fabriclab.results import is_sweep, read_run, read_sweep


@dataclass(frozen=True)
class Figures:
    """Pictures and tables that a notebook shows as the value of a cell."""

    exhibits: tuple[Exhibit, ...]

    def _repr_html_(self) -> str:
        # The drawings name the report's colours; here they are the light ones, on white, whatever the notebook's theme.
        figures = "".join(map(_figure, self.exhibits))
        return f'<div style="{escape(css_variables(dark=False))} background:#fff;color:#222">{figures}</div>'


def _figure(exhibit: Exhibit) -> str:
    title = f"<figcaption><b>{escape(exhibit.title)}</b></figcaption>"
    if isinstance(exhibit, Absent):
        return f"<figure>{title}<figcaption>Not shown: {escape(exhibit.reason)}.</figcaption></figure>"
    shown = exhibit.svg if isinstance(exhibit, Picture) else _table(exhibit)
    caption = exhibit.still_caption if isinstance(exhibit, Picture) else exhibit.caption
    return f"<figure>{title}{shown}<figcaption>{escape(caption)}</figcaption></figure>"


def figures_of(directory: Path, kinds: Sequence[str] = FIGURE_KINDS) -> Figures:
    """Return the figures and tables of a run or sweep directory, of these kinds alone.

    Raises ResultsError when it is neither.
    """
    if is_sweep(directory):
        return Figures(tuple(sweep_exhibits(read_sweep(directory), kinds=kinds)))
    return Figures(tuple(run_exhibits(read_run(directory), kinds)))


def _table(table: DataTable) -> str:
    head = "".join(f"<th>{escape(heading)}</th>" for heading in table.headings)
    body = ""
    for group in table.groups:
        if group.heading:
            body += f'<tr><th colspan="{len(table.headings)}" style="text-align:left">{escape(group.heading)}</th></tr>'
        body += "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in group.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(cell: Cell) -> str:
    detail = f"<br><small>{escape(cell.detail)}</small>" if cell.detail else ""
    return f"<td>{escape(cell.text)}{detail}</td>"
