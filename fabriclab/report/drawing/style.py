"""How pictures look: colours with a name, the same for each congestion control everywhere, and figures as SVG text for
a page.

Colours are from Okabe and Ito's palette, made for all kinds of colour vision. In the SVG each is a CSS variable, so
that the page can show the same picture on a light and on a dark ground; lines differ in dash and marker too, not in
colour alone.
"""

from __future__ import annotations

WIDTH_IN = 7.6
"""Width of every figure in inches (72 points each); the page scales it."""
LABEL_CHARACTERS_PER_IN = 14
"""How many characters of the name of an axis or a tick fit an inch."""

INK, MUTED, GRID, GROUND = "#1b2733", "#5a6672", "#dfe4e9", "#fffffe"
_CONGESTION_CONTROL = {
    "cubic": "#0072b2",
    "dctcp": "#00865f",
    "reno": "#d55e00",
    "htcp": "#b8860b",
    "bic": "#b4549a",
    "bbr": "#6f5bd0",
}
_OTHER = ("#3d8fc4", "#a3573b", "#4f7f1f", "#8a6d9e", "#7a7a2e", "#555f6b")
# The same colours on a dark ground.
DARK = {
    INK: "#e6ebf0",
    MUTED: "#9aa7b4",
    GRID: "#2c3642",
    GROUND: "#12181f",
    "#0072b2": "#58b0ea",
    "#00865f": "#2fc795",
    "#d55e00": "#ff8a3d",
    "#b8860b": "#e5b53c",
    "#b4549a": "#e08fca",
    "#6f5bd0": "#a99bf5",
    "#3d8fc4": "#7cc0ea",
    "#a3573b": "#dd9274",
    "#4f7f1f": "#93c45a",
    "#8a6d9e": "#c0a4d4",
    "#7a7a2e": "#c2c26a",
    "#555f6b": "#aab4bf",
}
WARNING = _CONGESTION_CONTROL["reno"]
CAUSES = {
    "queue limit": "#0072b2",
    "pool full": "#00865f",
    "VOQ limit": "#6f5bd0",
    "ingress": "#b4549a",
    "WRED": "#b8860b",
    "pause storm": "#d55e00",
    "port down": "#555f6b",
}
"""Why a switch dropped a packet, in the order in which they are stacked; the colours are among those above."""
DASHES: tuple[str | tuple[int, tuple[int, ...]], ...] = ("-", (0, (5, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)), (0, (9, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_NAMES = {
    "cubic": "CUBIC",
    "lia": "LIA",
    "dctcp": "DCTCP",
    "dcqcn": "DCQCN",
    "dx": "DX",
    "qcn": "QCN",
    "reno": "Reno",
    "htcp": "H-TCP",
    "bic": "BIC",
    "bbr": "BBR",
    "hpcc": "HPCC",
    "timely": "TIMELY",
    "swift": "Swift",
    "credit": "credit",
    "roce": "RoCE",
}


def algorithm_name(algorithm: str) -> str:
    """Return a congestion control's name as people write it."""
    return _NAMES.get(algorithm, algorithm)


def algorithm_color(algorithm: str) -> str:
    """Return the colour that an algorithm has in every picture."""
    known = _CONGESTION_CONTROL.get(algorithm)
    return known or _OTHER[sum(algorithm.encode()) % len(_OTHER)]


def ramp(count: int) -> list[str]:
    """Return colours for `count` things that are not algorithms (flows, buffers)."""
    palette = [*_CONGESTION_CONTROL.values(), *_OTHER]
    return [palette[index % len(palette)] for index in range(count)]


def themed(svg: str) -> str:
    """Return an SVG text with the report's colours as CSS variables, which have others on a dark ground."""
    for color in DARK:
        svg = svg.replace(color, f"var({variable(color)}, {color})")
    return svg


def css_variables(*, dark: bool) -> str:
    """Return the CSS declarations of all colours for a light or a dark ground."""
    return " ".join(f"{variable(color)}: {other if dark else color};" for color, other in DARK.items())


def variable(color: str) -> str:
    """Return the CSS variable of a colour."""
    names = {INK: "--ink", MUTED: "--muted", GRID: "--grid", GROUND: "--ground"}
    return names.get(color, f"--c-{color[1:]}")
