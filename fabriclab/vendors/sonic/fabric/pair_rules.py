"""Rules of switches that stand for one another: MCLAG, and dual ToR."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Interface

from fabriclab.keys.wording import listed
from fabriclab.vendors.sonic.fabric.view import FabricFinding, View
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.lab.fabric_switches import End, FabricSwitch
from fabriclab.vendors.sonic.read.entries import FieldValue

_NO_MCLAG = "ICCP does not come up: both switches forward by themselves, and hosts with two links see loops or losses"
_NO_TOR = "packets for hosts whose active side is the other switch have no tunnel to it, and are dropped"


def _text(fields: Mapping[str, FieldValue], name: str) -> str:
    value = fields.get(name)
    return value.strip() if isinstance(value, str) else ""


def _domains(view: View) -> Iterator[tuple[FabricSwitch, str, Mapping[str, FieldValue]]]:
    for switch in view.fabric.switches.values():
        for key, fields in entries(switch.config, "MCLAG_DOMAIN").items():
            yield switch, key, fields


def _own(switch: FabricSwitch) -> set[str]:
    every = (*switch.config.addresses.values(), *switch.config.loopbacks.values())
    return {str(one.ip) for addresses in every for one in addresses}


def mclag(view: View) -> Iterator[FabricFinding]:
    """Each switch of an MCLAG names itself and its peer, which names it back, over a link that leads there."""
    domains = list(_domains(view))
    for switch, key, fields in domains:
        path, source, peer = ("MCLAG_DOMAIN", key), _text(fields, "source_ip"), _text(fields, "peer_ip")
        if source and source not in _own(switch):
            one = finding(
                "mclag-peer", (*path, "source_ip"), source, "no address of the switch", _NO_MCLAG, "write its own"
            )
            yield FabricFinding(switch.name, one)
        others = [(other, far, said) for other, far, said in domains if other is not switch and peer in _own(other)]
        if not others:
            owners = [
                other.name for other in view.fabric.switches.values() if other is not switch and peer in _own(other)
            ]
            bound = (
                f"an address of {listed(owners)}, which has no MCLAG_DOMAIN"
                if owners
                else "an address of no switch of these files"
            )
            yield FabricFinding(
                switch.name,
                finding("mclag-peer", (*path, "peer_ip"), peer, bound, _NO_MCLAG, "write the peer's source_ip"),
            )
        for other, far, said in others:
            yield from _of_peers(view, (switch, key, fields), (other, far, said))


_Domain = tuple[FabricSwitch, str, Mapping[str, FieldValue]]


def _of_peers(view: View, ours: _Domain, theirs: _Domain) -> Iterator[FabricFinding]:
    (switch, key, fields), (other, far, said) = ours, theirs
    place = other.config.place("MCLAG_DOMAIN", far)
    if key != far:
        bound = f"not {far}, the domain of its peer {other.name} ({place})"
        yield FabricFinding(
            switch.name, finding("mclag-peer", ("MCLAG_DOMAIN", key), key, bound, _NO_MCLAG, "write the same")
        )
    if _text(said, "peer_ip") not in _own(switch):
        bound = f"the peer, but {other.name} names {_text(said, 'peer_ip')} as its own ({place})"
        one = finding(
            "mclag-peer", ("MCLAG_DOMAIN", key, "peer_ip"), _text(fields, "peer_ip"), bound, _NO_MCLAG, "write the same"
        )
        yield FabricFinding(switch.name, one)
    for name in ("keepalive_interval", "session_timeout"):
        if _text(fields, name) != _text(said, name) and switch.name < other.name:
            bound = f"not {_text(said, name) or 'the default'}, as {other.name} has ({place})"
            fate = "one switch takes the other for dead while it is not"
            one = finding(
                "mclag-peer", ("MCLAG_DOMAIN", key, name), _text(fields, name) or None, bound, fate, "write the same"
            )
            yield FabricFinding(switch.name, one)
    link = _text(fields, "peer_link")
    ends = [End(switch.name, port) for port in switch.ports if link in (port, switch.channel_of.get(port))]
    if link and not any(end in view.far and view.far[end].switch == other.name for end in ends):
        bound = f"no link to {other.name}"
        one = finding(
            "mclag-peer", ("MCLAG_DOMAIN", key, "peer_link"), link, bound, _NO_MCLAG, "write the port that leads there"
        )
        yield FabricFinding(switch.name, one)
    yield from _members(ours, theirs)
    yield from _over_the_link(ours, theirs)


def _members(ours: _Domain, theirs: _Domain) -> Iterator[FabricFinding]:
    """Yield port channels of an MCLAG that one switch has alone, or with other VLANs."""
    (switch, key, _), (other, *_) = ours, theirs
    mine, yours = (
        {name.partition("|")[2] for name in entries(one.config, "MCLAG_INTERFACE")} for one in (switch, other)
    )
    for name in sorted(mine - yours):
        bound = f"not in MCLAG_INTERFACE of {other.name} ({other.config.place('MCLAG_INTERFACE')})"
        fate = "the host's second link is not part of the group, and its frames are lost or doubled"
        one = finding(
            "mclag-members", ("MCLAG_INTERFACE", f"{key}|{name}"), name, bound, fate, "write it in both, or in neither"
        )
        yield FabricFinding(switch.name, one)
    for name in sorted(mine & yours):
        ours_in, theirs_in = (_vlans(one, name) for one in (switch, other))
        if ours_in - theirs_in:
            vlan = min(ours_in - theirs_in)
            bound = f"a member of {vlan}, but not on {other.name} ({other.config.place('VLAN_MEMBER')})"
            fate = "frames of the VLAN that the host sends to the other switch are dropped"
            one = finding(
                "mclag-members", ("VLAN_MEMBER", f"{vlan}|{name}"), name, bound, fate, "write the same at both"
            )
            yield FabricFinding(switch.name, one)


def _over_the_link(ours: _Domain, theirs: _Domain) -> Iterator[FabricFinding]:
    """Yield VLANs of the hosts' port channels that do not get from one switch of an MCLAG to the other."""
    (switch, _, fields), (other, _, said) = ours, theirs
    link, far = _text(fields, "peer_link"), _text(said, "peer_link")
    names = [name.partition("|")[2] for name in entries(switch.config, "MCLAG_INTERFACE")]
    for vlan in sorted({vlan for name in names for vlan in _vlans(switch, name)} - _vlans(switch, link)):
        if link and vlan in _vlans(other, far):
            place = other.config.place("VLAN_MEMBER", f"{vlan}|{far}")
            bound = f"without {link}, the link to {other.name}, which has it ({place})"
            fate = "when a host's link fails, frames that the other switch sends over the peer link are dropped"
            path = ("VLAN_MEMBER", f"{vlan}|{link}")
            one = finding("mclag-members", path, vlan, bound, fate, "add the peer link, tagged")
            yield FabricFinding(switch.name, one)


