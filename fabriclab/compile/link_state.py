"""What state the links of a lab are in while it runs: up or down, and what events have made of their lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fabriclab.compile.port import Changing, Line
from fabriclab.formats.plan.model import Event, Plan
from fabriclab.formats.plan.node import Port

_ALL_LOST_PPM = 1_000_000


@dataclass(frozen=True)
class LinkState:
    """A link's state: both its directions alike; None where they are still as the plan has them."""

    is_up: bool = True
    is_blackhole: bool = False
    rate_bps: int | None = None
    delay_ns: int | None = None
    loss_ppm: int | None = None

    @property
    def all_lost(self) -> bool:
        """Whether no packet arrives, though the link may be up."""
        return self.is_blackhole or self.loss_ppm == _ALL_LOST_PPM

    @property
    def is_dead(self) -> bool:
        """Whether nothing arrives, for whatever reason."""
        return not self.is_up or self.all_lost

    def after(self, event: Event) -> LinkState:
        """Return the state after an event of this link."""
        match event.action:
            case "down":
                return replace(self, is_up=False)
            case "up":
                return replace(self, is_up=True, is_blackhole=False)
            case "blackhole":
                return replace(self, is_blackhole=True)
        return replace(
            self,
            rate_bps=self.rate_bps if event.rate_bps is None else event.rate_bps,
            delay_ns=self.delay_ns if event.delay_ns is None else event.delay_ns,
            loss_ppm=self.loss_ppm if event.loss_ppm is None else event.loss_ppm,
        )

    def without_delay(self) -> LinkState:
        """Return the state of a link whose delay its ports don't make."""
        return replace(self, delay_ns=None)

    def line(self, port: Port) -> Line:
        """Return what one of its ports has as its line."""
        loss_ppm = port.loss_ppm if self.loss_ppm is None else self.loss_ppm
        return Line(
            rate_bps=port.rate_bps if self.rate_bps is None else self.rate_bps,
            delay_ns=port.delay_ns if self.delay_ns is None else self.delay_ns,
            loss_ppm=_ALL_LOST_PPM if self.all_lost else loss_ppm,
        )


Links = Mapping[tuple[str, str], LinkState]
"""By the two ports (`node:interface`) of each link that anything has happened to."""


def dead_ports(links: Links) -> list[str]:
    """Return the ports that carry nothing."""
    return [port for link, state in links.items() if state.is_dead for port in link]


def down_ports(links: Links) -> set[str]:
    """Return the ports of links that are down."""
    return {end for link, state in links.items() if not state.is_up for end in link}


def state_of_port(links: Links, name: str) -> LinkState:
    """Return the state of the link that a port (`node:interface`) belongs to."""
    return next((state for link, state in links.items() if name in link), LinkState())


def changing_ports(plan: Plan, *, settings: bool = True) -> dict[str, Changing]:
    """Return what of its ports (`node:interface`) the events of a plan change; `settings`: those that set any, too."""
    found: dict[str, Changing] = {}
    for event in plan.events:
        if event.action == "blackhole" or event.delay_ns is not None or event.loss_ppm is not None:
            for name in (port for link in event.links for port in link):
                found[name] = found.get(name, Changing())._replace(line=True)
    nodes = [node for event in plan.events if settings for node in event.nodes]
    known = dict(plan.by_name()) if nodes else {}
    for node in nodes:
        for old, new in zip(known[node.name].ports, node.ports, strict=True):
            name = f"{node.name}:{new.interface}"
            before = found.get(name, Changing())
            after = Changing(
                before.line or old.delay_ns != new.delay_ns,
                before.buffer or old.queue != new.queue or old.rate_bps != new.rate_bps,
            )
            if after != Changing():
                found[name] = after
        known[node.name] = node
    return found
