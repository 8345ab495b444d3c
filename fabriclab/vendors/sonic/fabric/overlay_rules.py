"""Rules of overlays: VXLAN, EVPN and VRFs, of which a lab has none."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv6Network, ip_address, ip_network

from fabriclab.formats.family import AnyAddress, AnyInterface, Family, is_within
from fabriclab.keys.wording import listed
from fabriclab.vendors.sonic.fabric.routing import FabricRouting
from fabriclab.vendors.sonic.fabric.view import FabricFinding, View
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.lab.fabric_switches import FabricSwitch
from fabriclab.vendors.sonic.read.entries import FieldValue

_HEADERS: Mapping[int, int] = {4: 50, 6: 70}
"""Bytes that VXLAN adds to a packet: outer Ethernet, IP, UDP and VXLAN headers (RFC 7348, section 5)."""
_UNDELIVERED = "no tunnel leads to the switch, and its VLANs are islands"


def _text(fields: Mapping[str, FieldValue], name: str) -> str:
    value = fields.get(name)
    return value.strip() if isinstance(value, str) else ""


def _vteps(view: View) -> Iterator[tuple[FabricSwitch, str, AnyAddress]]:
    """Yield switch, name and source address of each VTEP."""
    for switch in view.fabric.switches.values():
        for key, fields in entries(switch.config, "VXLAN_TUNNEL").items():
            try:
                yield switch, key, ip_address(_text(fields, "src_ip"))
            except ValueError:
                continue


def tunnels_of_ipv6(view: View) -> bool:
    """Return whether a VTEP's source is an address of IPv6."""
    return any(source.version == 6 for *_, source in _vteps(view))


def sources(routing: FabricRouting) -> Iterator[FabricFinding]:
    """A VTEP's source is a loopback of the switch alone, and others have routes to it."""
    vteps = [one for one in _vteps(routing.view) if one[2].version == routing.family]
    counts = Counter(source for *_, source in vteps)
    for switch, key, source in vteps:
        path = ("VXLAN_TUNNEL", key, "src_ip")
        loopbacks = {one.ip for every in _loopbacks(switch, routing.family) for one in every}
        if source not in loopbacks:
            there = listed(sorted(map(str, loopbacks)))
            bound = f"no loopback's address of the switch ({there or 'it has none'})"
            yield FabricFinding(
                switch.name, finding("vtep-source", path, source, bound, _UNDELIVERED, "write Loopback's address")
            )
            continue
        others = [other.name for other, _, own in vteps if own == source and other is not switch]
        if counts[source] > 1 and not entries(switch.config, "MCLAG_DOMAIN"):
            bound = f"also the source of {listed(others)}"
            yield FabricFinding(
                switch.name,
                finding("vtep-source", path, source, bound, "frames go to one of them at random", "write its own"),
            )
        unreached = [
            other.name
            for other, *_ in vteps
            if other is not switch and other.name not in others and not _has_route(routing, other.name, source)
        ]
        if unreached:
            bound = f"without a route to it on {listed(unreached[:3])}{' and others' if len(unreached) > 3 else ''}"
            yield FabricFinding(switch.name, finding("vtep-source", path, source, bound, _UNDELIVERED, "announce it"))


def _loopbacks(switch: FabricSwitch, family: Family) -> Iterable[Sequence[AnyInterface]]:
    return switch.config.loopbacks.values() if family == 4 else switch.config.loopbacks6.values()


def _has_route(routing: FabricRouting, name: str, source: AnyAddress) -> bool:
    address = ip_network(source)
    return any(hops and is_within(address, prefix) for prefix, hops in routing.tables[name].items())


def identifiers(view: View) -> Iterator[FabricFinding]:
    """A VLAN has one VNI on all switches, a VNI one VLAN, and a VRF one VNI, which a VLAN of its own carries."""
    for what, said in (("VLAN", _of_vlans(view)), ("VRF", _of_vrfs(view))):
        usual = {name: Counter(vni for _, _, vni in every).most_common(1)[0][0] for name, every in said.items()}
        for name, every in said.items():
            for switch, path, vni in every:
                if vni != usual[name]:
                    bound = f"not {usual[name]}, the VNI of {name} on most switches"
                    fate = "frames of it arrive in another segment, or nowhere"
                    yield FabricFinding(switch.name, finding("vni-differs", path, vni, bound, fate, "write the same"))
        for switch, path, vni, name, other in _twice(said):
            bound = f"the VNI of {name}, and also of {other}"
            yield FabricFinding(
                switch.name, finding("vni-differs", path, vni, bound, f"one {what} has no tunnel", "write another")
            )
    mapped = {
        switch: {vni for every in _of_vlans(view).values() for own, _, vni in every if own is switch}
        for switch, *_ in _vteps(view)
    }
    for every in _of_vrfs(view).values():
        for switch, path, vni in every:
            if switch in mapped and vni not in mapped[switch]:
                bound = "in no entry of VXLAN_TUNNEL_MAP, which gives a VRF's VNI its VLAN"
                yield FabricFinding(
                    switch.name,
                    finding("vni-differs", path, vni, bound, "routes of the VRF are not told", "map it to a VLAN"),
                )