def _vlans(switch: FabricSwitch, name: str) -> set[str]:
    return {key.partition("|")[0] for key in entries(switch.config, "VLAN_MEMBER") if key.partition("|")[2] == name}


def dual_tor(view: View) -> Iterator[FabricFinding]:
    """Each switch of a dual ToR names the other one, by the address that it has, and both have the same servers."""
    for switch in view.fabric.switches.values():
        local = entries(switch.config, "DEVICE_METADATA").get("localhost", {})
        peer, path = _text(local, "peer_switch"), ("DEVICE_METADATA", "localhost", "peer_switch")
        if entries(switch.config, "MUX_CABLE") and not peer:
            yield FabricFinding(
                switch.name,
                finding("tor-peer", path, None, "missing, although there is MUX_CABLE", _NO_TOR, "name the other ToR"),
            )
        other = view.fabric.named(peer) if peer else None
        if peer and other is None:
            yield FabricFinding(
                switch.name, finding("tor-peer", path, peer, "no switch of these files", _NO_TOR, "name the other ToR")
            )
        if other is not None:
            yield from _of_tors(switch, other)


def _of_tors(switch: FabricSwitch, other: FabricSwitch) -> Iterator[FabricFinding]:
    local, theirs = (entries(one.config, "DEVICE_METADATA").get("localhost", {}) for one in (switch, other))
    place = other.config.place("DEVICE_METADATA", "localhost")
    if _text(theirs, "peer_switch") != switch.config.hostname:
        bound = f"the peer, but {other.name} names {_text(theirs, 'peer_switch') or 'nobody'} ({place})"
        path = ("DEVICE_METADATA", "localhost", "peer_switch")
        yield FabricFinding(
            switch.name, finding("tor-peer", path, other.name, bound, _NO_TOR, "write each other's names")
        )
    if _text(local, "subtype") != _text(theirs, "subtype"):
        bound = f"not {_text(theirs, 'subtype') or 'nothing'}, as {other.name} has ({place})"
        path = ("DEVICE_METADATA", "localhost", "subtype")
        yield FabricFinding(
            switch.name,
            finding("tor-peer", path, _text(local, "subtype") or None, bound, _NO_TOR, "write DualToR at both"),
        )
    for key, fields in entries(switch.config, "PEER_SWITCH").items():
        address = _text(fields, "address_ipv4")
        if key == other.config.hostname and address not in _own(other):
            path = ("PEER_SWITCH", key, "address_ipv4")
            yield FabricFinding(
                switch.name,
                finding("tor-peer", path, address, f"no address of {other.name}", _NO_TOR, "write its loopback's"),
            )
    yield from _servers(switch, other)
    yield from _gateways(switch, other)


