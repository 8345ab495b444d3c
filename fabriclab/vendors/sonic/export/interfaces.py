"""Names of interfaces: Linux's in a lab, SONiC's in its file.

`EthernetN` stays. `ethN` is Ethernet4(N-1), four lanes apart, as docker-sonic-vs numbers its ports
(platform/vs/docker-sonic-vs/start.sh): eth1 is Ethernet0, eth2 Ethernet4. Any other name gets the lowest multiple of
four that is free, in the order of the ports.
"""

from __future__ import annotations

from collections.abc import Sequence

from fabriclab.vendors.sonic.read.interface_names import LANES, sonic_name

_FIRST_LANES = (
    *(25, 29, 33, 37, 45, 41, 1, 5, 13, 9, 17, 21, 53, 49, 57, 61),
    *(69, 65, 73, 77, 109, 105, 113, 117, 125, 121, 81, 85, 93, 89, 101, 97),
)
"""The first lanes of Force10-S6000's ports, which docker-sonic-vs has by default (port_config.ini)."""


def sonic_names(interfaces: Sequence[str]) -> dict[str, str]:
    """Return SONiC's name of each interface of a switch. Raises ValueError where two would have the same."""
    names: dict[str, str] = {}
    for interface in interfaces:
        name = sonic_name(interface)
        if name is not None:
            other = next((one for one, taken in names.items() if taken == name), None)
            if other is not None:
                raise ValueError(
                    f"{other} and {interface} are both {name} in SONiC; name all ports ethN, or all ports EthernetN"
                )
            names[interface] = name
    free = (f"Ethernet{number * LANES}" for number in range(len(interfaces) * 2 + 1))
    for interface in interfaces:
        if interface not in names:
            names[interface] = next(name for name in free if name not in names.values())
    return {interface: names[interface] for interface in interfaces}


def lanes(name: str) -> str:
    """Return the lanes of a port."""
    slot, lane = divmod(int(name.removeprefix("Ethernet")), LANES)
    if lane:
        return str(LANES * slot + lane + 1)
    first = _FIRST_LANES[slot] if slot < len(_FIRST_LANES) else LANES * slot + 1
    return ",".join(str(first + one) for one in range(LANES))
