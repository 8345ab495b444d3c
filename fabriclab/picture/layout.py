"""Where everything stands: a row for each tier, every group of nodes centred above what only it reaches.

A fabric without its top tier falls apart into pods, a pod without its top tier into leaves with their hosts, and so on:
blocks within blocks, side by side. Hosts stand in one row where that fits on a screen, else in racks: columns of names
below their switch.

Widths are known from the leaves up, places from the top down: `_block` builds the tree, each block works out its width
from those within it, and `place` then hands every block its left edge. Nothing is tried and moved afterwards, so that
the same network always gives the same drawing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fabriclab.picture.network import Network

WIDEST_ROW = 1200
"""Pixels that a row of hosts may take before they are put into racks."""
_WIDEST_RACKS = 1800
_RACK_ROWS = range(4, 17)
_BEST_RACK_ROWS = 6
_RACK_DEPTH = 62
"""From a switch's row down to the first row of its rack."""
MARGIN = 24
HOST_HEIGHT, RACK_STEP, RACK_TRUNK = 16, 20, 7
_GAP, _POD_GAP, _POD_PADDING = 8, 16, 10
_NARROWEST = 440


@dataclass(frozen=True)
class Sizes:
    """Sizes of a drawing's text in pixels, smaller where there are many switches."""

    switch_font: float
    host_font: float

    def switch_width(self, name: str) -> float:
        """Return the width of a switch with its name in it."""
        return text_width(name, self.switch_font) + self.switch_font

    def host_width(self, name: str) -> float:
        """Return the width of a host with its name in it."""
        return text_width(name, self.host_font) + 8

    @property
    def switch_height(self) -> float:
        """Return the height of a switch."""
        return self.switch_font + 13


@dataclass(frozen=True)
class Box:
    """A node's place: its centre and size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def top(self) -> float:
        """Return the y of the upper edge."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """Return the y of the lower edge."""
        return self.y + self.height / 2


@dataclass(frozen=True)
class Panel:
    """The ground below the nodes of one pod."""

    x: float
    y: float
    width: float
    height: float


@dataclass
class Layout:
    """Everything's place; y grows downwards."""

    width: float
    sizes: Sizes
    bottom: float = 0
    boxes: dict[str, Box] = field(default_factory=dict)
    panels: list[Panel] = field(default_factory=list)
    racked: dict[str, float] = field(default_factory=dict)
    """Hosts that stand in racks, with the upper edge of the rack: their link comes along the rack's edge."""


def text_width(text: str, font_size: float) -> float:
    """Return about how wide a text is in a common sans-serif font, pixels."""
    return 0.6 * font_size * len(text)


def lay_out(network: Network, top: float) -> Layout:
    """Return the layout of a network, its first row of nodes below `top`."""
    sizes = Sizes(11.5, 10) if len(network.vertices) - len(network.hosts) <= 40 else Sizes(9, 9)
    block = _fitting_block(network, sizes)
    width = max(block.width + 2 * MARGIN, _NARROWEST)
    layout = Layout(width, sizes)
    # Rows stand further apart in a wide drawing, or its long links would lie nearly flat.
    step = min(150.0, max(84.0, width * 0.085))
    tiers = sorted(set(network.tiers.values()))
    heights = {tier: top + sizes.switch_height / 2 + index * step for index, tier in enumerate(tiers)}
    # A rack hangs below its switch: no fan of links needs the room that other tiers have between them.
    if block.has_racks and len(tiers) > 1:
        heights[tiers[-1]] = heights[tiers[-2]] + _RACK_DEPTH
    block.place(layout, (width - block.width) / 2, heights)
    layout.bottom = max(box.bottom for box in layout.boxes.values()) if layout.boxes else top
    return layout


