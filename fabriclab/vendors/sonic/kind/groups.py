"""VLANs and port channels of a switch of kind sonic-vs, as its lab's language would write them:
each name says where it is from."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

from fabriclab.formats.family import AnyInterface, Family
from fabriclab.lab.network.layer2 import WrittenLayer2, WrittenPortChannel, WrittenVlan
from fabriclab.lab.reading.section import Written
from fabriclab.vendors.sonic.read.config_db import ConfigDb
from fabriclab.vendors.sonic.read.port_groups import PortGroup, PortGroups

T = TypeVar("T", WrittenVlan, WrittenPortChannel)


def written_layer2(config: ConfigDb, groups: PortGroups, families: Collection[Family]) -> WrittenLayer2:
    """Return the groups of a file as the lab language has them, with their addresses of these families."""
    return WrittenLayer2(
        vlans=tuple(_written(config, vlan, "VLAN", WrittenVlan, families) for vlan in groups.vlans),
        port_channels=tuple(
            _written(config, channel, "PORTCHANNEL", WrittenPortChannel, families) for channel in groups.channels
        ),
    )


def _written(config: ConfigDb, group: PortGroup, table: str, kind: Callable[..., T], families: Collection[Family]) -> T:
    members = tuple(
        Written(
            member,
            f"{table}_MEMBER|{group.name}|{member}",
            member,
            config.place(f"{table}_MEMBER", f"{group.name}|{member}"),
        )
        for member in group.members
    )
    written = {
        f"ipv{family}": _address(config, group.name, table, address)
        for family, address in ((4, group.address), (6, group.ipv6))
        if family in families and address is not None
    }
    return kind(group.name, members, f"{table}|{group.name}", config.place(table, group.name), **written)


def _address(config: ConfigDb, name: str, table: str, address: AnyInterface) -> Written[AnyInterface]:
    key = f"{name}|{address}"
    return Written(address, f"{table}_INTERFACE|{key}", str(address), config.place(f"{table}_INTERFACE", key))
