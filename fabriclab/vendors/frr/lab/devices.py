"""The devices of the kernel that a router's frr.conf takes for granted, as commands: VRFs, loopbacks, the VXLAN device
of each VRF with a VNI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Interface

from fabriclab.vendors.frr.lab.routers import Router

_FIRST_TABLE = 1001
_VXLAN_PORT = 4789


def device_commands(router: Router, interfaces: Sequence[str]) -> list[str]:
    """Return the commands that make a router's devices; `interfaces` are those that have a link."""
    return [*_vrfs(router, interfaces), *_loopbacks(router), *_kernel_addresses(router), *_vxlans(router)]


def vrfs_of(router: Router) -> list[str]:
    """Return the VRFs of a router, those that only an instance or an interface names too."""
    named = [*router.config.vrfs]
    named += [bgp.vrf for bgp in router.config.bgp if bgp.vrf is not None]
    named += [process.vrf for process in router.config.interiors if process.vrf is not None]
    named += [interface.vrf for interface in router.config.interfaces.values() if interface.vrf is not None]
    return [name for name in dict.fromkeys(named) if name != "default"]


def _vrfs(router: Router, interfaces: Sequence[str]) -> Iterator[str]:
    for number, vrf in enumerate(vrfs_of(router)):
        yield f"ip link add {vrf} type vrf table {_FIRST_TABLE + number}"
        yield f"ip link set {vrf} up"
    yield from (line for interface in interfaces for line in _into_vrf(router, interface))


def _into_vrf(router: Router, interface: str) -> Iterator[str]:
    vrf = router.vrf_of(interface) if interface in router.config.interfaces else None
    if vrf is not None and vrf != "default":
        yield f"ip link set {interface} master {vrf}"


def _loopbacks(router: Router) -> Iterator[str]:
    vrfs = vrfs_of(router)
    for interface in router.config.interfaces.values():
        if router.is_own(interface) and interface.name != "lo" and interface.name not in vrfs:
            yield f"ip link add {interface.name} type dummy"
            yield f"ip link set {interface.name} up"
            yield from _into_vrf(router, interface.name)


def lacking_address(router: Router) -> str | None:
    """Return the address that a router's loopback has by its BGP identifier alone: no interface of the file has any, so
    that they were the kernel's. None where there are addresses, or no identifier."""
    bgp = router.config.own_bgp
    addressed = (one for one in router.config.interfaces.values() if one.addresses and not router.is_management(one))
    return None if bgp is None or any(addressed) else bgp.router_id


def _kernel_addresses(router: Router) -> Iterator[str]:
    for interface in router.config.interfaces.values():
        if not router.is_management(interface):
            yield from (f"ip address add {address} dev {interface.name}" for address in interface.of_kernel)
    address = lacking_address(router)
    if address is not None:
        yield f"ip address add {address}/32 dev lo"


def _vxlans(router: Router) -> Iterator[str]:
    """Yield what carries the routes of a VRF with a VNI (EVPN's type 5): a bridge in it, and a VXLAN device."""
    local = next((one.ip for one in router.loopbacks() if isinstance(one, IPv4Interface)), None)
    for vrf in router.config.vrfs.values():
        if vrf.vni is None or local is None:
            continue
        bridge, vxlan = f"br{vrf.vni}", f"vx{vrf.vni}"
        yield f"ip link add {bridge} type bridge"
        yield f"ip link set {bridge} master {vrf.name} addrgenmode none"
        yield f"ip link add {vxlan} type vxlan id {vrf.vni} local {local} dstport {_VXLAN_PORT} nolearning"
        yield f"ip link set {vxlan} master {bridge} addrgenmode none"
        yield f"ip link set {bridge} up"
        yield f"ip link set {vxlan} up"
