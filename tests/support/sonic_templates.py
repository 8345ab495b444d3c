"""Configurations of SONiC's hwskus, rendered from the templates of a checkout of sonic-buildimage, as `sonic-cfggen
--preset t1` and `config qos reload` make them: ports of port_config.ini, a /31 and a BGP session at each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2

TEMPLATES = ("buffers.json.j2", "qos.json.j2")
_ROLES = {
    "t1": "LeafRouter",
    "t0": "ToRRouter",
    "t2": "SpineRouter",
    "lt2": "LowerSpineRouter",
    "ft2": "FabricSpineRouter",
}

Tables = dict[str, Any]


def hwskus(source: Path) -> Iterator[Path]:
    """Yield the folders with ports and templates."""
    for ports in sorted(source.glob("device/*/*/*/port_config.ini")):
        if all((ports.parent / name).exists() for name in TEMPLATES):
            yield ports.parent


def configuration(hwsku: Path, source: Path, role: str | None = None) -> Tables:
    """Return the tables of a switch, with keys as CONFIG_DB has them.

    `role`: t0, t1, ..., by which pools differ; None: the first of t1, t0, t2 that there are templates for.
    """
    ports = _with_speeds(_ports(hwsku / "port_config.ini"), hwsku)
    roles = [role] if role else [one for one in _ROLES if (hwsku / f"buffers_defaults_{one}.j2").exists()]
    name = hwsku.parent.name if hwsku.name.isdecimal() else hwsku.name  # of a switch of several chips, one
    metadata = {"hwsku": name, "hostname": "sonic", "bgp_asn": "65100", "type": _ROLES[(roles or ["t1"])[0]]}
    tables: Tables = {"DEVICE_METADATA": {"localhost": metadata}, "PORT": ports, "INTERFACE": {}, "BGP_NEIGHBOR": {}}
    for number, name in enumerate(ports):
        network = f"10.0.{2 * number // 256}"
        near, far = (f"{network}.{2 * number % 256 + end}" for end in (0, 1))
        asn = 65200 if number < len(ports) // 2 else 64001 + number - len(ports) // 2
        tables["INTERFACE"][f"{name}|{near}/31"] = {}
        tables["BGP_NEIGHBOR"][far] = {"asn": str(asn), "name": f"peer{number}", "rrclient": 0}
    paths = [source / "files" / "build_templates", hwsku]
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(paths), trim_blocks=True)
    environment.globals["template_exists"] = lambda name: name in environment.list_templates()
    environment.filters["sort_by_port_index"] = lambda names: names.sort(key=_number)
    for name in TEMPLATES:
        tables |= json.loads(environment.get_template(name).render(tables))
    return tables


def _with_speeds(ports: Tables, hwsku: Path) -> Tables:
    """Return the ports, with the speeds of hwsku.json where port_config.ini has none: sonic-cfggen reads it instead
    if there is a platform.json (src/sonic-config-engine, portconfig.py: get_port_config)."""
    platform = (hwsku.parent / "platform.json", hwsku.parent.parent / "platform.json")
    modes = hwsku / "hwsku.json"
    if not modes.exists() or not any(one.exists() for one in platform):
        return ports
    for name, said in json.loads(modes.read_text(encoding="utf-8"))["interfaces"].items():
        whole = re.match(r"1x([0-9]+)G", said["default_brkout_mode"])
        if whole is not None and name in ports:
            ports[name].setdefault("speed", f"{whole[1]}000")
    return ports


def _number(name: str) -> int:
    return int("".join(letter for letter in name if letter.isdigit()) or 0)


def _ports(file: Path) -> Tables:
    """Return PORT of a port_config.ini: a line a port, the columns named by a comment."""
    columns, ports = ["name", "lanes", "alias", "index"], {}
    for line in file.read_text(encoding="utf-8").splitlines():
        words = line.strip("#").split()
        if line.startswith("#"):
            columns = words if "name" in words else columns
        elif len(words) > 1:
            fields = dict(zip(columns, words, strict=False))
            ports[fields.pop("name")] = {**fields, "admin_status": "up", "mtu": "9100"}
    return ports
