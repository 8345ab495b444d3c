"""A SONiC fabric whose spines have no file."""

from __future__ import annotations

from sonic_fabrics import Tables, neighbour, servers, switch


def spineless() -> dict[str, Tables]:
    """Return two leaves that are joined by a spine of which there is no file."""
    files = {}
    for number, name in enumerate("ab"):
        files[name] = switch(
            name,
            DEVICE_METADATA={"localhost": {"hostname": name, "bgp_asn": str(65001 + number)}},
            DEVICE_NEIGHBOR={**servers(f"h{number + 1}"), "Ethernet8": neighbour("spine", f"Ethernet{8 * number}")},
            INTERFACE={"Ethernet8": {}, f"Ethernet8|10.0.0.{2 * number}/31": {}},
            BGP_NEIGHBOR={
                f"10.0.0.{2 * number + 1}": {"asn": "65100", "name": "spine", "keepalive": "3", "holdtime": "9"}
            },
        )
    return files
