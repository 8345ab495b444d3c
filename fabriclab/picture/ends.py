"""Where links run: from which place of a node's edge, and along which path."""

from __future__ import annotations

from fabriclab.picture.layout import RACK_TRUNK, Layout
from fabriclab.picture.network import Edge, Network


def rack_path(layout: Layout, host: str, switch: str) -> str:
    """Go down from the switch, along above the racks, down the rack's edge, into the host."""
    box, above = layout.boxes[host], layout.boxes[switch]
    trunk = box.x - box.width / 2 - RACK_TRUNK
    bus = (above.bottom + layout.racked[host]) / 2
    return f"M{px(above.x)} {px(above.bottom)}V{px(bus)}H{px(trunk)}V{px(box.y)}H{px(box.x - box.width / 2)}"


class Ends:
    """Where links leave their nodes: side by side along the upper or lower edge, in the order of where they go."""

    def __init__(self, network: Network, layout: Layout) -> None:
        self._network = network
        self._layout = layout
        self._x: dict[tuple[str, str], float] = {}
        self._spread()

    def is_home(self, lower: str, upper: str) -> bool:
        """Return whether the lower node stands in the rack of the upper one."""
        return lower in self._layout.racked and self._network.neighbours[lower][0] == upper

    def path(self, edge: Edge) -> str:
        """Return the line of a link that is in no rack."""
        (a, b), boxes = edge.nodes, self._layout.boxes
        xa, xb = self._x[a, edge.a], self._x[b, edge.b]
        if boxes[a].y == boxes[b].y:
            return self._level_path(a, b)
        upper, lower = (boxes[a].y, boxes[b].y), (boxes[a], boxes[b])
        ya, yb = (lower[0].bottom, lower[1].top) if upper[0] < upper[1] else (lower[0].top, lower[1].bottom)
        return f"M{px(xa)} {px(ya)}L{px(xb)} {px(yb)}"

    def way(self, edge: Edge) -> tuple[str, bool]:
        """Return the line of any link, and whether it runs from the edge's `b` to its `a`."""
        (a, b), boxes = edge.nodes, self._layout.boxes
        lower, upper = sorted((a, b), key=lambda name: -boxes[name].y)
        if self.is_home(lower, upper):
            return rack_path(self._layout, lower, upper), lower == a
        return self.path(edge), boxes[a].y == boxes[b].y and boxes[a].x > boxes[b].x

    def _level_path(self, a: str, b: str) -> str:
        """Join two nodes of one row: straight when nothing stands between them, else by an arc above."""
        left, right = sorted((self._layout.boxes[a], self._layout.boxes[b]), key=lambda box: box.x)
        between = any(box.y == left.y and left.x < box.x < right.x for box in self._layout.boxes.values())
        if not between:
            return f"M{px(left.x + left.width / 2)} {px(left.y)}H{px(right.x - right.width / 2)}"
        height = min(60.0, 18 + (right.x - left.x) * 0.08)
        return (
            f"M{px(left.x)} {px(left.top)}Q{px((left.x + right.x) / 2)} {px(left.top - height)} {px(right.x)} "
            f"{px(right.top)}"
        )

    def _spread(self) -> None:
        sides: dict[tuple[str, bool], list[tuple[float, str]]] = {}
        for edge in self._network.edges:
            for (node, port), peer in zip(
                zip(edge.nodes, (edge.a, edge.b), strict=True), reversed(edge.nodes), strict=True
            ):
                here, there = self._layout.boxes[node], self._layout.boxes[peer]
                sides.setdefault((node, there.y > here.y), []).append((there.x, port))
        for (node, _), ports in sides.items():
            box = self._layout.boxes[node]
            for index, (_, port) in enumerate(sorted(ports)):
                self._x[node, port] = box.x + box.width * 0.8 * ((index + 0.5) / len(ports) - 0.5)


def px(value: float) -> str:
    """Return a number with a tenth of a pixel at most."""
    return f"{value:.1f}".removesuffix(".0")
