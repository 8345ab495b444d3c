"""Whether the kernels' routes are what the job expects (`images/machine/README.md`, "Routes"),
as `ip -j route show` tells."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from fabriclab.formats import job
from fabriclab.formats.family import family_of

ROUTES_ARGV = ("sh", "-c", "ip -j route show; ip -j -6 route show")
"""What tells a node's routes, those of IPv4 first."""
_NOT_LIVE = {"dead", "linkdown"}


@dataclass(frozen=True)
class ExpectedRoute:
    """A route that a node must have: `paths` live next hops, all through these interfaces; 0: no such route."""

    prefix: str
    interfaces: frozenset[str]
    paths: int


@dataclass(frozen=True)
class Expectation:
    """What nodes' routes must be. Times are nanoseconds; without a limit it is waited for as long as the run lasts."""

    limit_ns: int | None
    nodes: Mapping[str, tuple[ExpectedRoute, ...]]


def read_expectation(record: job.Ready | job.Expectation) -> Expectation:
    """Read a job's `ready` or an event's `reconvergence`."""
    nodes = {
        node["node"]: tuple(
            ExpectedRoute(route["prefix"], frozenset(route["interfaces"]), route["paths"]) for route in node["routes"]
        )
        for node in record["nodes"]
    }
    limit_ns = cast("int | None", record.get("limit_ns"))
    return Expectation(limit_ns, nodes)


def described(node: str, wrong: Sequence[str]) -> str:
    """Return what is wrong at a node in one line."""
    return f"{node}: {wrong[0]}" + (f" and {len(wrong) - 1} more" if len(wrong) > 1 else "")


def read_table(said: str) -> list[dict[str, Any]]:
    """Return the routes of both families that ROUTES_ARGV told, with the lengths of their prefixes: both families call
    theirs `default`. Raises ValueError."""
    decoder, left, tables = json.JSONDecoder(), said.strip(), []
    while left:
        table, end = decoder.raw_decode(left)
        tables.append(table)
        left = left[end:].lstrip()
    return [
        {**route, "dst": _with_length(route["dst"], family)}
        for family, table in zip((4, 6), tables, strict=False)
        for route in table
    ]


def wrong_routes(table: Sequence[Mapping[str, Any]], expected: Sequence[ExpectedRoute]) -> list[str]:
    """Return what a routing table lacks or has too much, in words."""
    found = {_with_length(route["dst"], family_of(route["dst"])): _live_interfaces(route) for route in table}
    wrong = []
    for route in expected:
        live = found.get(route.prefix)
        if route.paths == 0 and live is not None:
            wrong.append(f"{route.prefix} still has a route")
        elif route.paths and (len(live or ()) != route.paths or not set(live or ()) <= route.interfaces):
            among = ", ".join(sorted(route.interfaces))
            wrong.append(
                f"{route.prefix} has {len(live or ())} next hops ({', '.join(live or ()) or 'none'}), "
                f"not {route.paths} of {among}"
            )
    return wrong


def _live_interfaces(route: Mapping[str, Any]) -> list[str]:
    hops = route.get("nexthops") or [route]
    return [hop["dev"] for hop in hops if "dev" in hop and not _NOT_LIVE & set(hop.get("flags", ()))]


def _with_length(destination: str, family: int) -> str:
    if destination == "default":
        return "0.0.0.0/0" if family == 4 else "::/0"
    return destination if "/" in destination else f"{destination}/{32 if family == 4 else 128}"
