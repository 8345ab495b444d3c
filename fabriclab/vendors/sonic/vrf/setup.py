"""What a switch with VRFs is set up by: frr.conf, and a script that makes the kernel's devices.

The devices are made after the daemons have started, which learn of them from the kernel, as in the switch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fabriclab.formats.names import INTERFACE_NAME
from fabriclab.formats.plan.setup import NodeFile, Setup, SetupCommand
from fabriclab.lab.setup.frr import DAEMONS_FILE, INTEGRATED_FILE, frr_daemons
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.vrf.policies import policy_lines
from fabriclab.vendors.sonic.vrf.routers import has_bfd, router_lines, vrf_of
from fabriclab.vendors.sonic.vrf.segments import has_segments, segment_lines
from fabriclab.vendors.sonic.vrf.words import DEFAULT, Row, rows

SCRIPT = "/etc/sonic/interfaces.sh"
FIRST_TABLE = 1001
"""SONiC's vrfmgrd gives the routing tables of VRFs these numbers (sonic-swss, cfgmgr/vrfmgr.cpp: VRF_TABLE_START)."""
_ANY = ("", "0.0.0.0", "::")


def vrf_setup(name: str, config: ConfigDb, ports: Collection[str]) -> Setup:
    """Return how a switch is set up. `ports`: those that have a link in the lab."""
    daemons = ["bgpd=yes", *(["bfdd=yes"] if has_bfd(config) else [])]
    files = (
        _file(DAEMONS_FILE, daemons),
        _file(INTEGRATED_FILE, frr_conf(name, config)),
        _file(SCRIPT, device_lines(config, ports)),
    )
    sysctls = {"net.vrf.strict_mode": "1", "net.ipv6.conf.all.forwarding": "1"}
    if has_segments(config):
        sysctls |= {f"net.ipv6.conf.{which}.seg6_enabled": "1" for which in ("all", "default")}
    command = SetupCommand(name="interfaces", argv=("/bin/sh", SCRIPT), by="containerlab", key=f"VRF of {name}'s file")
    return Setup(files=files, sysctls=sysctls, daemons=frr_daemons(files), commands=(command,))


def _file(path: str, lines: Collection[str]) -> NodeFile:
    # In a container the switch itself makes all of it: nothing is copied there.
    return NodeFile(path=path, text="".join(f"{line}\n" for line in lines), bound=True)


def frr_conf(name: str, config: ConfigDb) -> list[str]:
    """Return the lines of frr.conf that SONiC makes of a file."""
    return [
        "frr defaults traditional",
        f"hostname {name}",
        *policy_lines(config),
        *segment_lines(config),
        *(line for row in rows(config, "STATIC_ROUTE") for line in _static(row, config)),
        *router_lines(config),
    ]


def _static(row: Row, config: ConfigDb) -> Iterator[str]:
    """Yield the lines of a static route, one for each next hop."""
    prefix, vrf = row.words[-1], vrf_of(row)
    if vrf != DEFAULT and vrf not in config.vrfs:
        return
    lists = {name: row.items(name) for name in ("nexthop", "ifname", "tag", "distance", "blackhole", "nexthop-vrf")}
    for number in range(max(map(len, lists.values()))):
        said = {name: words[number] if number < len(words) else "" for name, words in lists.items()}
        hop = "" if said["nexthop"] in _ANY else said["nexthop"]
        words = ["blackhole"] if said["blackhole"] == "true" else [one for one in (hop, said["ifname"]) if one]
        if not words:
            continue
        words += ["tag", said["tag"]] if said["tag"] not in ("", "0") else []
        words += [said["distance"]] if said["distance"] not in ("", "0") else []
        words += [] if vrf == DEFAULT else ["vrf", vrf]
        words += ["nexthop-vrf", said["nexthop-vrf"]] if said["nexthop-vrf"] else []
        yield " ".join((f"{'ipv6' if ':' in prefix else 'ip'} route {prefix}", *words))


def device_lines(config: ConfigDb, ports: Collection[str]) -> list[str]:
    """Return the script that makes VRFs and loopbacks, puts interfaces into their VRFs and gives them addresses: an
    interface loses its addresses of IPv6 when it comes into a VRF."""
    vrf_of_interface = {one: vrf for vrf, interfaces in config.vrfs.items() for one in interfaces}
    lines = ["set -e"]
    for number, vrf in enumerate(config.vrfs):
        lines += [f"ip link add {vrf} type vrf table {FIRST_TABLE + number}", f"ip link set {vrf} up"]
    loopbacks = [one for one in dict.fromkeys((*config.loopbacks, *config.loopbacks6)) if INTERFACE_NAME.is_in(one)]
    for name in loopbacks:
        lines += [f"ip link add {name} type dummy", f"ip link set {name} up"]
    groups = [*_channels(config, ports, lines)]
    groups += _vlans(config, (*ports, *groups), lines)
    for name in (*loopbacks, *ports, *groups):
        if name in vrf_of_interface:
            lines.append(f"ip link set {name} master {vrf_of_interface[name]}")
        every = (*config.loopbacks.get(name, ()), *config.addresses.get(name, ()))
        lines += [f"ip address replace {one} dev {name}" for one in every]
        every6 = (*config.loopbacks6.get(name, ()), *config.addresses6.get(name, ()))
        lines += [f"ip address replace {one} dev {name} nodad" for one in every6]
    return lines


def _channels(config: ConfigDb, ports: Collection[str], lines: list[str]) -> Iterator[str]:
    """Make the port channels that have a member with a link, as in labs without VRFs; yield their names."""
    for channel in config.port_channels:
        members = [port for port in channel.members if port in ports]
        if members and INTERFACE_NAME.is_in(channel.name):
            mode = "mode balance-xor xmit_hash_policy layer3+4 miimon 10"
            lines.append(f"ip link add {channel.name} type bond {mode}")
            for port in members:
                lines += [f"ip link set {port} down", f"ip link set {port} master {channel.name}"]
            lines.append(f"ip link set {channel.name} up")
            yield channel.name


def _vlans(config: ConfigDb, members: Collection[str], lines: list[str]) -> list[str]:
    """Make the VLANs of untagged members that are there; return their names."""
    made = []
    for vlan in config.vlans:
        inside = [one for one in vlan.members if one in members]
        if inside and INTERFACE_NAME.is_in(vlan.name):
            lines.append(f"ip link add {vlan.name} type bridge stp_state 0 mcast_snooping 0")
            lines += [f"ip link set {one} master {vlan.name}" for one in inside]
            lines.append(f"ip link set {vlan.name} up")
            made.append(vlan.name)
    return made
