"""VLANs and port channels of a switch of kind sonic-vs, as its lab's language would write them:
each name says where it is from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fabriclab.formats.family import Family
from fabriclab.lab.network.layer2 import WrittenLayer2, WrittenPortChannel, WrittenVlan
from fabriclab.lab.reading.section import Written
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.port_groups import PortGroup, PortGroups

T = TypeVar("T", WrittenVlan, WrittenPortChannel)


def written_layer2(config: ConfigDb, groups: PortGroups, family: Family = 4) -> WrittenLayer2:
    """Return the groups of a file as the lab language has them, with their addresses of a family."""
    return WrittenLayer2(
        vlans=tuple(_written(config, vlan, "VLAN", WrittenVlan, family) for vlan in groups.vlans),
        port_channels=tuple(
            _written(config, channel, "PORTCHANNEL", WrittenPortChannel, family) for channel in groups.channels
        ),
    )


def _written(config: ConfigDb, group: PortGroup, table: str, kind: Callable[..., T], family: Family) -> T:
    members = tuple(
        Written(
            member,
            f"{table}_MEMBER|{group.name}|{member}",
            member,
            config.place(f"{table}_MEMBER", f"{group.name}|{member}"),
        )
        for member in group.members
    )
    place = config.place(table, group.name)
    address = group.address if family == 4 else group.ipv6
    if address is None:
        return kind(group.name, members, f"{table}|{group.name}", place)
    key = f"{group.name}|{address}"
    written = Written(address, f"{table}_INTERFACE|{key}", str(address), config.place(f"{table}_INTERFACE", key))
    return kind(group.name, members, f"{table}|{group.name}", place, **{f"ipv{family}": written})
