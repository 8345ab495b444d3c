"""What the page draws of a lab, from its plan: where nodes and links stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fabriclab.formats.plan import Plan, parse_plan_json
from fabriclab.formats.run_directory import PLAN
from fabriclab.picture.ends import Ends
from fabriclab.picture.layout import lay_out
from fabriclab.picture.network import Edge, network_of_plan

_TOP = 16
_BELOW = 12


def plan_of(directory: Path) -> Plan:
    """Return the plan of a run directory. Raises OSError, PlanError."""
    return parse_plan_json((directory / PLAN).read_text(encoding="utf-8"))


def drawn(plan: Plan) -> dict[str, Any]:
    """Return the topology as it is drawn: pixels, y downwards; a link's path runs from `b` where it is `reversed`.

    `rack` is the place of a host whose link shares its way with others.
    """
    network = network_of_plan(plan)
    layout = lay_out(network, _TOP)
    ends = Ends(network, layout)
    nodes = []
    for vertex in network.vertices:
        box = layout.boxes[vertex.name]
        place = {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
        tier = network.tiers[vertex.name]
        nodes.append({"name": vertex.name, "host": vertex.is_host, "tier": tier, "details": vertex.details, **place})
    links = []
    for edge in network.edges:
        path, is_reversed = ends.way(edge)
        link: dict[str, Any] = {"a": edge.a, "b": edge.b, "path": path, "reversed": is_reversed}
        host = next((name for name in edge.nodes if ends.is_home(name, _other(edge, name))), None)
        if host is not None:
            box = layout.boxes[host]
            link["rack"] = {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
        links.append({**link, "rates_bps": edge.rates_bps, "delays_ns": edge.delays_ns})
    panels = [{"x": one.x, "y": one.y, "width": one.width, "height": one.height} for one in layout.panels]
    size = {"width": layout.width, "height": layout.bottom + _BELOW}
    return {**size, "panels": panels, "nodes": nodes, "links": links}


def _other(edge: Edge, node: str) -> str:
    a, b = edge.nodes
    return b if node == a else a
