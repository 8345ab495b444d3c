"""Rules of the two ends of a BGP session, and of how many prefixes come over it."""

from __future__ import annotations

from collections.abc import Iterator

from fabriclab.formats.family import Family
from fabriclab.resolve.bgp_paths import accepted
from fabriclab.vendors.sonic.fabric.routing import FabricRouting
from fabriclab.vendors.sonic.fabric.view import FabricFinding
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.lab.fabric_switches import FabricSwitch
from fabriclab.vendors.sonic.read.config_db import BgpNeighbour

_NEVER_UP = "the session does not come up"
_ON = ("true", "on", "up")


def options(routing: FabricRouting) -> Iterator[FabricFinding]:
    """Both ends of a session have one password, guard their TTL or do not, and at least one of them calls."""
    for name, sessions in routing.sessions.items():
        for session, far in sessions.values():
            if routing.family == 6 and (session.address is None or session.address.version == 4):
                continue  # told of IPv4
            back, _ = routing.sessions[far.switch][far.interface]
            ends = [(routing.view.fabric.switches[one], each) for one, each in ((name, session), (far.switch, back))]
            for one in (_password(*ends), _ttl(*ends), _passive(*ends)):
                if one is not None:
                    yield FabricFinding(name, one)


_Side = tuple[FabricSwitch, BgpNeighbour]


def _password(near: _Side, far: _Side) -> SonicFinding | None:
    ours, theirs = (_said(*one, "auth_password") for one in (near, far))
    # Of two that differ, the first switch is told; of one, the switch that has it.
    if ours == theirs or not ours or (theirs and near[0].name > far[0].name):
        return None
    other = "another one" if theirs else "none"
    bound = f"set, but {far[0].name} has {other} for this session ({_place(far)})"
    fate = f"{_NEVER_UP}: TCP drops segments whose MD5 signature is missing or wrong (RFC 2385)"
    return finding("session-options", (*_path(near), "auth_password"), None, bound, fate, "write the same at both")


def _ttl(near: _Side, far: _Side) -> SonicFinding | None:
    ours, theirs = (_said(*one, "ttl_security_hops") for one in (near, far))
    if not ours or theirs or _said(*far, "ebgp_multihop") in _ON:
        return None
    bound = f"set, but {far[0].name} sends with a TTL of 1, as it has neither this nor ebgp_multihop ({_place(far)})"
    return finding(
        "session-options", (*_path(near), "ttl_security_hops"), ours, bound, _NEVER_UP, "write the same at both"
    )


def _passive(near: _Side, far: _Side) -> SonicFinding | None:
    if not all(_said(*one, "passive_mode") in _ON for one in (near, far)) or near[0].name > far[0].name:
        return None
    bound = f"true at {far[0].name} as well ({_place(far)})"
    fate = f"{_NEVER_UP}: both ends wait for the other one to call"
    return finding("session-options", (*_path(near), "passive_mode"), "true", bound, fate, "remove it at one of them")


def _said(switch: FabricSwitch, session: BgpNeighbour, name: str) -> str:
    """Return what a neighbour's entry says, or that of its group."""
    own = entries(switch.config, "BGP_NEIGHBOR").get(session.key, {})
    vrf = f"{session.key.rpartition('|')[0]}|" if "|" in session.key else ""
    group = own.get("peer_group_name")
    shared = entries(switch.config, "BGP_PEER_GROUP").get(f"{vrf}{group}", {}) if isinstance(group, str) else {}
    value = own.get(name, shared.get(name))
    return value.strip() if isinstance(value, str) else ""


def _path(end: _Side) -> tuple[str, ...]:
    return "BGP_NEIGHBOR", end[1].key


def _place(end: _Side) -> str:
    return str(end[0].config.place(*_path(end)))


def prefix_limits(routing: FabricRouting) -> Iterator[FabricFinding]:
    """Fewer prefixes come over a session than end it."""
    for name, sessions in routing.sessions.items():
        switch = routing.view.fabric.switches[name]
        limits = {
            interface: limit
            for interface, (session, _) in sessions.items()
            if (limit := _limit(switch, session, routing.family))
        }
        counts = dict.fromkeys(limits, 0)
        for prefix in routing.prefixes if limits else ():
            for interface in accepted(prefix, name, routing.speakers, routing.used(prefix)):
                if interface in counts:
                    counts[interface] += 1
        for interface, limit in limits.items():
            session, far = sessions[interface]
            if counts[interface] > limit:
                path = ("BGP_NEIGHBOR_AF", f"{session.key}|ipv{routing.family}_unicast", "max_prefix_limit")
                bound = f"fewer than the {counts[interface]} prefixes that {far.switch} announces"
                fate = "the session is ended as soon as they arrive, and stays down"
                remedy = "write more, or max_prefix_warning_only"
                yield FabricFinding(name, finding("prefix-limit", path, limit, bound, fate, remedy))


def _limit(switch: FabricSwitch, session: BgpNeighbour, family: Family) -> int | None:
    fields = entries(switch.config, "BGP_NEIGHBOR_AF").get(f"{session.key}|ipv{family}_unicast", {})
    limit, warns = fields.get("max_prefix_limit"), fields.get("max_prefix_warning_only")
    if not isinstance(limit, str) or warns in _ON or not (limit.isascii() and limit.isdigit() and len(limit) < 10):
        return None
    return int(limit) or None


SESSION_RULES = (options, prefix_limits)
