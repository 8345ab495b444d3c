"""Chakra execution traces become flows that wait as the trace says."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chakra_traces as made
import polars as pl
import pytest
from chakra_traces import RankWriter, data_parallel, pipeline, write_ranks

from fabriclab.api.conversion import ConvertedTrace, convert
from fabriclab.flow_importers.chakra.options import ChakraOptions
from fabriclab.flow_importers.convert import Transport
from fabriclab.formats.trace import awaited
from fabriclab.workload import UserTrace, read_traces
from fabriclab.workload.site import Site

Rows = list[tuple[Any, ...]]


def converted(
    directory: Path, ranks: Sequence[RankWriter], transport: Transport = "tcp", **options: Any
) -> ConvertedTrace:
    options_of_ranks = ChakraOptions(**options)
    return convert(write_ranks(directory, ranks), "chakra", transport=transport, chakra=options_of_ranks)


def rows(trace: ConvertedTrace, *columns: str) -> Rows:
    """Return the rows as a trace has them, after our own reader has judged them."""
    text = "".join(trace.lines()).encode()
    read_traces([UserTrace("t", "t.csv", text)], Site(trace.hosts, {}, {}, 0), ["cubic"])
    return trace.frame.select(*columns).rows()


def starts(flows: pl.DataFrame, taken_ns: dict[str, int]) -> dict[str, int]:
    """Return when each group's flow starts where each takes a time by its class, and links are of no concern."""
    ends: dict[str, int] = {"": 0}
    began: dict[str, int] = {}
    for row in flows.select(pl.col("group", "after", "class").cast(pl.String), "start_ns").iter_rows(named=True):
        found = [0]
        for wait in awaited(row["after"] or ""):
            within = [end for group, end in ends.items() if group == wait.group or group.startswith(f"{wait.group}/")]
            assert within, f"{row} waits for what stands below"
            found.append(max(within) + wait.delay_ns)
        began[row["group"]] = max(found) + row["start_ns"]
        ends[row["group"]] = began[row["group"]] + taken_ns[row["class"]]
    return began


def test_a_collective_becomes_the_flows_of_its_algorithm(tmp_path: Path) -> None:
    ranks = [RankWriter() for _ in range(2)]
    for rank, writer in enumerate(ranks):
        writer.collective(made.ALL_REDUCE, 1000, writer.compute(5 + rank))
    assert rows(converted(tmp_path, ranks), "start_ns", "src", "dst", "size_bytes", "connection", "group", "after") == [
        (5000, "h1", "h2", 500, "0.0", "chakra/c0/r1/0.0.0", None),
        (6000, "h2", "h1", 500, "0.0", "chakra/c0/r0/0.0.0", None),
        (0, "h1", "h2", 500, "0.0", "chakra/c0/r1/0.0.1", "chakra/c0/r0/0.0.0;+5000"),
        (0, "h2", "h1", 500, "0.0", "chakra/c0/r0/0.0.1", "chakra/c0/r1/0.0.0;+6000"),
    ]


def test_messages_wait_for_what_the_rank_received_and_computed(tmp_path: Path) -> None:
    ranks = [RankWriter() for _ in range(3)]
    ranks[0].send(1, 100, ranks[0].compute(7))
    ranks[1].send(2, 200, ranks[1].compute(3, ranks[1].receive(0, 100), ranks[1].compute(20)))
    ranks[2].receive(1, 200)
    assert rows(converted(tmp_path, ranks), "start_ns", "src", "dst", "size_bytes", "group", "after", "class") == [
        (7000, "h1", "h2", 100, "chakra/p0", None, "send"),
        (0, "h2", "h3", 200, "chakra/p1", "chakra/p0+3000;+23000", "send"),
    ]


def test_overlapped_all_reduces_start_when_the_algebra_says(tmp_path: Path) -> None:
    """Layers of 1 ms forward and 2 ms backward; the latter overlap with all-reduces of 6 steps of 0.5 ms each."""
    layers, step_ns = 3, 500_000
    trace = converted(tmp_path, data_parallel(4, layers, 2, forward=1000, backward=2000, bucket=4_000_000))
    began = starts(trace.frame, {"all-reduce": step_ns})
    now, done = 0, 0
    for iteration in range(2):
        computed = max(now, done) + layers * 1_000_000
        for layer in range(layers):
            computed += 2_000_000
            begin = max(computed, done)
            for step in range(6):
                for rank in range(4):
                    group = f"chakra/c{iteration * layers + layer}/r{rank}/0.0.{step}"
                    assert began[group] == begin + step * step_ns, group
            done = begin + 6 * step_ns
        now = computed