_Said = Mapping[str, list[tuple[FabricSwitch, tuple[str, ...], str]]]


def _of_vlans(view: View) -> _Said:
    found: dict[str, list[tuple[FabricSwitch, tuple[str, ...], str]]] = defaultdict(list)
    for switch in view.fabric.switches.values():
        for key, fields in entries(switch.config, "VXLAN_TUNNEL_MAP").items():
            found[_text(fields, "vlan")].append((switch, ("VXLAN_TUNNEL_MAP", key, "vni"), _text(fields, "vni")))
    return found


def _of_vrfs(view: View) -> _Said:
    found: dict[str, list[tuple[FabricSwitch, tuple[str, ...], str]]] = defaultdict(list)
    for switch in view.fabric.switches.values():
        for key, fields in entries(switch.config, "VRF").items():
            if _text(fields, "vni") not in ("", "0"):
                found[key].append((switch, ("VRF", key, "vni"), _text(fields, "vni")))
    return found


def _twice(said: _Said) -> Iterator[tuple[FabricSwitch, tuple[str, ...], str, str, str]]:
    """Yield what two names of one switch have alike."""
    seen: dict[tuple[str, str], str] = {}
    for name, every in said.items():
        for switch, path, vni in every:
            other = seen.setdefault((switch.name, vni), name)
            if other != name:
                yield switch, path, vni, name, other


def evpn_maps(view: View) -> Iterator[FabricFinding]:
    """A map of VNIs, and EVPN, name a tunnel that there is."""
    for switch in view.fabric.switches.values():
        tunnels = entries(switch.config, "VXLAN_TUNNEL")
        for key, fields in entries(switch.config, "VXLAN_EVPN_NVO").items():
            if _text(fields, "source_vtep") not in tunnels:
                bound = "no entry of VXLAN_TUNNEL"
                path = ("VXLAN_EVPN_NVO", key, "source_vtep")
                yield FabricFinding(
                    switch.name,
                    finding("vtep-source", path, _text(fields, "source_vtep"), bound, _UNDELIVERED, "write its name"),
                )


def packet_sizes(view: View) -> Iterator[FabricFinding]:
    """Links between switches carry the packets of hosts with VXLAN's headers, where both switches have a VTEP or lie
    between two."""
    with_vtep = [switch for switch, *_ in _vteps(view)]
    headers = max((_HEADERS[source.version] for *_, source in _vteps(view)), default=0)
    ports = [switch.mtu(port) for switch in with_vtep for port in view.host_ports(switch)]
    for link in view.links if ports else ():
        for end in link.ends:
            mtu = view.switch(end).mtu(end.port)
            if mtu < max(ports) + headers:
                bound = f"below {max(ports) + headers}, the MTU of hosts' ports with VXLAN's {headers} bytes"
                fate = "full packets of hosts are dropped in the tunnel"
                one = finding(
                    "vxlan-mtu",
                    ("PORT", end.port, "mtu"),
                    mtu,
                    bound,
                    fate,
                    "write more here, or less at hosts",
                    (end.port,),
                )
                yield FabricFinding(end.switch, one)


def families(routing: FabricRouting) -> Iterator[FabricFinding]:
    """Both ends of a session exchange the routes of EVPN, or neither does."""
    view = routing.view
    for name, sessions in routing.sessions.items():
        for session, far in sessions.values():
            back, _ = routing.sessions[far.switch][far.interface]
            own, theirs = (
                _has_evpn(view.fabric.switches[one], each.key) for one, each in ((name, session), (far.switch, back))
            )
            if own and not theirs:
                place = view.fabric.switches[far.switch].config.place("BGP_NEIGHBOR", back.key)
                bound = f"with l2vpn_evpn, which {far.switch} does not exchange ({place})"
                path, fate = ("BGP_NEIGHBOR_AF", f"{session.key}|l2vpn_evpn"), "no VTEP behind the session is learnt"
                yield FabricFinding(
                    name, finding("evpn-one-sided", path, None, bound, fate, "write it at both, or at neither")
                )


def untold(view: View) -> Iterator[FabricFinding]:
    """A switch of frrcfgd with VNIs tells its neighbours of them; bgpcfgd's does by itself."""
    for switch in view.fabric.switches.values():
        config = switch.config
        told = _text(entries(config, "BGP_GLOBALS_AF").get("default|l2vpn_evpn", {}), "advertise-all-vni")
        has_vnis = config.frrcfgd and entries(config, "VXLAN_EVPN_NVO") and entries(config, "VXLAN_TUNNEL_MAP")
        if has_vnis and told not in ("true", "enabled"):
            path = ("BGP_GLOBALS_AF", "default|l2vpn_evpn", "advertise-all-vni")
            bound = "not true, although VXLAN_TUNNEL_MAP has VNIs"
            one = finding("evpn-not-told", path, told or "nothing", bound, _UNDELIVERED, "write true")
            yield FabricFinding(switch.name, one)


