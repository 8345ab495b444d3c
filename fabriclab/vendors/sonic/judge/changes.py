"""What a change of a config_db.json changes in what the switch does: memory, thresholds, maps, sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

from fabriclab.formats.plan.policies import Policies
from fabriclab.formats.plan.switch import CODEPOINTS, Account, QosMaps, Scheduler, Wred
from fabriclab.resolve.switch.findings import CheckedPort
from fabriclab.resolve.switch.memory import Memory
from fabriclab.resolve.switch.notes import number_ranges, size
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.switch import ConfiguredSwitch, SwitchBuilder
from fabriclab.vendors.sonic.read.accounts import MOST_POOLS
from fabriclab.vendors.sonic.read.config_db import ConfigDb

_PPM_A_PER_CENT = 10_000
_OF_IPV6 = ", IPv6"


class Fact(NamedTuple):
    """That of which something is said; of queues and groups, `what` has a place for their numbers."""

    port: str
    """Empty: the switch."""
    what: str
    number: int | None = None


@dataclass(frozen=True)
class Change:
    """Something that the switch does otherwise."""

    what: str
    old: str | None
    """None: it was not there."""
    new: str | None
    ports: tuple[str, ...]


def changes(old: ConfigDb, new: ConfigDb) -> tuple[Change, ...]:
    """Return what differs between two files of a switch, ports alike together; both are sound, or have no memory."""
    before, after = dict(_facts(old)), dict(_facts(new))
    by_number: dict[tuple[str, int | None, str | None, str | None], list[str]] = {}
    for fact in dict.fromkeys((*before, *after)):
        was, now = before.get(fact), after.get(fact)
        if was != now:
            by_number.setdefault((fact.what, fact.number, was, now), []).append(fact.port)
    alike: dict[tuple[str, str | None, str | None, tuple[str, ...]], list[int]] = {}
    for (what, number, was, now), ports in by_number.items():
        numbers = alike.setdefault((what, was, now, tuple(filter(None, ports))), [])
        numbers += [] if number is None else [number]
    return tuple(
        Change(what.format(number_ranges(numbers)), was, now, ports)
        for (what, was, now, ports), numbers in alike.items()
    )


def _facts(config: ConfigDb) -> Iterator[tuple[Fact, str]]:
    """Yield everything that is compared, as texts."""
    yield Fact("", "AS number"), str(config.asn)
    yield Fact("", "chip"), config.chip.name or "not known"
    yield from _network(config)
    if config.pools and all(pool.size is not None for pool in config.pools.values()):
        builder = SwitchBuilder(Bindings(config), config.chip.cell_bytes)
        if builder.pool_count <= MOST_POOLS:
            yield from _memory(builder.build())


def _network(config: ConfigDb) -> Iterator[tuple[Fact, str]]:
    for port in config.ports.values():
        yield Fact(port.name, "state"), "up" if port.up else "down"
        yield Fact(port.name, "speed"), f"{port.speed_mbps} Mbit/s"
        yield Fact(port.name, "MTU"), f"{port.mtu or 'not given'}"
        yield Fact(port.name, "cable"), f"{config.cable_metres.get(port.name, 'not given')} m"
    for name, addresses in (*config.addresses.items(), *config.loopbacks.items()):
        yield Fact("", f"addresses of {name}"), ", ".join(map(str, addresses))
    for name, every in (*config.addresses6.items(), *config.loopbacks6.items()):
        yield Fact("", f"IPv6 addresses of {name}"), ", ".join(map(str, every))
    for channel in config.port_channels:
        yield Fact("", f"members of {channel.name}"), ", ".join(channel.members)
    for vlan in config.vlans:
        yield Fact("", f"members of {vlan.name}"), ", ".join(vlan.members)
    yield from _routing(config)
    for acl in config.acls:
        yield Fact("", f"ports of ACL {acl.name} ({acl.stage})"), ", ".join(acl.ports)
        for rule in acl.rules:
            yield Fact("", f"rule {rule.name} of ACL {acl.name}"), _said(rule)
    yield Fact("", "hash"), f"seed {config.hash.seed_in_switch}, fields {', '.join(config.hash.said) or 'the chip has'}"


def _routing(config: ConfigDb) -> Iterator[tuple[Fact, str]]:
    for one in (*config.bgp_neighbours, *config.bgp_neighbours6):
        yield Fact("", f"session to {one.key}"), f"AS {one.asn or 'external'}{'' if one.up else ', shut'}"
        for policy, of in ((one.policy, ""), (one.policy6, _OF_IPV6)):
            if policy is not None:
                yield Fact("", f"policy of the session to {one.key}{of}"), _said(policy)
    yield from _policies(config.policies, config.network_maps, config.redistribution_maps)
    of_ipv6 = _policies(config.policies6, config.network_maps6, config.redistribution_maps6)
    yield from ((Fact("", f"{fact.what}{_OF_IPV6}"), said) for fact, said in of_ipv6)


def _policies(
    said: Policies | None, networks: Mapping[str, str], redistributed: Mapping[str, str]
) -> Iterator[tuple[Fact, str]]:
    policies = said or Policies()
    for route_map in policies.route_maps:
        for entry in route_map.entries:
            yield Fact("", f"entry {entry.sequence} of route-map {route_map.name}"), _said(entry)
    for prefixes in policies.prefix_lists:
        for rule in prefixes.rules:
            yield Fact("", f"entry {rule.sequence} of prefix-list {prefixes.name}"), _said(rule)
    for paths in policies.as_path_lists:
        yield Fact("", f"AS paths of {paths.name}"), ", ".join(paths.expressions)
    for communities in policies.community_lists:
        yield Fact("", f"communities of {communities.name}"), _said(communities)
    for prefix, name in networks.items():
        yield Fact("", f"route-map of network {prefix}"), name
    for protocol, name in redistributed.items():
        yield Fact("", f"route-map of {protocol} routes"), name


def _said(record: Any) -> str:
    """Return what a record says, without what is usual."""
    return ", ".join(_words(record)) or "nothing"


def _words(record: Any) -> Iterator[str]:
    for one in fields(record):
        value = getattr(record, one.name)
        if is_dataclass(value):
            yield from _words(value)
        elif one.name not in ("name", "sequence") and value not in (None, (), "", False, 0):
            yield f"{one.name} {value}" if value is not True else one.name


def _memory(configured: ConfiguredSwitch) -> Iterator[tuple[Fact, str]]:
    memory = Memory(configured.switch, configured.ports)
    for pool in configured.switch.pools:
        yield Fact("", f"pool {pool.name}"), f"{size(pool.size_bytes)}, shared headroom {size(pool.headroom_bytes)}"
    busy = max(1, len(configured.busy))
    for port in configured.ports:
        yield from _port(port, memory, busy)


def _port(port: CheckedPort, memory: Memory, busy: int) -> Iterator[tuple[Fact, str]]:
    for queue in port.port.queues:
        yield Fact(port.name, "queue {} holds", queue.index), _holds(queue.account, memory, busy, port)
        yield Fact(port.name, "queue {} is served", queue.index), _served(queue.scheduler)
        yield Fact(port.name, "queue {} marks", queue.index), _marks(queue.wred)
    for group in port.port.groups:
        lossless = group.lossless
        kind = (
            "lossy" if lossless is None else f"headroom {size(lossless.headroom_bytes)}, xon {size(lossless.xon_bytes)}"
        )
        held = _holds(group.account, memory, busy, port)
        yield Fact(port.name, "priority group {}", group.index), f"{held}; {kind}"
    priorities = () if port.port.pfc is None else port.port.pfc.priorities
    yield Fact(port.name, "PFC"), number_ranges(priorities) or "none"
    for where, dscps in _map(port.port.maps).items():
        yield Fact(port.name, where), number_ranges(dscps)


def _holds(account: Account, memory: Memory, busy: int, port: CheckedPort) -> str:
    frame = port.line.frame_bytes
    alone, together = (memory.holds_bytes(account, count, frame) for count in (1, busy))
    return f"{size(alone)} with one port busy, {size(together)} with {busy}"


def _served(scheduler: Scheduler) -> str:
    words = [scheduler.kind] + ([f"weight {scheduler.weight}"] if scheduler.kind != "strict" else [])
    words += [f"at least {scheduler.cir_bps} bit/s"] if scheduler.cir_bps else []
    return ", ".join(words + ([f"at most {scheduler.pir_bps} bit/s"] if scheduler.pir_bps else []))


def _marks(wred: Wred | None) -> str:
    if wred is None:
        return "never"
    what = "marks" if wred.ecn else "drops"
    return f"{what} from {size(wred.min)} to {size(wred.max)}, {wred.probability_ppm / _PPM_A_PER_CENT:g} %"


def _map(maps: QosMaps) -> Mapping[str, list[int]]:
    """Return the DSCPs that lead to each queue and group."""
    found: dict[str, list[int]] = {}
    for dscp in range(CODEPOINTS):
        tc = maps.dscp_to_tc[dscp]
        where = f"DSCPs of queue {maps.tc_to_queue[tc]}, priority group {maps.tc_to_group[tc]}"
        found.setdefault(where, []).append(dscp)
    return found
