"""Names of a SONiC switch's interfaces: Containerlab's `ethN` and SONiC's `EthernetN`.

docker-sonic-vs takes eth1 for Ethernet0, eth2 for Ethernet4, four lanes apart (platform/vs/docker-sonic-vs/start.sh).
"""

from __future__ import annotations

import re

LANES = 4
_ETHERNET = re.compile(r"Ethernet(0|[1-9][0-9]{0,4})")
_ETH = re.compile(r"eth([1-9][0-9]{0,3})")


def sonic_name(interface: str) -> str | None:
    """Return SONiC's name of `ethN`, `EthernetN` as it is; None for anything else."""
    if _ETHERNET.fullmatch(interface) is not None:
        return interface
    return port_of_link(interface)


def port_of_link(interface: str) -> str | None:
    """Return SONiC's name of an interface that Containerlab makes, `ethN`; None for anything else."""
    match = _ETH.fullmatch(interface)
    return None if match is None else f"Ethernet{LANES * (int(match[1]) - 1)}"


def table_of(interface: str) -> str:
    """Return the table that has an interface's addresses."""
    tables = {"Loopback": "LOOPBACK_INTERFACE", "Vlan": "VLAN_INTERFACE", "PortChannel": "PORTCHANNEL_INTERFACE"}
    return next((table for prefix, table in tables.items() if interface.startswith(prefix)), "INTERFACE")
