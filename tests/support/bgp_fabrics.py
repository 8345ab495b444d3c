"""Small fabrics that route by BGP, and where their routes lead."""

from __future__ import annotations

from pathlib import Path

from small_fabrics import EXPERIMENT, link, star
from typer.testing import CliRunner

from fabriclab.cli.app import app
from fabriclab.formats.plan import Plan
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

FABRIC_EXPERIMENT = (
    "title: T\nswitches: {default: {buffer: 64 KB}}\ntraffic:\n  one: {kind: flows, senders: 1, receiver: HOST, size: "
    "100 KB}\n"
)


TWO_LEAVES = star(
    link("h1:eth1", "leaf1:eth1"),
    link("h2:eth1", "leaf2:eth1"),
    *(
        link(f"{leaf}:eth{2 + spine}", f"spine{spine}:eth{number}")
        for number, leaf in ((1, "leaf1"), (2, "leaf2"))
        for spine in (1, 2)
    ),
    switches=("leaf1", "leaf2", "spine1", "spine2"),
)


BGP = EXPERIMENT + "routing: {protocol: bgp-numbered}\n"


def generated(directory: Path, arguments: str, host: str, **settings: str) -> Plan:
    assert CliRunner().invoke(app, ["generate", *arguments.split(), "--out", str(directory)]).exit_code == 0
    (directory / "experiment.yml").write_text(FABRIC_EXPERIMENT.replace("HOST", host), encoding="utf-8")
    return resolve_plan(parse_lab(directory), settings)


def next_hops(plan: Plan, node: str, destination: str) -> list[str]:
    """Return the interfaces of a route; empty when there is none."""
    routes = {route.destination: route for route in plan.node(node).routes}
    return [interface for _, interface in routes[destination].next_hops] if destination in routes else []
