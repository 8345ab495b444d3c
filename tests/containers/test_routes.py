"""Routes as `ip -j route show` tells them, compared with what a job expects."""

from __future__ import annotations

from typing import Any

import pytest

from fabriclab.engine.containers.routes import ExpectedRoute, read_expectation, wrong_routes
from fabriclab.formats.job import Ready

TABLE: list[dict[str, Any]] = [
    {"dst": "10.0.0.0/31", "dev": "eth1", "flags": []},
    {"dst": "10.255.0.1", "gateway": "10.0.0.1", "dev": "eth5", "flags": []},
    {
        "dst": "10.64.1.0/31",
        "nexthops": [
            {"via": {"family": "inet6", "host": "fe80::1"}, "dev": "eth5", "flags": ["onlink"]},
            {"via": {"family": "inet6", "host": "fe80::2"}, "dev": "eth6", "flags": ["onlink", "dead", "linkdown"]},
        ],
    },
]


def expected(prefix: str, paths: int, *interfaces: str) -> ExpectedRoute:
    return ExpectedRoute(prefix, frozenset(interfaces), paths)


def test_routes_that_are_as_they_must_be() -> None:
    right = [
        expected("10.255.0.1/32", 1, "eth5", "eth6"),
        expected("10.64.1.0/31", 1, "eth5"),
        expected("10.9.0.0/24", 0),
    ]
    assert wrong_routes(TABLE, right) == []


@pytest.mark.parametrize(
    ("route", "words"),
    [
        (expected("10.64.1.0/31", 2, "eth5", "eth6"), "10.64.1.0/31 has 1 next hops (eth5), not 2 of eth5, eth6"),
        (expected("10.64.1.0/31", 1, "eth7"), "10.64.1.0/31 has 1 next hops (eth5), not 1 of eth7"),
        (expected("10.9.0.0/24", 1, "eth5"), "10.9.0.0/24 has 0 next hops (none), not 1 of eth5"),
        (expected("10.0.0.0/31", 0), "10.0.0.0/31 still has a route"),
    ],
)
def test_routes_that_are_not(route: ExpectedRoute, words: str) -> None:
    assert wrong_routes(TABLE, [route]) == [words]


def test_an_expectation_is_read_from_the_job() -> None:
    record: Ready = {
        "limit_ns": 5,
        "interval_ns": 1,
        "nodes": [{"node": "s1", "routes": [{"prefix": "p", "interfaces": ["eth1"], "paths": 1}]}],
    }
    read = read_expectation(record)
    assert (read.limit_ns, read.nodes) == (5, {"s1": (expected("p", 1, "eth1"),)})
