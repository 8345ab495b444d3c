"""Whether a lab asks for what a host has to load a module of its kernel for: labels (MPLS: LDP, SR-MPLS, VPNs), and the
devices of which `ip tunnel` makes others.

FRR does other things at other times where the kernel routes labels, and such devices are in every node, so machines of
labs that do not ask have neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.setup import Setup

_ASKS = re.compile(r"\bmpls|\bsegment-routing\b|\blabeled-unicast\b|\bvpnv[46]\b|\bipv[46] vpn\b|\b(?:pathd|ldpd)=yes")
"""What stands in the files, commands or sysctls of nodes that ask for labels."""


_MAKES_TUNNELS = re.compile(r"\bip (?:-\S+ +)*tunnel (?:add|change|replace)\b")
"""`ip tunnel` asks tunl0, gre0 or their like for another device; `ip link add type ipip` needs none of them."""


def routes_labels(plan: Plan) -> bool:
    """Return whether a node's own files, commands or sysctls speak of labels."""
    return _says(plan, _ASKS)


def makes_tunnels(plan: Plan) -> bool:
    """Return whether a node's own files or commands make tunnels by `ip tunnel`."""
    return _says(plan, _MAKES_TUNNELS)


def _says(plan: Plan, asks: re.Pattern[str]) -> bool:
    nodes = [*plan.nodes, *(node for event in plan.events for node in event.nodes)]
    return any(asks.search(text) for node in nodes if node.setup is not None for text in _texts(node.setup))


def _texts(setup: Setup) -> Iterator[str]:
    yield from (file.text for file in setup.files)
    yield from (" ".join(command.argv) for command in setup.commands)
    yield from setup.sysctls
