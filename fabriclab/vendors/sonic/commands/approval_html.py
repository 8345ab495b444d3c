"""The page of a change as one HTML file that needs nothing else, in the report's look, with a picture of the fabric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined, Template, select_autoescape

from fabriclab.lab import LabError
from fabriclab.picture import Edge, Network, Vertex, network_svg
from fabriclab.report.drawing.style import css_variables, themed
from fabriclab.vendors.sonic.commands.approval_page import TITLE, sections, summary, verdict
from fabriclab.vendors.sonic.commands.emulated import Emulation
from fabriclab.vendors.sonic.commands.fabric_difference import FabricDifference
from fabriclab.vendors.sonic.commands.rollout import Step
from fabriclab.vendors.sonic.fabric.view import View, read_view
from fabriclab.vendors.sonic.lab.cabling import Cable
from fabriclab.vendors.sonic.lab.fabric_switches import End

_BITS_A_MBIT = 10**6


def html_page(
    one: FabricDifference,
    steps: Sequence[Step] | None,
    emulations: Sequence[Emulation],
    failed: str,
    cables: Sequence[Cable],
) -> str:
    """Return the page. `failed`: why the change fails by --fail-on; empty: it passes."""
    return _template().render(
        title=TITLE,
        failed=failed,
        verdict=verdict(failed),
        summary=summary(one),
        picture=_picture(one, cables),
        sections=sections(one, steps, emulations),
        light=css_variables(dark=False),
        dark=css_variables(dark=True),
    )


@cache
def _template() -> Template:
    loaders = [PackageLoader(f"fabriclab.{one}", "templates") for one in ("vendors.sonic.commands", "report")]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("approval.html")


def _picture(one: FabricDifference, cables: Sequence[Cable]) -> str:
    """Return the new fabric as SVG: what changes is framed. Empty for files in which no link is found."""
    try:
        view = read_view(list(one.files[1].values()), cables)
    except LabError:
        return ""
    return themed(network_svg(_network(view), marked=_marks(one, view)))


def _marks(one: FabricDifference, view: View) -> Mapping[str, str]:
    wrong = {
        name for name, each in one.switches.items() if any(found.severity == "error" for found in each.new.findings)
    }
    found = {}
    for name, switch in view.fabric.switches.items():
        known = switch.config.hostname or name
        if known in wrong:
            found[name] = "changed, with a new error"
        elif known in one.changed:
            found[name] = "changed"
        elif known in one.added:
            found[name] = "added"
    return found


def _network(view: View) -> Network:
    """Return switches, their links, and one host for all ports of hosts that a switch has."""
    tiers = _tiers(view)
    switches = [Vertex(name, False, tiers.get(name, 1)) for name in view.fabric.switches]
    edges = [_edge(view, link.a, link.b) for link in view.links]
    hosts: list[Vertex] = []
    for switch in view.linked:
        ports = [port for port in view.host_ports(switch) if port in switch.config.device_neighbours]
        for port in ports:
            name = switch.config.device_neighbours[port].name
            if name not in view.fabric.switches and name not in {one.name for one in hosts}:
                hosts.append(Vertex(name, True))
            if name not in view.fabric.switches:
                rate = _rate(view, End(switch.name, port))
                edges.append(Edge(f"{switch.name}:{port}", f"{name}:{port}", (rate, rate), (None, None)))
    return Network("The fabric after the change", (*switches, *hosts), tuple(edges))


def _tiers(view: View) -> Mapping[str, int]:
    """Return the tier of each switch from 1 at the top, by its distance from the switches with hosts."""
    distance = dict.fromkeys(sorted(view.with_hosts), 0)
    waiting = list(distance)
    for name in waiting:
        for other in view.neighbours[name]:
            if other not in distance:
                distance[other] = distance[name] + 1
                waiting.append(other)
    top = max(distance.values(), default=0)
    return {name: top - steps + 1 for name, steps in distance.items()}


def _edge(view: View, a: End, b: End) -> Edge:
    return Edge(str(a), str(b), (_rate(view, a), _rate(view, b)), (None, None))


def _rate(view: View, end: End) -> int | None:
    speed = view.switch(end).config.ports[end.port].speed_mbps
    return None if speed is None else speed * _BITS_A_MBIT
