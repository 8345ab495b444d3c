"""What a browser runs in a report: Apache ECharts and what draws a page's document with it, in one script.

Why ECharts, in KB of the minified script and of it compressed, measured with esbuild 0.25: uPlot 1.6 has 52 and 23, but
draws on a canvas, which prints badly, and has no legend for a keyboard, no brush, no Gantt chart; ECharts 5.6 by parts,
with the SVG renderer, has 600 and 200; Vega-Lite with Vega has 880 and 300; Plotly's smallest bundle 1,200 and 400.
"""

from __future__ import annotations

from pathlib import Path

from fabriclab.browser_bundles import BrowserBundle

CHARTS = BrowserBundle(
    "charts", "what moves a report's charts", Path(__file__).parent / "web", ("charts.js",), "FABRICLAB_CHARTS"
)
