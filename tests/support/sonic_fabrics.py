"""config_db.json by hand for several switches (hosts at Ethernet0 and 4, links from Ethernet8 on),
and what an import makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabriclab.formats.plan import Plan
from fabriclab.lab import LabError, parse_lab
from fabriclab.resolve import resolve_plan
from fabriclab.vendors.sonic.lab import ImportedFabric, import_fabric
from fabriclab.vendors.sonic.lab.fabric_stubs import Missing

LABS = Path(__file__).parents[2] / "labs"
Tables = dict[str, Any]


def port(speed: str = "1000", mtu: str = "1500", **more: str) -> dict[str, str]:
    return {"speed": speed, "mtu": mtu, "admin_status": "up", **more}


def switch(name: str, **tables: Any) -> Tables:
    """Return a switch with four ports and a buffer; `tables` take the place of its own."""
    return {
        "DEVICE_METADATA": {"localhost": {"hostname": name}},
        "PORT": {f"Ethernet{4 * number}": port() for number in range(4)},
        "BUFFER_POOL": {"egress": {"type": "egress", "mode": "dynamic", "size": "1000000"}},
        **tables,
    }


def servers(*names: str) -> Tables:
    return {f"Ethernet{4 * number}": {"name": name, "port": "eth1"} for number, name in enumerate(names)}


def neighbour(name: str, far_port: str = "") -> dict[str, str]:
    return {"name": name, **({"port": far_port} if far_port else {})}


def pair(ours: Tables | None = None, theirs: Tables | None = None) -> dict[str, Tables]:
    """Return two switches that name each other at Ethernet8 and Ethernet12."""
    near = {"DEVICE_NEIGHBOR": {**servers("h1"), "Ethernet8": neighbour("b", "Ethernet12")}, **(ours or {})}
    far = {"DEVICE_NEIGHBOR": {**servers("h2"), "Ethernet12": neighbour("a", "Ethernet8")}, **(theirs or {})}
    return {"a": switch("a", **near), "b": switch("b", **far)}


def addressed(ours: Tables | None = None, theirs: Tables | None = None) -> dict[str, Tables]:
    """Return two switches without DEVICE_NEIGHBOR of each other, with addresses of one /31."""
    near = {
        "DEVICE_NEIGHBOR": servers("h1"),
        "INTERFACE": {"Ethernet8": {}, "Ethernet8|10.0.0.0/31": {}},
        **(ours or {}),
    }
    far = {
        "DEVICE_NEIGHBOR": servers("h2"),
        "INTERFACE": {"Ethernet12": {}, "Ethernet12|10.0.0.1/31": {}},
        **(theirs or {}),
    }
    return {"a": switch("a", **near), "b": switch("b", **far)}


def bgp(address: str, asn: int, own: int, network: str = "") -> Tables:
    return {
        "DEVICE_METADATA": {"localhost": {"hostname": "a" if own == 65001 else "b", "bgp_asn": str(own)}},
        "BGP_NEIGHBOR": {address: {"asn": str(asn), "name": "peer"}},
        **({"INTERFACE": {network: {}}} if network else {}),
    }


def write(files: dict[str, Tables], directory: Path) -> list[Path]:
    """Write files, a line for each field, and return them in order."""
    paths = []
    for name, tables in files.items():
        paths.append(directory / f"{name}.json")
        paths[-1].write_text(json.dumps(tables, indent=1), encoding="utf-8")
    return paths


def imported(files: dict[str, Tables], directory: Path, missing: Missing = "hosts") -> ImportedFabric:
    return import_fabric(write(files, directory), "fabric", missing=missing)


def links_of(fabric: ImportedFabric) -> list[tuple[str, str, str]]:
    return [(str(link.a), str(link.b), link.found_by) for link in fabric.links]


def complaint(files: dict[str, Tables], directory: Path, missing: Missing = "hosts") -> list[str]:
    """Return the lines of the error without the directory's name and the number of the line in front."""
    with pytest.raises(LabError) as caught:
        imported(files, directory, missing)
    return str(caught.value).replace(f"{directory}/", "").splitlines()


def line_of(text: str, directory: Path, file: str, nth: int = 1) -> str:
    """Return `file:line` of the nth line that holds a text."""
    lines = (directory / file).read_text(encoding="utf-8").splitlines()
    return f"{file}:{[number for number, line in enumerate(lines, start=1) if text in line][nth - 1]}"


def plan_of(fabric: ImportedFabric, directory: Path) -> Plan:
    directory.mkdir(parents=True, exist_ok=True)
    for file, data in fabric.files.items():
        (directory / file).write_bytes(data)
    return resolve_plan(parse_lab(directory), {})
