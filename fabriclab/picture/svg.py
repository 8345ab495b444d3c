"""A network as SVG text: the same network gives the same text.

Colours are those of the report, which has others for a dark ground.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape

from fabriclab.picture.ends import Ends, px, rack_path
from fabriclab.picture.layout import HOST_HEIGHT, MARGIN, Box, Layout, lay_out, text_width
from fabriclab.picture.network import Edge, Network, Vertex
from fabriclab.units import format_duration, format_rate

INK, MUTED, GRID, GROUND = "#1b2733", "#5a6672", "#dfe4e9", "#fffffe"
_TIER_COLOURS = {1: ("#0072b2",), 2: ("#6f5bd0", "#0072b2"), 3: ("#6f5bd0", "#00865f", "#0072b2")}
_TIER_NAMES = {1: ("switch",), 2: ("spine", "leaf"), 3: ("core", "aggregation", "edge")}
_MORE_COLOURS = ("#6f5bd0", "#00865f", "#0072b2", "#b4549a", "#b8860b")
_FONT = "system-ui, 'DejaVu Sans', sans-serif"
_TITLE_HEIGHT, _LEGEND_STEP, _LEGEND_FONT = 62, 22, 11
_MANY_LINKS = 100
_USED = _MARK = "#d55e00"
_USE_OPACITIES = (0.18, 0.38, 0.58, 0.78, 1.0)
"""Of fifths of a link's rate."""
_THINNEST, _THICKEST, _WIDTH_PER_DECADE = 1.2, 6.0, 1.6


def network_svg(
    network: Network, use: Mapping[str, float] | None = None, marked: Mapping[str, str] | None = None
) -> str:
    """Return the drawing as one `svg` element.

    `marked`: nodes that have a frame, each with a word for whoever points at it; the legend has the words.

    With `use`, the share of its rate that each port (`node:interface`) sent, links have the colour of it: the higher of
    their two directions; grey are those of which none is known.
    """
    layout = lay_out(network, _TITLE_HEIGHT)
    style = _Style(network, use, marked)
    legend = list(_legend(network, style, layout))
    height = layout.bottom + 2 * MARGIN + _LEGEND_STEP * (1 + max((row for row, *_ in legend), default=0))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(_summary(network))}" '
        f'viewBox="0 0 {px(layout.width)} {px(height)}" width="{px(layout.width)}" height="{px(height)}" '
        f'font-family="{_FONT}">',
        f'<rect width="100%" height="100%" fill="{GROUND}"/>',
        _text(MARGIN, 24, escape(network.name), 15, INK, weight="600"),
        _text(MARGIN, 41, escape(_counts(network)), _LEGEND_FONT, MUTED),
        *(
            f'<rect x="{px(panel.x)}" y="{px(panel.y)}" width="{px(panel.width)}" height="{px(panel.height)}" rx="8" '
            f'fill="{GRID}" '
            'fill-opacity="0.45"/>'
            for panel in layout.panels
        ),
        *_links(network, layout, style),
        *(_node(vertex, layout, style) for vertex in network.vertices),
        *_moved(legend, layout.bottom + MARGIN + 14),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


class _Style:
    """Colours of tiers, widths of rates."""

    def __init__(
        self, network: Network, use: Mapping[str, float] | None = None, marked: Mapping[str, str] | None = None
    ) -> None:
        self.use = use
        self.marked = marked or {}
        self.tier_of = network.tiers
        switches = [vertex.name for vertex in network.vertices if not vertex.is_host]
        self.switch_tiers = sorted({network.tiers[name] for name in switches})
        count = len(self.switch_tiers)
        self._colours = _TIER_COLOURS.get(count) or tuple(
            _MORE_COLOURS[index % len(_MORE_COLOURS)] for index in range(count)
        )
        usual = _TIER_NAMES.get(count) if _is_clos(network) or count == 1 else None
        self._names = usual or tuple(f"switch, tier {tier}" for tier in self.switch_tiers)
        self.rates = sorted({rate for edge in network.edges for rate in edge.rates_bps if rate is not None})

    def colour(self, tier: int) -> str:
        """Return the colour of a tier of switches."""
        return self._colours[self.switch_tiers.index(tier)] if tier in self.switch_tiers else MUTED

    def tier_name(self, tier: int) -> str:
        """Return what the switches of a tier are called."""
        return self._names[self.switch_tiers.index(tier)]

    def link(self, edge: Edge, tier: int) -> tuple[str, float | None]:
        """Return the colour of a link below a tier, and its own opacity where its use gives it one."""
        if self.use is None:
            return self.colour(tier), None
        known = [self.use[port] for port in (edge.a, edge.b) if port in self.use]
        return (_USED, use_opacity(max(known))) if known else (GRID, 1.0)

    def width(self, rate_bps: int | None) -> float:
        """Return the width of a line: each factor of ten of its rate adds the same."""
        if rate_bps is None or not self.rates:
            return _THINNEST
        return min(_THICKEST, _THINNEST + _WIDTH_PER_DECADE * math.log10(rate_bps / self.rates[0]))


