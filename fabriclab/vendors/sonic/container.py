"""docker-sonic-vs in a lab: it is started with its config_db.json, its databases and its kernel are compared with that
file, and its ports made ready for qdiscs.

SONiC configures itself: the engine waits until CONFIG_DB and APPL_DB hold the file, compares the kernel's addresses
with it, and puts traffic control where packets leave, on the TAP devices `EthernetN` that syncd connects with
Containerlab's `ethM` (sonic-sairedis, vslib/HostInterfaceInfo.cpp; sonic-swss-common, doc/swss-schema.md).
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fabriclab.engine.containers.collect import JOB
from fabriclab.engine.containers.command import CommandError
from fabriclab.engine.containers.docker import Container, copy_in, run_in
from fabriclab.engine.containers.job import Interface, Job
from fabriclab.engine.containers.node import CONFIGURE_S, CONFIGURE_SCRIPT, NodeError, node_content
from fabriclab.engine.interrupt import Interrupt
from fabriclab.vendors.sonic.image.boot import examine, not_started, start
from fabriclab.vendors.sonic.image.files import SonicError, link_of_port, stored_text
from fabriclab.vendors.sonic.image.releases import Release

Database = dict[str, dict[str, str]]
"""Fields by key."""

_APPL_DB, _CONFIG_DB = 0, 4
_DUMP = (
    "local r = {} for _, k in ipairs(redis.call('KEYS', '*')) do "
    "if redis.call('TYPE', k).ok == 'hash' then r[k] = redis.call('HGETALL', k) end end return cjson.encode(r)"
)
_PATIENCE_S = 240.0
"""Booting: syncd, orchagent and the managers start one after the other, some tens of seconds on an idle host."""
_INTERVAL_S = 1.0
_SHOWN = 8
_FRR = "/etc/frr"
_BUFFERS = {"BUFFER_POOL": "BUFFER_POOL_TABLE", "BUFFER_PROFILE": "BUFFER_PROFILE_TABLE"}


def prepare(container: Container, config: Path, job: Job, directory: Path, tools: Path, interrupt: Interrupt) -> None:
    """Start SONiC, wait until it is what its configuration says, and put traffic control on its ports.

    Raises NodeError, SonicError.
    """
    node = container.node
    interfaces = job.interfaces[node]
    ports = [interface.name for interface in interfaces]
    files = directory / job.files[node]
    image = examine(container)
    try:
        tables = start(container, image, read_config(config), ports, routing_files(files))
        await_databases(container, image.release, tables, ports, interrupt)
        if interrupt.requested:
            return
        start_routing(container, image.release, files)
    except CommandError as error:
        raise SonicError(f"{node}: {error.said or error}") from error
    inside = f"{JOB}/{job.files[node]}"
    content = node_content(directory, files, tools, interfaces, job.samplers.get(node))
    # SONiC's addresses, routes and daemons are its own.
    own = [
        f"{inside}/sysctl.conf",
        f"{inside}/ip.batch",
        f"{inside}/bridge.batch",
        *(path for path in content if path.startswith("/etc/")),
    ]
    content = {path: source for path, source in content.items() if path not in own}
    if not image.release.bgpcfgd:
        content[f"{inside}/route.batch"] = static_routes(files).encode()
    content |= {
        CONFIGURE_SCRIPT: Path(__file__).with_name("configure.sh"),
        f"{inside}/links.batch": links_batch(interfaces).encode(),
    }
    try:
        copy_in(container, content)
        run_in(container, ["sh", CONFIGURE_SCRIPT, inside, *devices(interfaces)], timeout_s=CONFIGURE_S)
    except CommandError as error:
        raise NodeError(f"configure {node}: {error.said or error}") from error
    check_kernel(container, tables, interfaces)


def read_config(path: Path) -> dict[str, Any]:
    """Return the tables of a config_db.json. Raises SonicError."""
    try:
        tables = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SonicError(f"{path}: {error}") from error
    if not isinstance(tables, dict):
        raise SonicError(f"{path}: holds no tables")
    return tables


def routing_files(files: Path) -> dict[str, Path]:
    """Return FRR's files of a node's plan by their paths in the node; zebra's is the image's own."""
    root = files / "root"
    found = sorted((root / _FRR.lstrip("/")).glob("*.conf"))
    return {f"{_FRR}/{path.name}": path for path in found if path.name != "zebra.conf"}


def static_routes(files: Path) -> str:
    """Return the `ip -batch` lines of a node's plan that are routes: bgpcfgd would make them of STATIC_ROUTE."""
    path = files / "ip.batch"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return "".join(f"{line}\n" for line in lines if line.startswith("route "))


def start_routing(container: Container, release: Release, files: Path) -> None:
    """Start the routing daemons of a node's plan that the image's start.sh does not start. Raises CommandError."""
    wanted = [path.rpartition("/")[2].removesuffix(".conf") for path in routing_files(files)]
    if release.starts_bgpd or not wanted:
        return
    for daemon in wanted:
        # supervisord knows bgpd; bfdd is in the image, too.
        if daemon == "bgpd":
            run_in(container, ["supervisorctl", "start", daemon])
        else:
            run_in(container, [f"/usr/lib/frr/{daemon}", "-A", "127.0.0.1", "-d"])


def await_databases(
    container: Container, release: Release, tables: Mapping[str, Any], ports: Sequence[str], interrupt: Interrupt
) -> None:
    """Wait until the node's programs run, and its CONFIG_DB and APPL_DB hold what the file says.

    Raises SonicError after a while, with what is missing, or as soon as a program has ended; CommandError.
    """
    began = time.monotonic()
    while not interrupt.requested:
        missing = not_started(container, release) or _missing(container, tables, ports)
        if not missing:
            return
        if time.monotonic() - began > _PATIENCE_S:
            more = [f"and {len(missing) - _SHOWN} more"] if len(missing) > _SHOWN else []
            head = f"{container.node}: SONiC does not have what its config_db.json says after {_PATIENCE_S:g} s:"
            raise SonicError("\n  ".join([head, *missing[:_SHOWN], *more]))
        time.sleep(_INTERVAL_S)


