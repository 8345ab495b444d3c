"""Figures of runs and sweeps in a notebook: the same as in the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from fabriclab.report.exhibits import Exhibit, Picture
from fabriclab.report.selection import run_exhibits, sweep_exhibits
from fabriclab.report.style import css_variables
from fabriclab.results import is_sweep, read_run, read_sweep


@dataclass(frozen=True)
class Figures:
    """Pictures that a notebook shows as the value of a cell."""

    pictures: tuple[Picture, ...]

    def _repr_html_(self) -> str:
        # The drawings name the report's colours; here they are the light ones, on white, whatever the notebook's theme.
        figures = "".join(
            f"<figure><figcaption><b>{escape(picture.title)}</b></figcaption>{picture.svg}<figcaption>{escape(picture.caption)}</figcaption></figure>"
            for picture in self.pictures
        )
        return f'<div style="{escape(css_variables(dark=False))} background:#fff;color:#222">{figures}</div>'


def figures_of(directory: Path) -> Figures:
    """Return the figures of a run or sweep directory; tables are `completion_table` and its like of `fabriclab.results`.

    Raises ResultsError when it is neither.
    """
    if is_sweep(directory):
        sweep = read_sweep(directory)
        return _figures(sweep_exhibits(sweep, f"notebook-{directory.name}", None))
    return _figures(run_exhibits(read_run(directory), f"notebook-{directory.name}"))


def _figures(exhibits: Sequence[Exhibit]) -> Figures:
    return Figures(tuple(exhibit for exhibit in exhibits if isinstance(exhibit, Picture)))
