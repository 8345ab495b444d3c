"""The ideal completion time, worked out by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from whole_plans import whole

from fabriclab.formats.plan import Plan
from fabriclab.results.idle_path import ideal_columns, path_table, shortest_paths

GBPS = 10**9
US = 1000


def plan(*links: tuple[str, str, int, int], mtu: int = 1500, stored: str = "") -> Plan:
    """Nodes and their links: two ends, rate, delay; what begins with h is a host.

    The ports of nodes in `stored` are switch_ports.
    """
    nodes: dict[str, list[dict[str, Any]]] = {}
    for one, other, rate_bps, delay_ns in links:
        for node, peer in ((one, other), (other, one)):
            port: dict[str, Any] = {"peer_node": peer, "rate_bps": rate_bps, "delay_ns": delay_ns, "mtu": mtu}
            port["switch_port"] = {"queues": []} if node in stored.split() else None
            nodes.setdefault(node, []).append(port)
    roles = {name: "host" if name[0] == "h" else "switch" for name in nodes}
    given = [{"name": name, "role": roles[name], "ports": ports} for name, ports in nodes.items()]
    return Plan.model_validate(whole({"nodes": given}))


STAR = plan(("h1", "s1", GBPS, 10 * US), ("h2", "s1", GBPS, 15 * US))


def ideal(
    lab: Plan,
    size_bytes: int | None,
    mode: str = "push",
    connection: str | None = None,
    request_bytes: int | None = None,
    transport: str = "tcp",
) -> tuple[int | None, int | None]:
    """Base round trip and ideal of one flow from h1 to h2."""
    row = {
        "src": "h1",
        "dst": "h2",
        "size_bytes": size_bytes,
        "mode": mode,
        "connection": connection,
        "request_bytes": request_bytes,
        "transport_asked": transport,
    }
    numbers = ("size_bytes", "request_bytes")
    flow = pl.LazyFrame([row], schema={name: pl.Int64 if name in numbers else pl.String for name in row})
    joined = (
        flow.join(path_table(lab, [("h1", "h2")]), on=["src", "dst"], how="left").select(*ideal_columns()).collect()
    )
    return joined.row(0)[:2]


@pytest.mark.parametrize(
    ("size_bytes", "mode", "connection", "trips"),
    [
        (1, "push", None, 3),
        (1448, "push", None, 3),
        (1448, "push", "c", 1),
        (1448, "pull", None, 4),
        (1448, "pull", "c", 2),
    ],
)
def test_one_frame_takes_its_trips(size_bytes: int, mode: str, connection: str | None, trips: int) -> None:
    assert ideal(STAR, size_bytes, mode, connection) == (50 * US, trips * 25 * US)


def test_frames_after_the_first_are_serialised() -> None:
    # 10 full frames of 1538 bytes and one of 100 + 90.
    assert ideal(STAR, 10 * 1448 + 100, "push", "c")[1] == 25 * US + (9 * 1538 + 190) * 8


def test_the_slowest_line_counts_and_the_smallest_mtu() -> None:
    lab = plan(("h1", "s1", 10 * GBPS, 0), ("s1", "s2", GBPS, 5 * US), ("s2", "h2", 10 * GBPS, 0), mtu=9000)
    assert ideal(lab, 2 * 8948, "push", "c") == (10 * US, 5 * US + 9038 * 8)


def test_a_terabyte_does_not_overflow() -> None:
    frames = -(-(10**12) // 1448)
    assert ideal(STAR, 10**12, "push", "c")[1] == 25 * US + (10**12 + frames * 90 - 1538) * 8


def test_long_flows_have_a_round_trip_and_no_ideal() -> None:
    assert ideal(STAR, None) == (50 * US, None)


def test_hosts_without_a_path_have_neither() -> None:
    assert ideal(plan(("h1", "s1", GBPS, 0), ("h2", "s2", GBPS, 0)), 1000) == (None, None)


def test_of_shortest_paths_the_fastest_then_the_nearest_is_taken() -> None:
    spines = [("a", 1, 1), ("b", 10, 9), ("c", 10, 7)]
    links = [(leaf, name, rate * GBPS, delay * US) for name, rate, delay in spines for leaf in ("s1", "s2")]
    lab = plan(("h1", "s1", 10 * GBPS, 0), ("h2", "s2", 10 * GBPS, 0), *links)
    assert path_table(lab, [("h1", "h2")]).collect().row(0)[:6] == ("h1", "h2", 10 * GBPS, 14 * US, 14 * US, 1500)


def test_a_slow_last_line_makes_the_nearer_of_two_paths_the_better() -> None:
    links = [
        (leaf, name, rate * GBPS, delay * US)
        for name, rate, delay in (("a", 1, 1), ("b", 10, 9))
        for leaf in ("s1", "s2")
    ]
    lab = plan(("h1", "s1", 10 * GBPS, 0), ("h2", "s2", GBPS, 0), *links)
    assert path_table(lab, [("h1", "h2")]).collect()["delay_ns"].item() == 2 * US


def test_hosts_pass_nothing_on_and_fewer_hops_win() -> None:
    lab = plan(
        ("h1", "s1", GBPS, 0),
        ("h3", "s1", GBPS, 0),
        ("h3", "s2", GBPS, 0),
        ("h2", "s2", GBPS, 0),
        ("s1", "s3", GBPS, 50),
        ("s3", "s2", GBPS, 50),
    )
    assert set(lab.by_name()) == {"h1", "h2", "h3", "s1", "s2", "s3"}
    assert path_table(lab, [("h1", "h2"), ("h1", "h3")]).collect()["delay_ns"].to_list() == [100, 0]
    assert shortest_paths({"h1": []}, set(), "h1") == {}


STORED = plan(("h1", "s1", GBPS, 10 * US), ("h2", "s1", GBPS, 15 * US), stored="h1 s1 h2")
FRAME_NS = 1538 * 8
"""The time that a full frame takes at 1 Gbps."""


@pytest.mark.parametrize(
    ("size_bytes", "connection", "expected"),
    [
        # The one frame is sent twice; the SYN and the SYN-ACK of 98 bytes twice each.
        (1448, None, 3 * 25 * US + 4 * 98 * 8 + 2 * FRAME_NS),
        (1448, "c", 25 * US + 2 * FRAME_NS),
        (1, "c", 25 * US + 2 * 91 * 8),
        # All frames on the last line behind each other, the first one on the first line too.
        (10 * 1448 + 100, "c", 25 * US + 11 * FRAME_NS + 190 * 8),
    ],
)
def test_a_switch_port_stores_and_forwards(size_bytes: int, connection: str | None, expected: int) -> None:
    assert ideal(STORED, size_bytes, "push", connection) == (50 * US, expected)


@pytest.mark.parametrize(("request_bytes", "carried"), [(None, 4), (1000, 1000), (5000, 1448)])
def test_a_request_is_stored_and_forwarded_too(request_bytes: int | None, carried: int) -> None:
    expected = 2 * 25 * US + 2 * (carried + 90) * 8 + 2 * FRAME_NS
    assert ideal(STORED, 1448, "pull", "c", request_bytes)[1] == expected


def completion_of_each_frame(sizes: list[int], rates: list[int]) -> float:
    """When the last of some frames has passed lines in a row, each of which begins with a frame when it has
    all of it and is idle."""
    free = [0.0] * len(rates)
    for size in sizes:
        arrival = 0.0
        for index, rate in enumerate(rates):
            arrival = free[index] = max(arrival, free[index]) + size * 8e9 / rate
    return free[-1]


@pytest.mark.parametrize(
    "rates", [(1, 10), (10, 1), (1, 10, 10, 1), (10, 1, 10), (10, 1, 40, 10), (1, 10, 10, 10), (1, 1), (10, 40, 10)]
)
@pytest.mark.parametrize("size_bytes", [1, 1448, 1449, 3 * 1448, 3 * 1448 + 700, 50_000])
def test_lines_in_a_row_are_frame_by_frame_what_the_formula_says(rates: tuple[int, ...], size_bytes: int) -> None:
    nodes = ["h1", *(f"s{number}" for number in range(1, len(rates))), "h2"]
    links = [(one, other, rate * GBPS, 0) for one, other, rate in zip(nodes, nodes[1:], rates, strict=False)]
    sizes = [1538] * (size_bytes // 1448) + ([size_bytes % 1448 + 90] if size_bytes % 1448 else [])
    expected = completion_of_each_frame(sizes, [rate * GBPS for rate in rates])
    assert ideal(plan(*links, stored=" ".join(nodes)), size_bytes, "push", "c")[1] == round(expected)


def test_only_the_hops_that_store_are_charged() -> None:
    lab = plan(("h1", "s1", GBPS, 0), ("s1", "s2", GBPS, 0), ("s2", "h2", GBPS, 0), stored="s2")
    assert ideal(lab, 1448, "push", "c")[1] == FRAME_NS
    assert ideal(lab, 2 * 1448, "push", "c")[1] == 2 * FRAME_NS


def test_a_flow_takes_its_frames_time_on_the_slowest_line() -> None:
    """Two full frames and one of 104 bytes of data, at 1 Gbps: each has 90 bytes around its data."""
    row = {"src": "h1", "dst": "h2", "size_bytes": 3000, "mode": "push", "connection": "c", "request_bytes": None}
    row["transport_asked"] = "tcp"
    flow = pl.LazyFrame([row], schema_overrides={"request_bytes": pl.Int64})
    joined = flow.join(path_table(STAR, [("h1", "h2")]), on=["src", "dst"], how="left").select(*ideal_columns())
    assert joined.collect()["line_ns"].to_list() == [8 * (3000 + 3 * 90)]


def test_homa_has_no_handshake() -> None:
    assert ideal(STAR, 1448, "push", None, transport="homa") == ideal(STAR, 1448, "push", "c")
