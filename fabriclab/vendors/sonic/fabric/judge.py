"""Judging a fabric: what its files say of one thing in two places, in the words of CONFIG_DB."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fabriclab.formats.family import FAMILIES
from fabriclab.lab.reading.problems import Mistake, Problems
from fabriclab.vendors.sonic.fabric.class_rules import CLASS_RULES
from fabriclab.vendors.sonic.fabric.filter_rules import FILTER_RULES
from fabriclab.vendors.sonic.fabric.link_rules import LINK_RULES
from fabriclab.vendors.sonic.fabric.overlay_rules import OVERLAY_RULES, TUNNEL_RULES, tunnels_of_ipv6
from fabriclab.vendors.sonic.fabric.pair_rules import PAIR_RULES, shares_gateway
from fabriclab.vendors.sonic.fabric.path_rules import PATH_RULES
from fabriclab.vendors.sonic.fabric.route_rules import ROUTE_RULES
from fabriclab.vendors.sonic.fabric.routing import FabricRouting, routings
from fabriclab.vendors.sonic.fabric.session_rules import SESSION_RULES
from fabriclab.vendors.sonic.fabric.sibling_rules import SIBLING_RULES
from fabriclab.vendors.sonic.fabric.tier_rules import RELAY_RULES, TIER_RULES
from fabriclab.vendors.sonic.fabric.view import FabricFinding, View
from fabriclab.vendors.sonic.fabric.vrf_view import of_default
from fabriclab.vendors.sonic.judge.findings import SonicFinding, merged
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import split_path
from fabriclab.vendors.sonic.lab.fabric_checks import FabricChecks
from fabriclab.vendors.sonic.lab.fabric_links import FabricLink
from fabriclab.vendors.sonic.lab.fabric_switches import Fabric, FabricSwitch

_FATES = {
    "link-found": "the files contradict each other about a cable",
    "link-speed": "the link does not come up",
    "link-mtu": "large packets are dropped in one direction, and BGP sessions with full tables stop",
    "link-channel": "LACP leaves the link out of the port channel",
    "link-address": "no session comes up over it, or packets go to the wrong interface",
    "session-as": "FRR refuses the session, and the routes behind it are missing",
    "session-address": "the session does not come up",
}


_ROUTED = {
    4: (*TUNNEL_RULES, *SESSION_RULES, *PATH_RULES, *FILTER_RULES, *RELAY_RULES),
    6: (*TUNNEL_RULES, *SESSION_RULES, *PATH_RULES, *FILTER_RULES, *RELAY_RULES),
}
"""The rules of routes, by the family that they are asked about."""


def judge_fabric(
    fabric: Fabric, links: Sequence[FabricLink], down: Sequence[FabricLink] = (), unsound: frozenset[str] = frozenset()
) -> list[FabricFinding]:
    """Return what is wrong between the switches.

    `down`: links with a port that is down. `unsound`: switches whose tables of QoS are malformed.
    """
    view = View(fabric, links, unsound, down)
    found = list(_contradictions(view, down))
    for rule in (*LINK_RULES, *CLASS_RULES, *ROUTE_RULES, *TIER_RULES, *SIBLING_RULES, *PAIR_RULES, *OVERLAY_RULES):
        found += rule(view)
    default = of_default(view)
    every = routings(default)
    for routing in every:
        for routed in _ROUTED[routing.family]:
            found += routed(routing)
    if len(every) == 1 and tunnels_of_ipv6(default):
        # Hosts of IPv4 alone, in tunnels over IPv6.
        for routed in TUNNEL_RULES:
            found += routed(FabricRouting(default, family=6))
    return [
        FabricFinding(name, replace(one, line=one.line or switch.config.place(*one.path).line))
        for name, switch in fabric.switches.items()
        for one in merged(each.found for each in found if each.switch == name)
    ]


def told(rule: str, problems: Problems, fabric: Fabric) -> Iterator[FabricFinding]:
    """Yield contradictions that the import found, each at the switch in whose file it is."""
    switches = {switch.config.file: switch for switch in fabric.switches.values()}
    for mistake in problems.found():
        if mistake.file in switches:
            switch = switches[mistake.file]
            yield FabricFinding(switch.name, _finding(rule, mistake, switch))


def _contradictions(view: View, down: Sequence[FabricLink]) -> Iterator[FabricFinding]:
    checks = FabricChecks(view.fabric, view.links, down, {}, Problems(), FAMILIES)
    for rule, problems in checks.by_rule():
        for one in told(rule, problems, view.fabric):
            interface = one.found.path[0].partition("|")[0]
            if not shares_gateway(view, view.fabric.switches[one.switch], interface):
                yield one


def _finding(rule: str, mistake: Mistake, switch: FabricSwitch) -> SonicFinding:
    bound, semicolon, remedy = mistake.message.rpartition("; ")
    if not semicolon:
        bound, remedy = mistake.message, ""
    # Of an address the reader names interface and address alone.
    path = split_path(mistake.key, switch.config) if mistake.key.partition("|")[0].isupper() else (mistake.key,)
    return replace(finding(rule, path, None, bound, _FATES[rule], remedy), line=mistake.line)