def _missing(container: Container, tables: Mapping[str, Any], ports: Sequence[str]) -> list[str]:
    try:
        config = read_database(container, _CONFIG_DB)
        return missing_in_config_db(tables, config) or missing_in_appl_db(
            tables, ports, read_database(container, _APPL_DB)
        )
    except CommandError as error:
        # Redis itself is one of the things that start.
        return [f"its databases do not answer: {error.said or error}"]


def read_database(container: Container, number: int) -> Database:
    """Return all hashes of a database. Raises CommandError, and SonicError for an answer that is none."""
    output = run_in(container, ["redis-cli", "-n", str(number), "--raw", "EVAL", _DUMP, "0"]).decode(errors="replace")
    try:
        found = json.loads(output)
        return {str(key): dict(zip(flat[::2], flat[1::2], strict=True)) for key, flat in dict(found).items()}
    except (ValueError, TypeError) as error:
        raise SonicError(f"{container.node}: redis-cli -n {number} answers {output.strip()[:80]!r}") from error


def missing_in_config_db(tables: Mapping[str, Any], database: Database) -> list[str]:
    """Return what the file says and CONFIG_DB does not, in words.

    A leaf-list is a field `NAME@` there, an empty entry has `NULL`.
    """
    missing = []
    for table, entries in tables.items():
        for key, fields in entries.items() if isinstance(entries, dict) else ():
            found = database.get(f"{table}|{key}")
            if found is None:
                missing.append(f"CONFIG_DB: {table}|{key} is missing")
                continue
            for name, value in fields.items() if isinstance(fields, dict) else ():
                stored, wanted = found.get(f"{name}@" if isinstance(value, list) else name), stored_text(value)
                if stored != wanted:
                    has = "is missing" if stored is None else f"is {stored!r}"
                    missing.append(f"CONFIG_DB: {table}|{key}|{name} {has}, the file has {wanted!r}")
    return missing


def missing_in_appl_db(tables: Mapping[str, Any], ports: Sequence[str], database: Database) -> list[str]:
    """Return which ports, addresses, pools and profiles SONiC's managers have not yet made of CONFIG_DB."""
    return [f"APPL_DB: {key} is missing" for key in _appl_keys(tables, ports) if key not in database]


def _appl_keys(tables: Mapping[str, Any], ports: Sequence[str]) -> Iterator[str]:
    yield "PORT_TABLE:PortInitDone"
    yield from (f"PORT_TABLE:{port}" for port in ports)
    for key in tables.get("INTERFACE", {}):
        port, bar, address = key.partition("|")
        if bar and port in ports:
            yield f"INTF_TABLE:{port}:{address}"
    for table, name in _BUFFERS.items():
        yield from (f"{name}:{key}" for key in tables.get(table, {}))


def check_kernel(container: Container, tables: Mapping[str, Any], interfaces: Sequence[Interface]) -> None:
    """Compare addresses, MTU and state of the ports in the node's kernel with the file. Raises SonicError."""
    try:
        links = json.loads(run_in(container, ["ip", "-j", "address", "show"]))
    except ValueError as error:
        raise SonicError(f"{container.node}: ip -j address show: {error}") from error
    wrong = wrong_in_kernel(tables, interfaces, links)
    if wrong:
        raise SonicError(
            "\n  ".join([f"{container.node}: the kernel does not have what config_db.json says:", *wrong[:_SHOWN]])
        )


def wrong_in_kernel(
    tables: Mapping[str, Any], interfaces: Sequence[Interface], links: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return in words what the kernel's interfaces (`ip -j address show`) lack of the file."""
    found = {link.get("ifname"): link for link in links}
    wrong = []
    for interface in interfaces:
        link = found.get(interface.name)
        if link is None:
            wrong.append(f"{interface.name}: there is no such interface (syncd makes it)")
            continue
        has = {f"{entry.get('local')}/{entry.get('prefixlen')}" for entry in link.get("addr_info", ())}
        said = [key.partition("|")[2] for key in tables.get("INTERFACE", {}) if key.startswith(f"{interface.name}|")]
        wrong += [
            f"{interface.name}: the address {address} is missing"
            for address in said
            if address not in has and ":" not in address
        ]
        if link.get("mtu") != interface.mtu:
            wrong.append(f"{interface.name}: the MTU is {link.get('mtu')}, and {interface.mtu} in the lab")
        if "UP" not in link.get("flags", ()):
            wrong.append(f"{interface.name}: it is down (PORT|{interface.name}|admin_status)")
        wire = link_of_port(interface.name)
        # syncd listens to all frames of a link that it has found by a port's lanes.
        if wire is not None and "PROMISC" not in found.get(wire, {}).get("flags", ()):
            wrong.append(f"{interface.name}: syncd has not taken {wire} for it (its lanes in lanemap.ini)")
    return wrong


def links_batch(interfaces: Sequence[Interface]) -> str:
    """Return the `ip -batch` lines that give the ports the lab's MAC addresses, which their neighbours know them by."""
    return "".join(f"link set dev {interface.name} address {interface.mac}\n" for interface in interfaces)


def devices(interfaces: Sequence[Interface]) -> list[str]:
    """Return all devices that frames pass: neither the TAP nor Containerlab's interface behind it
    may join or cut them."""
    links = [link for interface in interfaces if (link := link_of_port(interface.name)) is not None]
    return [*(interface.name for interface in interfaces), *links]
