"""VLANs and port channels of a switch of kind sonic-vs, as its lab's language would write them:
each name says where it is from."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import IPv4Interface
from typing import TypeVar

from fabriclab.lab.network.layer2 import WrittenLayer2, WrittenPortChannel, WrittenVlan
from fabriclab.lab.reading.section import Written
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.port_groups import PortGroup, PortGroups

T = TypeVar("T", WrittenVlan, WrittenPortChannel)


def written_layer2(config: ConfigDb, groups: PortGroups) -> WrittenLayer2:
    """Return the groups of a file as the lab language has them."""
    return WrittenLayer2(
        vlans=tuple(_written(config, vlan, "VLAN", WrittenVlan) for vlan in groups.vlans),
        port_channels=tuple(
            _written(config, channel, "PORTCHANNEL", WrittenPortChannel) for channel in groups.channels
        ),
    )


def _written(config: ConfigDb, group: PortGroup, table: str, kind: Callable[..., T]) -> T:
    members = tuple(
        Written(
            member,
            f"{table}_MEMBER|{group.name}|{member}",
            member,
            config.place(f"{table}_MEMBER", f"{group.name}|{member}"),
        )
        for member in group.members
    )
    return kind(
        group.name, members, f"{table}|{group.name}", config.place(table, group.name), _address(config, group, table)
    )


def _address(config: ConfigDb, group: PortGroup, table: str) -> Written[IPv4Interface] | None:
    if group.address is None:
        return None
    key = f"{group.name}|{group.address}"
    return Written(
        group.address, f"{table}_INTERFACE|{key}", str(group.address), config.place(f"{table}_INTERFACE", key)
    )
