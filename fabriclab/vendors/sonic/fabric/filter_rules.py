"""Rules of ACLs in a fabric: hosts that a filter cuts off from all others, where other hosts are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import ip_network
from typing import Literal, NamedTuple

from fabriclab.formats.family import AnyAddress, AnyNetwork, is_within
from fabriclab.formats.plan.filters import PacketRule
from fabriclab.vendors.sonic.fabric.routing import Destination, FabricRouting
from fabriclab.vendors.sonic.fabric.view import FabricFinding
from fabriclab.vendors.sonic.judge.filter_rules import is_of_any_packet
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.lab.fabric_switches import FabricSwitch
from fabriclab.vendors.sonic.read.acl_tables import AclTable

_MOST_CUT_OFF = 0.25
"""If more networks than this share are cut off, hosts are not meant to talk with one another."""
_FEWEST = 3


class _CutOff(NamedTuple):
    destination: Destination
    table: str
    rule: str
    others: int


def cut_off_hosts(routing: FabricRouting) -> Iterator[FabricFinding]:
    """No filter drops all packets between the hosts of a port and all others of the fabric."""
    hosts = [one for one in routing.destinations if not one.is_loopback]
    if len(hosts) < _FEWEST or not any(one.config.acls for one in routing.view.fabric.switches.values()):
        return
    found = [cut for one in hosts if (cut := _cut_off(routing, one, hosts)) is not None]
    if len(found) > _MOST_CUT_OFF * len(hosts):
        return
    for destination, table, rule, others in found:
        path = ("ACL_RULE", f"{table}|{rule}")
        bound = f"drops all packets between {destination} and the other {others} networks of hosts"
        fate = "hosts there reach no other hosts of the fabric, while hosts elsewhere do"
        remedy = "correct the addresses or the priorities of the table's rules"
        one = finding("acl-cuts-off", path, None, bound, fate, remedy, (destination.interface,))
        yield FabricFinding(destination.owner, one)


def _cut_off(routing: FabricRouting, one: Destination, hosts: Sequence[Destination]) -> _CutOff | None:
    switch = routing.view.fabric.switches[one.owner]
    others = [other.network for other in hosts if not is_within(other.network, one.network)]
    others = [network for network in others if not is_within(one.network, network)]
    own = frozenset(address.ip for address in switch.addresses_of(routing.family)[one.interface])
    for table in switch.config.acls if others else ():
        if not _is_bound(switch, table, one.interface):
            continue
        is_in = table.stage == "ingress"
        verdicts = [
            _verdict(table.rules, one.network, other, own) if is_in else _verdict(table.rules, other, one.network, own)
            for other in others
        ]
        dropping = [rule for rule in verdicts if rule is not None and rule.drops]
        if len(dropping) == len(others):
            return _CutOff(one, table.name, dropping[0].name, len(others))
    return None


def _is_bound(switch: FabricSwitch, table: AclTable, interface: str) -> bool:
    vlan = next((vlan for vlan in switch.config.vlans if vlan.name == interface), None)
    members = set() if vlan is None else {*vlan.members, *vlan.tagged}
    return interface in table.ports or (bool(members) and members <= set(table.ports))


def _verdict(
    rules: Sequence[PacketRule], source: AnyNetwork, destination: AnyNetwork, own: frozenset[AnyAddress]
) -> PacketRule | None:
    """Return the rule that decides over all packets from one network to another; None: that depends on the packet, or
    no rule matches. The rules are in the order of their priorities."""
    for rule in rules:
        if rule.frames not in ("all", "ip" if source.version == 4 else "ipv6"):
            continue
        sides = (_overlap(rule.source, source, own), _overlap(rule.destination, destination, own))
        if "none" in sides:
            continue
        if is_of_any_packet(rule) and sides == ("all", "all"):
            return rule
        if not rule.drops:
            return None
    return None


def _overlap(said: str | None, network: AnyNetwork, own: frozenset[AnyAddress]) -> Literal["all", "some", "none"]:
    """Return how many of a network's hosts a rule means; the switch's own addresses are none of them."""
    if said is None:
        return "all"
    written = ip_network(said)
    if is_within(network, written):
        return "all"
    if not is_within(written, network):
        return "none"
    hosts = {*written} - own if written.prefixlen >= written.max_prefixlen - 1 else {written.network_address}
    return "some" if hosts else "none"


FILTER_RULES = (cut_off_hosts,)
