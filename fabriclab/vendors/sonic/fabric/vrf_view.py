"""A fabric whose switches have VRFs, as routes see it: each VRF of a switch is a switch of its own, `leaf1/VrfRed`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from fabriclab.vendors.sonic.fabric.view import View
from fabriclab.vendors.sonic.lab.fabric_links import FabricLink
from fabriclab.vendors.sonic.lab.fabric_switches import End, Fabric, FabricSwitch
from fabriclab.vendors.sonic.read.one_vrf import of_vrf

BETWEEN = "/"
"""Between the names of a switch and of its VRF, which have none."""


def vrf_of(name: str) -> str:
    """Return the VRF of a switch's part; empty: the default one."""
    return name.partition(BETWEEN)[2]


def switch_of(name: str) -> str:
    """Return the switch that a part is of."""
    return name.partition(BETWEEN)[0]


def has_vrfs(view: View) -> bool:
    """Return whether an interface of a fabric is in a VRF."""
    return any(any(one.config.vrfs.values()) for one in view.fabric.switches.values())


def by_vrf(view: View) -> View:
    """Return a fabric of the parts of its switches; itself without VRFs."""
    if not has_vrfs(view):
        return view
    parts = [part for switch in view.fabric.switches.values() for part in _parts(switch)]
    ends = {end: part_end(view, end) for link in view.links for end in link.ends}
    links = [FabricLink(ends[link.a], ends[link.b], link.found_by) for link in view.links]
    return View(Fabric(parts), links, view.unsound, ())


def of_default(view: View) -> View:
    """Return a fabric as the default VRF has it, under the switches' own names; itself without VRFs."""
    if not has_vrfs(view):
        return view
    switches = [_part(switch, "") for switch in view.fabric.switches.values()]
    links = [link for link in view.links if not any(vrf_of(part_end(view, end).switch) for end in link.ends)]
    return replace(view, fabric=Fabric(switches), links=links)


def _parts(switch: FabricSwitch) -> list[FabricSwitch]:
    names = [vrf for vrf, interfaces in switch.config.vrfs.items() if interfaces]
    return [_part(switch, vrf) for vrf in ("", *names)]


def _part(switch: FabricSwitch, vrf: str) -> FabricSwitch:
    name = f"{switch.name}{BETWEEN}{vrf}" if vrf else switch.name
    return FabricSwitch(name, of_vrf(switch.config, vrf), switch.data, switch.lldp)


def part_end(view: View, end: End) -> End:
    """Return an end of a link at the part of its switch whose interface the port is, or is a member of."""
    switch = view.fabric.switches[end.switch]
    vrf = switch.vrf_of(switch.channel_of.get(end.port, end.port))
    return End(f"{end.switch}{BETWEEN}{vrf}" if vrf else end.switch, end.port)


def part_ends(view: View, ends: Collection[End]) -> frozenset[End]:
    """Return ends as `by_vrf` has them."""
    return frozenset(part_end(view, end) for end in ends) if has_vrfs(view) else frozenset(ends)
