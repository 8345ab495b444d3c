"""What a router's kernel knows and its frr.conf does not: `ip -j address show`, in a file called as the router is,
`leaf1.address.json`: addresses that ifupdown2 or netplan gave, and which interfaces are in which VRF."""

from __future__ import annotations

import json
from collections.abc import Sequence
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

from fabriclab.keys.wording import did_you_mean
from fabriclab.lab.reading.files import UnreadableError, read_named_file
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.vendors.common.command_text import LARGEST_BYTES
from fabriclab.vendors.frr.lab.devices import vrfs_of
from fabriclab.vendors.frr.lab.routers import Router, Routers
from fabriclab.vendors.frr.read.config import FrrInterface, InterfaceAt

ENDING = ".address.json"


def take_kernel_facts(paths: Sequence[Path], routers: Routers, problems: Problems) -> None:
    """Put what such files of directories say into the routers' interfaces; what is wrong in them is recorded."""
    for path in (file for directory in paths if directory.is_dir() for file in sorted(directory.glob(f"*{ENDING}"))):
        place, name = Place(str(path)), path.name.removesuffix(ENDING)
        if name not in routers:
            known = did_you_mean(name, routers)
            problems.add(
                place,
                "",
                "is not named after a router; the file has a router's addresses, so give it the router's name; "
                f"{known}",
                name,
            )
            continue
        try:
            document = json.loads(read_named_file(path, LARGEST_BYTES))
        except UnreadableError as error:
            problems.add(place, "", str(error))
            continue
        except (ValueError, RecursionError) as error:
            place = Place(str(path), getattr(error, "lineno", None))
            problems.add(place, "", "is not JSON; give the output of `ip -j address show`")
            continue
        for one in document if isinstance(document, list) else ():
            if isinstance(one, dict) and isinstance(one.get("ifname"), str):
                _take(routers[name], one)


def _take(router: Router, said: dict[str, Any]) -> None:
    name = said["ifname"]
    interfaces = router.config.interfaces
    known = interfaces.get(name) or FrrInterface(name, 0)
    master = said.get("master")
    if isinstance(master, str) and master in vrfs_of(router):
        known.vrf = known.vrf or master
    for info in said.get("addr_info") or ():
        address = _global_address(info)
        if address is not None and all(address.value != one.value for one in known.addresses):
            known.addresses.append(address)
            known.of_kernel.append(address.value)
    if known.addresses:
        interfaces[name] = known


def _global_address(info: Any) -> InterfaceAt | None:
    if not isinstance(info, dict) or info.get("scope") not in ("global", "site"):
        return None
    try:
        return InterfaceAt(ip_interface(f"{info.get('local')}/{info.get('prefixlen')}"), 0)
    except ValueError:
        return None