def use_opacity(share: float) -> float:
    """Return how strong the colour of a link is that carries this share of its rate, in five steps."""
    return _USE_OPACITIES[min(int(share * len(_USE_OPACITIES)), len(_USE_OPACITIES) - 1)]


def _is_clos(network: Network) -> bool:
    """Return whether every link joins neighbouring tiers, so that the tiers have their usual names."""
    return all(abs(network.tiers[a] - network.tiers[b]) == 1 for a, b in (edge.nodes for edge in network.edges))


def edge_rate(edge: Edge) -> int | None:
    """Return the rate by which a link is drawn: the smaller of its two directions."""
    known = [rate for rate in edge.rates_bps if rate is not None]
    return min(known, default=None)


def _links(network: Network, layout: Layout, style: _Style) -> Iterator[str]:
    """Yield the links: those of racks below one veil, as they run over each other, the others each with its own."""
    ends = Ends(network, layout)
    in_racks: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    for edge in network.edges:
        lower, upper = sorted(edge.nodes, key=lambda name: -layout.boxes[name].y)
        at_home = ends.is_home(lower, upper)
        path = rack_path(layout, lower, upper) if at_home else ends.path(edge)
        colour, own = style.link(edge, network.tiers[upper])
        opacity = "" if own is None else f' opacity="{own}"'
        line = f'<path d="{path}" stroke="{colour}" stroke-width="{px(style.width(edge_rate(edge)))}"{opacity}'
        title = "\n".join([_edge_title(edge), *_uses(edge, style.use or {})])
        (in_racks if at_home else others).append((line, f"<title>{escape(title)}</title></path>"))
    if style.use is not None:
        # Each has its own strength; faint ones first, so that none is hidden by what carried less.
        yield '<g fill="none" stroke-linejoin="round">'
        yield from sorted((f"{line}>{title}" for line, title in in_racks + others), key=_strength)
        yield "</g>"
        return
    veil = 0.55 if len(others) <= _MANY_LINKS else 0.4
    yield '<g fill="none" stroke-linejoin="round" opacity="0.55">'
    yield from (f"{line}>{title}" for line, title in in_racks)
    yield "</g>"
    yield '<g fill="none">'
    yield from (f'{line} stroke-opacity="{veil}">{title}' for line, title in others)
    yield "</g>"


def _strength(path: str) -> float:
    return 0.0 if GRID in path else float(path.partition(' opacity="')[2].partition('"')[0])


def _uses(edge: Edge, use: Mapping[str, float]) -> Iterator[str]:
    for port in (edge.a, edge.b):
        if port in use:
            yield f"{port} sends {100 * use[port]:.3g} % of its rate"


def _node(vertex: Vertex, layout: Layout, style: _Style) -> str:
    box = layout.boxes[vertex.name]
    mark = style.marked.get(vertex.name)
    title = "\n".join([vertex.name, *filter(None, [mark]), *vertex.details])
    if vertex.is_host:
        shape = _pill(box, GROUND, MUTED, HOST_HEIGHT / 4)
        label = _text(
            box.x,
            box.y + layout.sizes.host_font * 0.36,
            escape(vertex.name),
            layout.sizes.host_font,
            INK,
            anchor="middle",
        )
    else:
        colour = style.colour(style.tier_of[vertex.name])
        shape = _pill(box, colour, colour, 5)
        font = layout.sizes.switch_font
        label = _text(box.x, box.y + font * 0.36, escape(vertex.name), font, GROUND, anchor="middle", weight="600")
    return f"<g><title>{escape(title)}</title>{'' if mark is None else _frame(box)}{shape}{label}</g>"


def _frame(box: Box) -> str:
    return (
        f'<rect x="{px(box.x - box.width / 2 - 3)}" y="{px(box.top - 3)}" width="{px(box.width + 6)}" '
        f'height="{px(box.height + 6)}" rx="7" fill="none" stroke="{_MARK}" stroke-width="2"/>'
    )