def test_a_pipeline_starts_when_the_algebra_says(tmp_path: Path) -> None:
    """GPipe, stage by stage: a stage computes one micro-batch at a time, and forward passes have the lower ids."""
    stages, batches, taken_ns = 4, 3, 300_000
    trace = converted(tmp_path, pipeline(stages, batches, forward=1000, backward=2000, size_bytes=1_000_000))
    began = sorted(starts(trace.frame, {"send": taken_ns}).values())
    free, expected = [0] * stages, []
    arrived = [[0] * batches for _ in range(stages + 1)]
    for stage in range(stages):
        for batch in range(batches):
            free[stage] = max(free[stage], arrived[stage][batch]) + 1_000_000
            arrived[stage + 1][batch] = free[stage] + taken_ns
            expected += [free[stage]] if stage < stages - 1 else []
    back = [[0] * batches for _ in range(stages + 1)]
    for stage in reversed(range(stages)):
        for batch in range(batches):
            free[stage] = max(free[stage], back[stage][batch]) + 2_000_000
            back[stage - 1][batch] = free[stage] + taken_ns
            expected += [free[stage]] if stage else []
    assert began == sorted(expected)


def test_a_rank_computes_one_thing_at_a_time_in_the_order_of_ids(tmp_path: Path) -> None:
    ranks = [RankWriter(), RankWriter()]
    later = ranks[0].add(made.COMP, "second", micros=5, id=7)
    first = ranks[0].add(made.COMP, "first", micros=3, id=4)
    ranks[0].add(made.COMP, "beside", micros=100, id=5, is_cpu_op=True)
    ranks[0].add(made.SEND, "a", [first], comm_dst=1, comm_size=10, id=8)
    ranks[0].add(made.SEND, "b", [later], comm_dst=1, comm_size=10, id=9)
    ranks[1].receive(0, 10)
    ranks[1].receive(0, 10)
    assert rows(converted(tmp_path, ranks), "start_ns") == [(3000,), (8000,)]


def test_a_computation_whose_data_came_is_not_held_up_by_one_that_waits(tmp_path: Path) -> None:
    """By ids alone rank 0's first computation would wait for rank 1, which waits for its second."""
    ranks = [RankWriter(), RankWriter()]
    ranks[0].send(1, 8, ranks[0].compute(4, ranks[0].receive(1, 8)), tag=2)
    ranks[0].send(1, 8, ranks[0].compute(6), tag=1)
    ranks[1].send(0, 8, ranks[1].receive(0, 8, tag=1))
    ranks[1].receive(0, 8, tag=2)
    assert rows(converted(tmp_path, ranks), "src", "start_ns", "after") == [
        ("h1", 6000, None),
        ("h2", 0, "chakra/p1"),
        ("h1", 0, "chakra/p2+4000"),
    ]


def test_collectives_of_a_process_group_follow_each_other(tmp_path: Path) -> None:
    """NCCL's streams: of two groups they overlap, unless a rank communicates one at a time."""
    ranks = [RankWriter() for _ in range(2)]
    known = json.dumps([{"pg_name": "5", "ranks": [0, 1]}])
    for writer in ranks:
        writer.add(made.METADATA, "groups", inputs=known)
        for name in ("", "", "5"):
            writer.collective(made.ALL_TO_ALL, 100, pg_name=name)
    assert rows(converted(tmp_path, ranks), "src", "connection", "after") == [
        ("h1", "0.0", None),
        ("h1", "1.0", None),
        ("h2", "0.0", None),
        ("h2", "1.0", None),
        ("h1", "0.0", "chakra/c0/r0"),
        ("h2", "0.0", "chakra/c0/r1"),
    ]
    one = rows(converted(tmp_path, ranks, communications="one"), "src", "connection", "after")
    # What a rank has received of an all-to-all does not say that it has begun itself.
    assert one[-2:] == [("h1", "1.0", "chakra/c0/r0;chakra/c1/r0"), ("h2", "1.0", "chakra/c0/r1;chakra/c1/r1")]


def test_who_receives_nothing_is_done_when_all_has_arrived(tmp_path: Path) -> None:
    ranks = [RankWriter() for _ in range(3)]
    for rank, writer in enumerate(ranks):
        done = writer.add(made.COLL, "b", comm_type=made.BROADCAST, comm_size=90, comm_src=1)
        computed = writer.compute(10, done)
        writer.send((rank + 1) % 3, 50, computed)
        writer.receive((rank - 1) % 3, 50)
    found = rows(converted(tmp_path, ranks, algorithms={"broadcast": "direct"}), "src", "dst", "group", "after")
    assert sorted(found) == [
        ("h1", "h2", "chakra/p0", "chakra/c0/r0+10000"),
        ("h2", "h1", "chakra/c0/r0/0.0.b", None),
        ("h2", "h3", "chakra/c0/r2/0.0.b", None),
        ("h2", "h3", "chakra/p1", "chakra/c0/r2/0.0.b+10000;chakra/c0/r0/0.0.b+10000"),
        ("h3", "h1", "chakra/p2", "chakra/c0/r2+10000"),
    ]