def route_targets(view: View) -> Iterator[FabricFinding]:
    """A switch imports a route target with which another one exports the routes of the VNI.

    Without a target of its own a switch takes all of the VNI, whatever the AS number in them (FRR, bgp_evpn.c).
    """
    exports: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    imports: dict[tuple[str, str], tuple[tuple[str, ...], frozenset[str]]] = {}
    for switch in view.fabric.switches.values():
        for fields in entries(switch.config, "VXLAN_TUNNEL_MAP").values():
            exports[_text(fields, "vni")][switch.name] = frozenset({f"{switch.config.asn}:{_text(fields, 'vni')}"})
        for key, fields in entries(switch.config, "BGP_GLOBALS_EVPN_VNI").items():
            vni = key.rpartition("|")[2]
            if _targets(fields, "export-rts"):
                exports[vni][switch.name] = _targets(fields, "export-rts")
            if _targets(fields, "import-rts"):
                imports[switch.name, vni] = ("BGP_GLOBALS_EVPN_VNI", key, "import-rts"), _targets(fields, "import-rts")
    for (name, vni), (path, own) in imports.items():
        others = {other: targets for other, targets in exports[vni].items() if other != name}
        if others and not any(own & targets for targets in others.values()):
            target = sorted(next(iter(others.values())))[0]
            bound = f"none with which other switches export VNI {vni} ({next(iter(others))}: {target})"
            fate = "the switch takes none of their routes: its part of the VLAN is an island"
            value = listed(sorted(own))
            yield FabricFinding(name, finding("evpn-not-told", path, value, bound, fate, "write the others' target"))


def _targets(fields: Mapping[str, FieldValue], name: str) -> frozenset[str]:
    value = fields.get(name, ())
    words = value.split(",") if isinstance(value, str) else value
    return frozenset(word.strip() for word in words if word.strip())


def locators(view: View) -> Iterator[FabricFinding]:
    """No two switches have SRv6 locators one of which lies in the other."""
    known: list[tuple[FabricSwitch, str, IPv6Network]] = []
    for switch in view.fabric.switches.values():
        for key, fields in entries(switch.config, "SRV6_MY_LOCATORS").items():
            network = _locator(fields)
            other = next((one for one in known if network is not None and one[2].overlaps(network)), None)
            if network is not None and other is not None and other[0] is not switch:
                place = other[0].config.place("SRV6_MY_LOCATORS", other[1])
                bound = f"also that of {other[0].name} ({place})"
                fate = "packets for segments of one of the switches go to the other"
                path = ("SRV6_MY_LOCATORS", key, "prefix")
                one = finding("srv6-locator-twice", path, network, bound, fate, "write its own")
                yield FabricFinding(switch.name, one)
            if network is not None:
                known.append((switch, key, network))


def _locator(fields: Mapping[str, FieldValue]) -> IPv6Network | None:
    """Return the network of a locator: its block and node (RFC 8986), 32 and 16 bits where nothing is written."""
    lengths = [_text(fields, name) or default for name, default in (("block_len", "32"), ("node_len", "16"))]
    if not all(one.isascii() and one.isdigit() and len(one) < 4 for one in lengths):
        return None
    try:
        prefix = _text(fields, "prefix").partition("/")[0]
        return IPv6Network((prefix, min(128, sum(map(int, lengths)))), strict=False)
    except ValueError:
        return None


def _has_evpn(switch: FabricSwitch, session: str) -> bool:
    tables = entries(switch.config, "BGP_NEIGHBOR_AF")
    found = next(
        (
            fields
            for key, fields in tables.items()
            if key.endswith("l2vpn_evpn") and session in [*key.split("|"), key.rpartition("|")[0]]
        ),
        None,
    )
    return found is not None and _text(found, "admin_status") in ("up", "true")


def vrfs(view: View) -> Iterator[FabricFinding]:
    """Both ends of a link are in a VRF, or neither is."""
    for link in view.links:
        ours, theirs = (_vrf(view.switch(end), end.port) for end in link.ends)
        if bool(ours) != bool(theirs):
            (near, far), vrf = (link.ends, ours) if ours else (link.ends[::-1], theirs)
            bound = f"{vrf}, but {far} is in none"
            fate = "routes and packets of the two ends belong to different tables: nothing gets across"
            interface = view.switch(near).channel_of.get(near.port, near.port)
            table = "PORTCHANNEL_INTERFACE" if interface != near.port else "INTERFACE"
            one = finding(
                "link-vrf", (table, interface, "vrf_name"), None, bound, fate, "write a VRF at both", (near.port,)
            )
            yield FabricFinding(near.switch, one)


def _vrf(switch: FabricSwitch, port: str) -> str:
    interface = switch.channel_of.get(port, port)
    tables = ("INTERFACE", "PORTCHANNEL_INTERFACE")
    return next(
        (name for table in tables if (name := _text(entries(switch.config, table).get(interface, {}), "vrf_name"))), ""
    )


OVERLAY_RULES = (identifiers, evpn_maps, packet_sizes, vrfs, untold, route_targets, locators)
TUNNEL_RULES = (sources, families)
"""Those that follow routes."""