def _fitting_block(network: Network, sizes: Sizes) -> _Block:
    """Return the whole drawing as a block: hosts in a row if that fits, else in racks of few empty places and
    about the best height."""
    names = [vertex.name for vertex in network.vertices]
    row = _block(network, names, sizes, 0)
    if row.width <= WIDEST_ROW:
        return row
    # All depths of racks are laid out, a dozen, and compared: how wide a fabric becomes with each follows from its
    # names and pods in no simple way. What is too wide even so gets the deepest racks.
    racks = {rows: _block(network, names, sizes, rows) for rows in _RACK_ROWS}
    fitting = {rows: block for rows, block in racks.items() if block.width <= _WIDEST_RACKS} or {
        _RACK_ROWS[-1]: racks[_RACK_ROWS[-1]]
    }
    return min(fitting.items(), key=lambda item: (item[1].empty_places + abs(item[0] - _BEST_RACK_ROWS), item[0]))[1]


class _Block(ABC):
    """A part of the drawing that is laid out on its own."""

    width: float
    empty_places: int = 0
    """How many places in racks are left empty."""
    has_racks: bool = False

    @abstractmethod
    def place(self, layout: Layout, left: float, heights: dict[int, float]) -> None:
        """Put the block's nodes at their places."""


@dataclass
class _Hosts(_Block):
    """Hosts that have the same neighbours. `rows` 0: one row; else columns of at most so many."""

    names: Sequence[str]
    tier: int
    sizes: Sizes
    rows: int

    def __post_init__(self) -> None:
        self._cell = max(self.sizes.host_width(name) for name in self.names)
        self._columns = len(self.names) if self.rows == 0 else -(-len(self.names) // self.rows)
        self._pitch = self._cell + (4 if self.rows == 0 else RACK_TRUNK + 5)
        self.width = self._columns * self._pitch
        # Columns of even height: 13 hosts in racks of 6 are 5, 5, 3, not 6, 6, 1.
        self._per_column = -(-len(self.names) // self._columns)
        self.empty_places = self._columns * self._per_column - len(self.names)
        self.has_racks = self.rows > 0

    def place(self, layout: Layout, left: float, heights: dict[int, float]) -> None:
        for index, name in enumerate(self.names):
            column, row = divmod(index, self._per_column)
            x = left + column * self._pitch + self._pitch / 2 + (0 if self.rows == 0 else RACK_TRUNK / 2)
            layout.boxes[name] = Box(x, heights[self.tier] + row * RACK_STEP, self._cell, HOST_HEIGHT)
        if self.rows:
            layout.racked.update(dict.fromkeys(self.names, heights[self.tier] - HOST_HEIGHT / 2))


@dataclass
class _Tier(_Block):
    """The nodes of one tier above the blocks into which the network falls apart without them."""

    names: list[str]
    tier: int
    children: list[_Block]
    hints: dict[str, list[int]]
    """The children to which each node has links, by number."""
    sizes: Sizes
    is_pod: bool = False

    def __post_init__(self) -> None:
        self._gap = _POD_GAP if any(isinstance(child, _Tier) and child.is_pod for child in self.children) else _GAP
        self._below = sum(child.width for child in self.children) + self._gap * max(0, len(self.children) - 1)
        self._widths = [self.sizes.switch_width(name) for name in self.names]
        self._padding = _POD_PADDING if self.is_pod else 0
        self.empty_places = sum(child.empty_places for child in self.children)
        self.has_racks = any(child.has_racks for child in self.children)
        self.width = max(self._below, sum(self._widths) + 8 * (len(self.names) - 1)) + 2 * self._padding

    def place(self, layout: Layout, left: float, heights: dict[int, float]) -> None:
        if self.is_pod:
            # The panel takes its place before those of pods within it, for SVG paints in order; its height is known
            # when they stand.
            panel = len(layout.panels)
            layout.panels.append(Panel(left, 0, self.width, 0))
        centres = self._place_children(layout, left, heights)
        for name, x, width in zip(self.names, self._centres(left, centres), self._widths, strict=True):
            layout.boxes[name] = Box(x, heights[self.tier], width, self.sizes.switch_height)
        if self.is_pod:
            y = heights[self.tier] - self.sizes.switch_height / 2 - _POD_PADDING
            inside = [box for box in layout.boxes.values() if left <= box.x <= left + self.width and box.y >= y]
            layout.panels[panel] = Panel(left, y, self.width, max(box.bottom for box in inside) + _POD_PADDING - y)

    def _place_children(self, layout: Layout, left: float, heights: dict[int, float]) -> list[float]:
        x = left + (self.width - self._below) / 2
        centres = []
        for child in self.children:
            child.place(layout, x, heights)
            centres.append(x + child.width / 2)
            x += child.width + self._gap
        return centres

    def _centres(self, left: float, children: list[float]) -> list[float]:
        """Stand above the middle of what a node is linked to; where that leaves no room for all, evenly spread."""
        wished = [
            sum(children[index] for index in hint) / len(hint) if (hint := self.hints[name]) else None
            for name in self.names
        ]
        known = [x for x in wished if x is not None]
        # Either all nodes of a tier stand above what is theirs or none does: a mixture would look like an order that
        # the network does not have.
        if len(known) == len(self.names) and all(
            right - left_one >= (a + b) / 2 + 8
            for left_one, right, a, b in zip(known, known[1:], self._widths, self._widths[1:], strict=False)
        ):
            return known
        inner = self.width - 2 * self._padding
        return [left + self._padding + inner * (index + 0.5) / len(self.names) for index in range(len(self.names))]


def _block(network: Network, names: list[str], sizes: Sizes, rows: int, is_pod: bool = False) -> _Block:
    """Return the block of some nodes, `names` in the order of the file."""
    tier = min(network.tiers[name] for name in names)
    top = [name for name in names if network.tiers[name] == tier]
    if all(name in network.hosts for name in names):
        return _Hosts(names, tier, sizes, rows)
    rest = [name for name in names if network.tiers[name] != tier]
    index = {name: number for number, name in enumerate(top)}
    # Parts stand in the order of the switches above them, whatever the order of the file, so that fewer links cross.
    parts = sorted(
        _parts(network, rest),
        key=lambda part: min(index[other] for name in part for other in _uplinks(network, name, index)),
    )
    pods = [len(parts) > 1 and sum(name not in network.hosts for name in part) > 1 for part in parts]
    children = [_block(network, part, sizes, rows, is_pod) for part, is_pod in zip(parts, pods, strict=True)]
    hints = {
        name: [number for number, part in enumerate(parts) if set(network.neighbours[name]) & set(part)] for name in top
    }
    return _Tier(top, tier, children, hints, sizes, is_pod)


def _uplinks(network: Network, name: str, index: dict[str, int]) -> Iterator[str]:
    """Yield the node's neighbours in the tier above, a stand-in where it has none."""
    found = [other for other in network.neighbours[name] if other in index]
    yield from found or [next(iter(index))]


def _parts(network: Network, names: list[str]) -> list[list[str]]:
    """Return the connected parts of some nodes; single hosts with the same neighbours are one part."""
    inside, order = set(names), {name: number for number, name in enumerate(names)}
    parts: list[list[str]] = []
    alike: dict[tuple[str, ...], list[str]] = {}
    seen: set[str] = set()
    for name in names:
        if name in seen:
            continue
        part = _reached(network, name, inside)
        seen.update(part)
        if part == {name} and name in network.hosts:
            key = tuple(sorted(set(network.neighbours[name])))
            if key not in alike:
                alike[key] = []
                parts.append(alike[key])
            alike[key].append(name)
        else:
            parts.append(sorted(part, key=order.__getitem__))
    return parts


def _reached(network: Network, start: str, inside: set[str]) -> set[str]:
    reached, frontier = {start}, [start]
    while frontier:
        for neighbour in network.neighbours[frontier.pop()]:
            if neighbour in inside and neighbour not in reached:
                reached.add(neighbour)
                frontier.append(neighbour)
    return reached
