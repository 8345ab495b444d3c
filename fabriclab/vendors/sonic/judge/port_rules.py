"""Rules of front-panel ports and port channels: lanes, states, MTUs, speeds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from fabriclab.formats.finding import Severity
from fabriclab.keys.wording import listed
from fabriclab.vendors.sonic.judge.bindings import Bindings
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.rules import finding
from fabriclab.vendors.sonic.judge.text_rules import entries
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.entries import FieldValue

_MOST_NAMED = 4
_NUMBERED = re.compile(r"Ethernet([0-9]{1,4})")
_MODE = re.compile(r"(?P<count>[0-9]{1,2})x(?P<speeds>[0-9]{1,4}G?(?:,[0-9]{1,4}G?)*(?:\[[0-9G, ]+\])?)(?:\([0-9]+\))?")
"""`4x25G[10G]`; a mode of several kinds of ports, such as 2x25G(2)+1x50G(2), is not read."""
_SPEEDS = frozenset(
    {10, 100, 1_000, 2_500, 5_000, 10_000, 20_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000}
    | {1_600_000}
)
"""IEEE 802.3, and 20 Gbps of some chips."""


def lanes(bindings: Bindings) -> Iterator[SonicFinding]:
    """Each port has lanes of the chip, and they are its alone."""
    first: dict[str, str] = {}
    written = {port: _words(fields.get("lanes", "")) for port, fields in entries(bindings.config, "PORT").items()}
    for port, own in written.items():
        path = ("PORT", port, "lanes")
        if not own and any(written.values()):
            fate = "portsorch does not create the port, and all entries that name it wait"
            yield finding("port-lanes", path, None, "missing", fate, "write the chip's lanes, such as 1,2,3,4", (port,))
        shared = {lane: first[lane] for lane in own if lane in first}
        if shared:
            bound = f"also a lane of {listed(list(dict.fromkeys(shared.values())))}"
            fate = "portsorch cannot create the second port, which gets no interface"
            value, remedy = f"lane {','.join(shared)}", "write its own lanes"
            severity: Severity = "error" if any(own == written[other] for other in shared.values()) else "warning"
            # One lane in common is shipped: of SFP ports that a chip numbers by itself (Arista 7050CX3, Dell S5232f).
            yield finding("port-lanes", path, value, bound, fate, remedy, (port,), severity)
        first |= {lane: port for lane in own if lane not in first}


def _words(said: FieldValue) -> list[str]:
    return [word.strip() for word in said.split(",") if word.strip()] if isinstance(said, str) else []


def aliases(bindings: Bindings) -> Iterator[SonicFinding]:
    """A name of the front panel is one port's."""
    first: dict[str, str] = {}
    for port in bindings.config.ports.values():
        if port.alias and first.setdefault(port.alias, port.name) != port.name:
            bound, fate = f"also the alias of {first[port.alias]}", "commands that take aliases may use either port"
            path = ("PORT", port.name, "alias")
            yield finding("alias-twice", path, port.alias, bound, fate, "write its own", (port.name,))


def speeds(bindings: Bindings) -> Iterator[SonicFinding]:
    """A speed is one of Ethernet's."""
    for port in bindings.config.ports.values():
        if port.speed_mbps is not None and port.speed_mbps not in _SPEEDS:
            fate = "the chip refuses it, and the port keeps another speed"
            path = ("PORT", port.name, "speed")
            remedy = "write it in Mbit/s, such as 100000"
            yield finding("speed-unknown", path, port.speed_mbps, "not an Ethernet speed", fate, remedy, (port.name,))


def down_in_use(bindings: Bindings) -> Iterator[SonicFinding]:
    """Ports that are meant to carry something are up."""
    config = bindings.config
    used = _uses(config)
    for port in config.ports.values():
        if port.up or port.name not in used:
            continue
        written = entries(config, "PORT").get(port.name, {}).get("admin_status")
        how = "not written, which means down" if written is None else "down"
        bound = f"{how}, although the port {used[port.name]}"
        fate = "it carries no traffic"
        path = ("PORT", port.name, "admin_status")
        yield finding(
            "port-down-in-use",
            path,
            None,
            bound,
            fate,
            "write up, or remove the other settings of the port",
            (port.name,),
        )


def _uses(config: ConfigDb) -> dict[str, str]:
    """Return what ports are for, by port."""
    uses = {name: f"has {addresses[0]}" for name, addresses in config.addresses.items()}
    uses |= {port: f"is a member of {vlan.name}" for vlan in config.vlans for port in vlan.members}
    return uses | {
        port: f"is a member of {channel.name}" for channel in config.port_channels for port in channel.members
    }