def _pill(box: Box, fill: str, stroke: str, radius: float) -> str:
    return (
        f'<rect x="{px(box.x - box.width / 2)}" y="{px(box.top)}" width="{px(box.width)}" height="{px(box.height)}" '
        f'rx="{px(radius)}" '
        f'fill="{fill}" stroke="{stroke}"/>'
    )


def _legend(network: Network, style: _Style, layout: Layout) -> Iterator[tuple[int, float, str]]:
    """Yield rows, x positions and items of the legend: what the colours and the widths mean, and the delays."""
    row, x = 0, float(MARGIN)
    for symbol, text in _legend_items(network, style):
        width = 34 + text_width(text, _LEGEND_FONT) if symbol else text_width(text, _LEGEND_FONT)
        if x > MARGIN and x + width > layout.width - MARGIN:
            row, x = row + 1, float(MARGIN)
        label = _text(34 if symbol else 0, 4, escape(text), _LEGEND_FONT, INK)
        yield row, x, f"{symbol}{label}"
        x += width + 22


def _moved(legend: list[tuple[int, float, str]], y: float) -> Iterator[str]:
    for row, x, item in legend:
        yield f'<g transform="translate({px(x)} {px(y + row * _LEGEND_STEP)})">{item}</g>'


def _legend_items(network: Network, style: _Style) -> Iterator[tuple[str, str]]:
    tiers = Counter(network.tiers[vertex.name] for vertex in network.vertices if not vertex.is_host)
    for tier, count in sorted(tiers.items()):
        colour = style.colour(tier)
        yield _pill(Box(14, 0, 26, 14), colour, colour, 4), f"{style.tier_name(tier)} ({count})"
    for word, count in sorted(Counter(style.marked.values()).items()):
        yield _frame(Box(14, 0, 22, 10)), f"{word} ({count})"
    if network.hosts:
        yield _pill(Box(14, 0, 26, 14), GROUND, MUTED, 4), f"host ({len(network.hosts)})"
    rates = Counter(edge_rate(edge) for edge in network.edges)
    for rate in sorted(rates, key=lambda rate: -1 if rate is None else rate):
        line = f'<path d="M1 0H27" stroke="{MUTED}" stroke-width="{px(style.width(rate))}"/>'
        yield line, f"{'rate not given' if rate is None else format_rate(rate)} ({rates[rate]})"
    if style.use is not None:
        count = len(_USE_OPACITIES)
        for step, opacity in enumerate(_USE_OPACITIES):
            line = f'<path d="M1 0H27" stroke="{_USED}" stroke-width="5" opacity="{opacity}"/>'
            yield line, f"{100 * step // count} to {100 * (step + 1) // count} % used"
    delays = sorted({delay for edge in network.edges for delay in edge.delays_ns if delay is not None})
    if len(delays) == 1:
        yield "", f"delay {format_duration(delays[0])} each way"
    elif delays:
        yield "", f"delays {format_duration(delays[0])} to {format_duration(delays[-1])} each way"


def _summary(network: Network) -> str:
    return f"Topology {network.name}: {_counts(network)}"


def _counts(network: Network) -> str:
    hosts, links = len(network.hosts), len(network.edges)
    counted = (
        (hosts, "host", "hosts"),
        (len(network.vertices) - hosts, "switch", "switches"),
        (links, "link", "links"),
    )
    return ", ".join(f"{number} {one if number == 1 else many}" for number, one, many in counted)


def _edge_title(edge: Edge) -> str:
    """Return what a link is, for whoever points at it; a direction of its own where the two differ."""
    lines = [f"{edge.a} to {edge.b}"]
    ways = [_way(rate, delay) for rate, delay in zip(edge.rates_bps, edge.delays_ns, strict=True)]
    lines += [ways[0]] if ways[0] == ways[1] else [f"from {edge.a}: {ways[0]}", f"from {edge.b}: {ways[1]}"]
    return "\n".join(line for line in lines if line)


def _way(rate_bps: int | None, delay_ns: int | None) -> str:
    known = [
        None if rate_bps is None else format_rate(rate_bps),
        None if delay_ns is None else format_duration(delay_ns),
    ]
    return ", ".join(text for text in known if text is not None)


def _text(x: float, y: float, text: str, size: float, colour: str, anchor: str = "start", weight: str = "400") -> str:
    return (
        f'<text x="{px(x)}" y="{px(y)}" font-size="{px(size)}" fill="{colour}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{text}</text>'
    )
