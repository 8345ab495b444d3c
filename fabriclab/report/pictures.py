"""The report's pictures and tables as files of their own, for slides and READMEs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fabriclab.files import write_all
from fabriclab.report.drawing.exhibits import Absent, Picture
from fabriclab.report.drawing.style import css_variables
from fabriclab.report.page import page_of


def write_pictures(paths: Sequence[Path], directory: Path) -> list[Path]:
    """Write every picture of the report of `paths` as an SVG file in `directory`, every table as Markdown; return the
    files.

    A title that comes again has a number. Each picture carries its colours for a light and for a dark ground. Raises
    ResultsError when a path is neither a run nor a sweep directory, OSError when `directory` can't be written.
    """
    files: dict[Path, str | bytes] = {}
    names: dict[str, int] = {}
    page = page_of(paths)
    for exhibit in [*page.exhibits, *([page.changes] if page.changes is not None else [])]:
        if isinstance(exhibit, Absent):
            continue
        name = _slug(exhibit.title)
        names[name] = names.get(name, 0) + 1
        name += f"-{names[name]}" if names[name] > 1 else ""
        file = directory / f"{name}.{'svg' if isinstance(exhibit, Picture) else 'md'}"
        files[file] = standalone(exhibit) if isinstance(exhibit, Picture) else exhibit.markdown()
    directory.mkdir(parents=True, exist_ok=True)
    write_all(files)
    return list(files)


def standalone(picture: Picture) -> str:
    """Return a picture as an SVG file of its own, with its colours for a light and for a dark ground."""
    light, dark = css_variables(dark=False), css_variables(dark=True)
    style = (
        f"<style>svg {{ {light} background: var(--ground); }} @media (prefers-color-scheme: "
        f"dark) {{ svg {{ {dark} }} }}</style>"
    )
    return re.sub(r"(<svg[^>]*>)", rf"\1{style}", picture.svg, count=1)


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
