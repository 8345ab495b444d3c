"""Whether a plan runs anything that it brought along, or only what is fabriclab's own or Debian's.

A machine without brought programs may run its processes in a mode that locks none of them in. So what counts is a list
of what is known, not of what is not: whatever a plan has that is not here is taken for brought.
"""

from __future__ import annotations

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.setup import NodeFile, Setup
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.lab.setup.frr import CONFIGURATION_FILES, frr_daemons
from fabriclab.registry.applications import application_of

REPLAYED = frozenset({"rounds", "long", "flows", "arrivals", "query", "shuffle", "collective", "iperf3", "trace"})
"""Kinds of traffic that our replay or Debian's iperf3 sends, whatever their records say."""
_NETWORK = "net."
"""Sysctls that name no program; `kernel.core_pattern` and `kernel.modprobe` do."""


def brings_programs(plan: Plan) -> bool:
    """Return whether anything runs in nodes that is neither fabriclab's own nor Debian's nor Hadoop's.

    An own algorithm in C is none of these programs: the kernel runs it, which is bound from outside in every mode.
    """
    nodes = [*plan.nodes, *(node for event in plan.events for node in event.nodes)]
    setups = [node.setup for node in nodes if node.setup is not None]
    return not (all(map(_is_known_setup, setups)) and all(map(_is_known_traffic, plan.traffic)))


def _is_known_setup(setup: Setup) -> bool:
    """Return whether a node's own files are FRR's configuration alone, and what they start is FRR as they say."""
    runs = setup.main or setup.commands or setup.health or setup.environment
    return (
        not runs
        and all(map(_is_configuration, setup.files))
        and all(name.startswith(_NETWORK) for name in setup.sysctls)
        and setup.daemons in ((), frr_daemons(setup.files))
    )


def _is_configuration(file: NodeFile) -> bool:
    return file.path in CONFIGURATION_FILES and not file.executable


def _is_known_traffic(traffic: Traffic) -> bool:
    application = application_of(traffic.kind)
    if application is None:
        return traffic.kind in REPLAYED
    known: bool = application.load("compile.known").is_known(traffic)
    return known
