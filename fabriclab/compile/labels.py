"""Whether a lab routes labels (MPLS: LDP, SR-MPLS, VPNs), for which a host has to load a module of the kernel.

FRR does other things at other times where the kernel routes labels, so machines of labs that do not ask have it not.
"""

from __future__ import annotations

import re

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.setup import Setup

_ASKS = re.compile(r"\bmpls|\bsegment-routing\b|\blabeled-unicast\b|\bvpnv[46]\b|\bipv[46] vpn\b|\b(?:pathd|ldpd)=yes")
"""What stands in the files, commands or sysctls of nodes that ask for labels."""


def routes_labels(plan: Plan) -> bool:
    """Return whether a node's own files, commands or sysctls speak of labels."""
    nodes = [*plan.nodes, *(node for event in plan.events for node in event.nodes)]
    return any(node.setup is not None and _asks(node.setup) for node in nodes)


def _asks(setup: Setup) -> bool:
    texts = [
        *(file.text for file in setup.files),
        *(" ".join(command.argv) for command in setup.commands),
        *setup.sysctls,
    ]
    return any(_ASKS.search(text) for text in texts)
