"""Events and pause storms of a plan: what happens to the network at set times."""

from __future__ import annotations

from typing import Literal, cast

from fabriclab.formats.plan.model import Event, PauseStorm, Plan
from fabriclab.formats.plan.node import Node
from fabriclab.lab import LabError
from fabriclab.lab.failures import WrittenEvent, WrittenPauseStorm
from fabriclab.lab.network.topology import Topology
from fabriclab.lab.reading.document import MappingValue
from fabriclab.lab.reading.problems import Mistake
from fabriclab.lab.settings import normalise
from fabriclab.resolve.changed_nodes import UnchangeableError, changed_nodes


def resolve_event(written: WrittenEvent, topology: Topology) -> Event:
    """Return an event with all the links that it is of."""
    links = [
        link
        for link in topology.links
        if written.link in (link.a.port, link.b.port) or written.node in (link.a.node, link.b.node)
    ]
    return Event(
        name=written.name,
        at_ns=written.at_ns,
        links=tuple((link.a.port, link.b.port) for link in links),
        node=written.node,
        action=cast(Literal["down", "up", "blackhole", "change"], written.action or "change"),
        rate_bps=written.rate_bps,
        delay_ns=written.delay_ns,
        loss_ppm=written.loss_ppm,
    )


def with_settings(event: Event, written: WrittenEvent, document: MappingValue, before: Plan, after: Plan) -> Event:
    """Return an event that makes a plan another one. Raises LabError where that can't be while the lab runs."""
    try:
        nodes = changed_nodes(before, after)
    except UnchangeableError as error:
        value = next(iter(written.settings.values()))
        key = f"events.{written.name}.set"
        message = f"{error}: this can't be done while the lab runs"
        raise LabError([Mistake(value.place.file, value.place.line, key, value.text, message)]) from None
    settings = {key: normalise(key, value.text, document) for key, value in written.settings.items()}
    bgp = after.bgp if after.bgp != before.bgp else None
    return event.model_copy(update={"action": "set", "settings": settings, "nodes": nodes, "bgp": bgp})


def resolve_storm(written: WrittenPauseStorm, nodes: tuple[Node, ...]) -> PauseStorm:
    """Return the storm at the host's first port that has its priorities."""
    (host,) = (node for node in nodes if node.name == written.host)
    wanted = set(written.priorities.value)
    pfcs = {port.interface: port.switch_port.pfc for port in host.ports if port.switch_port is not None}
    interface = next((name for name, pfc in pfcs.items() if pfc is not None and wanted <= set(pfc.priorities)), None)
    if interface is None:
        raise AssertionError(
            f"events.{written.name}: no port of {written.host} has these priorities, which reading the lab refuses"
        )
    return PauseStorm(
        name=written.name,
        at_ns=written.at_ns,
        until_ns=written.until_ns,
        host=written.host,
        interface=interface,
        priorities=tuple(sorted(wanted)),
    )
