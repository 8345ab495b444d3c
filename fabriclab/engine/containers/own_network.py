"""Nodes whose own files give them addresses and routes: when their routes are at rest, and which addresses they have
then. The form is that of the job's `still` (`images/machine/README.md`)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.collect import JOB
from fabriclab.engine.containers.docker import Container, copy_in, run_in
from fabriclab.engine.containers.event_log import EventLog
from fabriclab.engine.containers.job import Job
from fabriclab.engine.interrupt import Interrupt
from fabriclab.formats.job import NodeAddresses, Still
from fabriclab.units import format_duration

_AT_ONCE = 4
_LOOK_S = 0.5
"""Between two looks at routes that have to come to rest."""
_VOLATILE = ("expires", "cache", "metrics", "used")
_MANAGEMENT = "eth0"
_LOOPBACK = "lo"


def settle(
    job: Job,
    containers: Mapping[str, Container],
    directory: Path,
    events: EventLog,
    interrupt: Interrupt,
) -> bool:
    """Wait until the nodes' routes are at rest, where nobody knows them beforehand; returns whether to go on. Raises
    EngineError after the limit."""
    if job.still is None:
        return True
    events.emit("phase", phase="routing")
    took_ns = _wait(job.still, containers, interrupt)
    if took_ns is None:
        return False
    events.emit("converged", convergence_ns=took_ns, within_ns=round(_LOOK_S * 1e9))
    if "addresses" in job.still:
        interfaces = {node: [one.name for one in own] for node, own in job.interfaces.items()}
        _write_addresses(job.still["addresses"], containers, interfaces, directory)
    return True


def _wait(still: Still, containers: Mapping[str, Container], interrupt: Interrupt) -> int | None:
    """Wait until no route has changed for so long; returns when the last one did, None when it was interrupted."""
    began_ns = changed_ns = time.monotonic_ns()
    seen = _routes(containers.values())
    while time.monotonic_ns() - changed_ns < still["still_ns"]:
        if interrupt.requested:
            return None
        if time.monotonic_ns() - began_ns > still["limit_ns"]:
            rest, limit = (format_duration(still[key]) for key in ("still_ns", "limit_ns"))
            raise EngineError(f"routes were never unchanged for {rest} within {limit}")
        time.sleep(_LOOK_S)
        found = _routes(containers.values())
        if found != seen:
            seen, changed_ns = found, time.monotonic_ns()
    return changed_ns - began_ns


def _routes(containers: Iterable[Container]) -> list[str]:
    """Return what all routes of each container come to: equal where nothing has changed. Raises CommandError."""

    def ask(container: Container) -> str:
        tables = [
            json.loads(run_in(container, ["ip", "-j", *family, "route", "show", "table", "all"]) or b"[]")
            for family in ([], ["-6"])
        ]
        routes = [{k: v for k, v in route.items() if k not in _VOLATILE} for table in tables for route in table]
        return json.dumps(routes, sort_keys=True)

    with ThreadPoolExecutor(max_workers=_AT_ONCE) as workers:
        return list(workers.map(ask, containers))


def _write_addresses(
    wanted: NodeAddresses, containers: Mapping[str, Container], interfaces: Mapping[str, list[str]], directory: Path
) -> None:
    """Add the nodes' addresses to the file that is asked for, here and in each container.

    `interfaces`: those of each node's links, in their order. Raises EngineError for a node that must have one and has
    none.
    """
    rows = []
    for name in (*wanted["nodes"], *wanted["others"]):
        is_other = name in wanted["others"]
        if name not in containers:
            continue
        told = json.loads(run_in(containers[name], ["ip", "-j", "address", "show"]) or b"[]")
        order = [*([_LOOPBACK] if is_other else []), *interfaces.get(name, ())]
        found = [*addresses_in(told, order)]
        if found:
            beside = next((each for each in found if ":" in each), "") if ":" not in found[0] else ""
            rows.append(f"{name},{found[0]},{beside}\n")
        elif not is_other:
            raise EngineError(
                f"traffic goes to {name}, which has no address; give it one in its exec, a bound file or the "
                "link's ipv4"
            )
    file = directory / wanted["file"]
    with file.open("a") as opened:
        opened.writelines(rows)
    for container in containers.values():
        copy_in(container, {f"{JOB}/{wanted['file']}": file})


def addresses_in(told: list[dict[str, Any]], order: list[str]) -> Iterator[str]:
    """Yield the addresses of global scope of `ip -j address show`: those of the interfaces in `order` first, IPv4
    before IPv6. eth0, the management interface, is part of the lab only if it is in `order`."""
    every = [interface for interface in told if interface.get("ifname") != _MANAGEMENT or _MANAGEMENT in order]
    every.sort(key=lambda one: order.index(one["ifname"]) if one.get("ifname") in order else len(order))
    for interface in every:
        found = [one for one in interface.get("addr_info", ()) if one.get("scope") == "global"]
        yield from (one["local"] for one in sorted(found, key=lambda one: one["family"] != "inet"))
