"""What every page with charts is put together from: the base template, the page's script, and its document of charts.

A page's template extends `base.html` (blocks `title`, `styles`, `main`) and shows a picture with `figure` of
`parts.html`: one that has a chart moves, with its numbers as a table below it, and is a still picture in print and
where no script runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, select_autoescape

from fabriclab.browser_bundles import BrowserBundleError
from fabriclab.report.assets import CHARTS
from fabriclab.report.drawing.charts import Chart, json_text
from fabriclab.report.drawing.style import css_variables
from fabriclab.report.measured.quantities import keep_units


@dataclass
class PageParts:
    """What a page's head and foot need; the template adds charts while it is rendered, and writes them at the end."""

    script: str = ""
    lack: str = ""
    """Why there is no script; empty where there is."""
    light: str = field(default_factory=lambda: css_variables(dark=False))
    dark: str = field(default_factory=lambda: css_variables(dark=True))
    charts: list[dict[str, Any]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    """What the document has beside the charts."""

    def add(self, chart: Chart) -> int:
        """Take a chart into the page's document; return its number there."""
        self.charts.append(chart.document())
        return len(self.charts) - 1

    def document(self) -> str:
        """Return the page's document as JSON that may stand in a script element."""
        return json_text({"charts": self.charts, **self.extra})


@cache
def template(name: str) -> Template:
    """Return one of the templates of pages, compiled."""
    environment = Environment(
        loader=PackageLoader("fabriclab.report", "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["keep_units"] = keep_units
    return environment.get_template(name)


def render(name: str, extra: dict[str, Any] | None = None, **shown: Any) -> str:
    """Return a page: the template called `name`, which extends `base.html`, with what it shows.

    `extra` goes into the page's document beside the charts. Where the script is not built the page has still pictures,
    and says which command builds it.
    """
    parts = PageParts(extra=extra or {})
    try:
        parts.script = CHARTS.load()["charts.js"].decode("utf-8").replace("</script", "<\\/script")
    except BrowserBundleError as error:
        parts.lack = str(error)
    return template(name).render(parts=parts, **shown)