def channels(bindings: Bindings) -> Iterator[SonicFinding]:
    """A port channel has members, up, of one speed, of its MTU, as many as min_links asks for."""
    written = entries(bindings.config, "PORTCHANNEL")
    for channel in bindings.config.port_channels:
        fields = written.get(channel.name, {})
        path = ("PORTCHANNEL", channel.name)
        used = channel.name in bindings.config.addresses
        if not channel.members and used:
            fate = "it never comes up, and its addresses cannot be reached"
            yield finding("channel-without-links", path, None, "without a member", fate, "write PORTCHANNEL_MEMBER")
        least = str(fields.get("min_links", ""))
        if channel.members and least.isdecimal() and int(least) > len(channel.members):
            bound, fate = f"above the number of its members, {len(channel.members)}", "it never comes up"
            yield finding(
                "channel-without-links",
                (*path, "min_links"),
                least,
                bound,
                fate,
                "write a smaller number, or add members",
            )
        if not channel.up and used:
            bound, fate = "down, although it has an address", "it carries no traffic"
            yield finding("port-down-in-use", (*path, "admin_status"), None, bound, fate, "write up")
        yield from _members(bindings.config, channel.name, channel.members, channel.mtu)


def _members(config: ConfigDb, name: str, members: tuple[str, ...], mtu: int | None) -> Iterator[SonicFinding]:
    known = [config.ports[member] for member in members if member in config.ports]
    for port in known:
        if mtu is not None and port.mtu is not None and port.mtu != mtu:
            bound, fate = (
                f"not the MTU of {name}, {mtu} B",
                f"teammgrd sets the port to {mtu} B, whatever is written here",
            )
            path = ("PORT", port.name, "mtu")
            yield finding("mtu-differs", path, f"{port.mtu} B", bound, fate, "write the same in both", (port.name,))
    usual = Counter(port.speed_mbps for port in known).most_common(1)
    for port in known:
        if usual and port.speed_mbps != usual[0][0]:
            bound, fate = (
                f"not the speed of {name}'s other members, {usual[0][0]}",
                "LACP leaves it out of the port channel",
            )
            path = ("PORT", port.name, "speed")
            yield finding("member-speed", path, port.speed_mbps, bound, fate, "write the same speed", (port.name,))


def breakouts(bindings: Bindings) -> Iterator[SonicFinding]:
    """The ports of a breakout are as many, as fast and as wide as its mode says."""
    modes = entries(bindings.config, "BREAKOUT_CFG")
    numbers = {name: int(found[1]) for name in bindings.config.ports if (found := _NUMBERED.fullmatch(name))}
    parents = sorted(numbers[name] for name in modes if name in numbers)
    for name, values in modes.items():
        mode = _MODE.fullmatch(str(values.get("brkout_mode", "")))
        if mode is None or name not in numbers:
            continue
        limit = next((number for number in parents if number > numbers[name]), None)
        group = [port for port, at in numbers.items() if numbers[name] <= at and (limit is None or at < limit)]
        if limit is not None or len(group) <= int(mode["count"]):
            yield from _breakout(bindings.config, name, mode, group)


def _breakout(config: ConfigDb, name: str, mode: re.Match[str], group: list[str]) -> Iterator[SonicFinding]:
    path, fate = (
        ("BREAKOUT_CFG", name, "brkout_mode"),
        "the chip's lanes are bound otherwise, and the links do not come up",
    )
    remedy = "write the mode that PORT has, or change the mode by `config interface breakout`, which writes both"
    count, speeds = int(mode["count"]), {int(speed) * 1000 for speed in re.findall(r"[0-9]+", mode["speeds"])}
    wrong = [port for port in group if config.ports[port].speed_mbps not in {None, *speeds}]
    widths = {config.ports[port].lanes for port in group}
    bound = ""
    if len(group) != count:
        bound = f"not the number of its ports in PORT, {len(group)}: {listed(group[:_MOST_NAMED])}"
    elif wrong:
        bound = f"not the speed of {listed(wrong)} in PORT, {config.ports[wrong[0]].speed_mbps} Mbit/s"
    elif len(widths) > 1:
        bound = f"of ports with different numbers of lanes in PORT, {listed(list(map(str, sorted(widths))))}"
    if bound:
        yield finding("breakout-mode", path, mode[0], bound, fate, remedy, (name,))