def _servers(switch: FabricSwitch, other: FabricSwitch) -> Iterator[FabricFinding]:
    mine, theirs = (entries(one.config, "MUX_CABLE") for one in (switch, other))
    fate = "when the other switch takes over, the server is not reached"
    networks = [
        one.network for name, every in switch.config.addresses.items() if name.startswith("Vlan") for one in every
    ]
    for port, fields in mine.items():
        server, path = _text(fields, "server_ipv4"), ("MUX_CABLE", port, "server_ipv4")
        if port not in theirs:
            bound = f"without MUX_CABLE|{port} on {other.name} ({other.config.place('MUX_CABLE')})"
            yield FabricFinding(
                switch.name, finding("tor-servers", ("MUX_CABLE", port), None, bound, fate, "write it at both", (port,))
            )
        elif server != _text(theirs[port], "server_ipv4"):
            place = other.config.place("MUX_CABLE", port)
            bound = f"not {_text(theirs[port], 'server_ipv4')}, as {other.name} has ({place})"
            yield FabricFinding(
                switch.name, finding("tor-servers", path, server, bound, fate, "write the same", (port,))
            )
        address = _address(server)
        if address is not None and networks and not any(address in network for network in networks):
            bound = f"in no VLAN of the switch ({listed(map(str, networks))})"
            yield FabricFinding(
                switch.name,
                finding("tor-servers", path, server, bound, "the server is not reached", "correct it", (port,)),
            )


def _gateways(switch: FabricSwitch, other: FabricSwitch) -> Iterator[FabricFinding]:
    """Yield VLANs whose gateway is another address on the other switch."""
    for name, every in switch.config.addresses.items():
        theirs = other.config.addresses.get(name, ())
        differing = [one for one in every if theirs and one not in theirs and not _is_unique(switch, one)]
        if name.startswith("Vlan") and differing:
            bound = f"not {theirs[0]}, as {other.name} has ({other.address_place(name, theirs[0])})"
            fate = "hosts lose their gateway when the other switch takes over"
            path = ("VLAN_INTERFACE", f"{name}|{differing[0]}")
            yield FabricFinding(switch.name, finding("tor-servers", path, differing[0], bound, fate, "write the same"))


def _is_unique(switch: FabricSwitch, address: IPv4Interface) -> bool:
    return any(str(address) in key for key in entries(switch.config, "MCLAG_UNIQUE_IP"))


def _address(text: str) -> IPv4Address | None:
    try:
        return IPv4Interface(text).ip
    except ValueError:
        return None


def shares_gateway(view: View, switch: FabricSwitch, interface: str) -> bool:
    """Return whether a VLAN's gateway is meant to be on several switches: those of an MCLAG or of a dual ToR, or all
    that have the VLAN's VNI (an anycast gateway)."""
    others = (one for one in view.fabric.switches.values() if one is not switch and interface in one.config.addresses)
    return interface.startswith("Vlan") and any(
        _stand_for(switch, other) or _vnis(switch, interface) & _vnis(other, interface) for other in others
    )


def _stand_for(switch: FabricSwitch, other: FabricSwitch) -> bool:
    local = entries(switch.config, "DEVICE_METADATA").get("localhost", {})
    peers = {_text(fields, "peer_ip") for fields in entries(switch.config, "MCLAG_DOMAIN").values()}
    return _text(local, "peer_switch") == other.config.hostname or bool(peers & _own(other))


def _vnis(switch: FabricSwitch, vlan: str) -> set[str]:
    tables = entries(switch.config, "VXLAN_TUNNEL_MAP").values()
    return {_text(fields, "vni") for fields in tables if _text(fields, "vlan") == vlan}


PAIR_RULES = (mclag, dual_tor)