@pytest.mark.parametrize(
    ("kind", "size", "operation", "flows", "bytes_each"),
    [
        (made.ALL_GATHER, 400, "all-gather", 12, {400}),
        (made.REDUCE_SCATTER, 400, "reduce-scatter", 12, {100}),
        (made.ALL_TO_ALL, 400, "all-to-all", 12, {100}),
        (made.ALL_REDUCE, 400, "all-reduce", 24, {100}),
        (made.BARRIER, 0, "all-reduce", 24, {4}),
        (made.BROADCAST, 4, "broadcast", 3, {4}),
        (made.ALL_REDUCE, 4, "all-reduce", 24, {4}),
        (made.REDUCE, 400, "reduce", 3, {400}),
        (made.GATHER, 400, "gather", 3, {400}),
        (made.SCATTER, 400, "scatter", 3, {100}),
    ],
)
def test_sizes_are_those_of_the_trace(
    tmp_path: Path, kind: int, size: int, operation: str, flows: int, bytes_each: set[int]
) -> None:
    ranks = [RankWriter() for _ in range(4)]
    for writer in ranks:
        writer.collective(kind, size)
    trace = converted(tmp_path, ranks)
    found = rows(trace, "class", "size_bytes")
    assert (len(found), {size for _, size in found}, {name for name, _ in found}) == (flows, bytes_each, {operation})
    assert trace.raised == (flows if bytes_each == {4} and operation != "broadcast" else 0)


def test_dimensions_divide_the_ranks(tmp_path: Path) -> None:
    ranks = [RankWriter() for _ in range(4)]
    for writer in ranks:
        writer.add(made.COLL, "rows", comm_type=made.ALL_TO_ALL, comm_size=64, involved_dim=[True, False])
        writer.add(made.COLL, "columns", comm_type=made.ALL_TO_ALL, comm_size=64, involved_dim=[False, True])
        writer.add(made.COLL, "all", comm_type=made.BROADCAST, comm_size=64, involved_dim=[True, True])
    found = rows(converted(tmp_path, ranks, dimensions=(2, 2)), "src", "dst", "class")
    pairs = {(src, dst) for src, dst, name in found if name == "all-to-all"}
    both = [("h1", "h2"), ("h3", "h4"), ("h1", "h3"), ("h2", "h4")]
    assert pairs == {*both, *((dst, src) for src, dst in both)}
    assert len([name for _, _, name in found if name == "broadcast"]) == 3


@pytest.mark.parametrize(
    ("attributes", "options", "taken_ns"),
    [
        ({"num_ops": 8_000_000, "tensor_size": 1000}, {"peak_tflops": 2}, 4000),
        ({"num_ops": 8_000_000, "tensor_size": 1000}, {"peak_tflops": 2, "memory_gb_per_s": 0.1}, 10_000),
        ({"num_ops": 8_000_000, "tensor_size": 1000}, {"peak_tflops": 2, "memory_gb_per_s": 1}, 4000),
        ({}, {"default_duration_ns": 77}, 77),
    ],
)
def test_a_roofline_gives_durations(
    tmp_path: Path, attributes: dict[str, Any], options: dict[str, Any], taken_ns: int
) -> None:
    ranks = [RankWriter(), RankWriter()]
    ranks[0].send(1, 8, ranks[0].add(made.COMP, "matmul", **attributes))
    ranks[1].receive(0, 8)
    assert rows(converted(tmp_path, ranks, **options), "start_ns") == [(taken_ns,)]


@pytest.mark.parametrize(("transport", "connection"), [("tcp", "p2p"), ("roce", "p2p"), ("mptcp", None)])
def test_the_transport_is_the_options(tmp_path: Path, transport: Transport, connection: str | None) -> None:
    ranks = [RankWriter(), RankWriter()]
    ranks[0].send(1, 3)
    ranks[1].receive(0, 3)
    trace = converted(tmp_path, ranks, transport=transport)
    assert rows(trace, "transport", "connection", "size_bytes") == [
        (None if transport == "tcp" else transport, connection, 4)
    ]
    assert trace.raised == 1


def test_files_are_found_by_directory_prefix_or_one_of_them(tmp_path: Path) -> None:
    ranks = data_parallel(2, 1, 1, forward=1, backward=1, bucket=100)
    prefix = write_ranks(tmp_path, ranks)
    compressed = tmp_path / "job.0.et"
    compressed.write_bytes(gzip.compress(compressed.read_bytes()))
    texts = {"".join(convert(path, "chakra").lines()) for path in (tmp_path, prefix, tmp_path / "job.1.et")}
    assert len(texts) == 1


def test_a_large_trace_keeps_connections_in_order(tmp_path: Path) -> None:
    """64 ranks; no flow of a connection waits for one that stands below it."""
    trace = converted(
        tmp_path, data_parallel(64, 4, 3, forward=1000, backward=2000, bucket=10_000_000), transport="roce"
    )
    assert trace.frame.height == 12 * 64 * 126
    done: set[str] = set()
    for group, after in trace.frame.select("group", "after").iter_rows():
        for wait in awaited(after or ""):
            assert not wait.group or wait.group in done, f"{group} waits for {wait.group}, which stands below"
        done.add(group)
        done.add(group.rpartition("/")[0])
    stages = converted(tmp_path / "stages", pipeline(64, 8, forward=10, backward=20, size_bytes=1000))
    assert stages.frame.height == 2 * 63 * 8
    starts(stages.frame, {"send": 1000})
