"""What is wrong with Chakra traces is named by file, message and node, with what would be right."""

from __future__ import annotations

import contextlib
import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import chakra_traces as made
import pytest
from chakra_traces import RankWriter, data_parallel, field_of, framed, write_ranks

from fabriclab.api.conversion import convert
from fabriclab.errors import ArgumentError
from fabriclab.flow_importers.chakra.options import ChakraOptions
from fabriclab.workload import TraceError

Change = Callable[[RankWriter, RankWriter], object]


def problems(path: Path, **options: Any) -> list[str]:
    """Return what is wrong, a line each, without the directory of the files."""
    with pytest.raises(TraceError) as raised:
        convert(path, "chakra", chakra=ChakraOptions(**options))
    directory = path if path.is_dir() else path.parent
    return [line.removeprefix(f"{directory}/") for line in str(raised.value).split("\n")]


def two_ranks(directory: Path, change: Change) -> Path:
    ranks = [RankWriter(), RankWriter()]
    change(*ranks)
    return write_ranks(directory, ranks)


def both(kind: int, first: int, second: int) -> Change:
    """Return what gives both ranks a collective, of different sizes."""

    def change(one: RankWriter, other: RankWriter) -> None:
        one.add(made.COLL, "x", comm_type=kind, comm_size=first)
        other.add(made.COLL, "x", comm_type=kind, comm_size=second)

    return change


def loop(one: RankWriter, other: RankWriter) -> None:
    one.add(made.COMP, "a", [2], micros=1)
    one.add(made.COMP, "b", [0], micros=1)
    one.add(made.COMP, "c", [1], micros=1)
    other.compute(1)


def deadlock(one: RankWriter, other: RankWriter) -> None:
    one.send(1, 8, one.receive(1, 8))
    other.send(0, 8, other.receive(0, 8))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda one, other: (one.add(99, "odd"), other.compute(1)),
            "job.0.et:2: node 0: type 99 is unknown; the types are 0 INVALID_NODE, 1 METADATA_NODE, 2 MEM_LOAD_NODE",
        ),
        (
            lambda one, other: (one.compute(1, 17), other.compute(1)),
            "job.0.et:2: node 0 (COMP_NODE 'compute'): it depends on node 17, which the file does not have",
        ),
        (
            lambda one, other: (one.add(made.COMP, "a", micros=1, control=[5]), other.compute(1)),
            "job.0.et:2: node 0 (COMP_NODE 'a'): it depends on node 5, which the file does not have",
        ),
        (
            lambda one, other: (one.compute(1), one.add(made.COMP, "b", id=0), other.compute(1)),
            "job.0.et:3: node 0 (COMP_NODE 'b'): message 2 has this id, too; each node has its own",
        ),
        (loop, "job.0.et:2: node 0 (COMP_NODE 'a') depends on itself: node 0 depends on 2 depends on 1 depends on 0"),
        (
            both(made.ALL_REDUCE, 0, 0),
            "job.0.et:2: node 0 (COMM_COLL_NODE 'x'): comm_size 0 must be at least 1 byte",
        ),
        (
            both(made.ALL_REDUCE, 100, 200),
            "job.1.et:2: node 0 (COMM_COLL_NODE 'x'): ALL_REDUCE of 200 bytes is number 1 of process group '' on this "
            "rank, but rank 0's node 0 (COMM_COLL_NODE 'x') is ALL_REDUCE of 100 bytes; all ranks must have the same "
            "collectives in one order",
        ),
        (
            both(77, 100, 100),
            "job.0.et:2: node 0 (COMM_COLL_NODE 'x'): comm_type 77 (none) can't be converted; those that can are",
        ),
        (
            lambda one, other: (one.collective(made.ALL_REDUCE, 100), other.compute(1)),
            "job.0.et:2: node 0 (COMM_COLL_NODE 'collective'): all-reduce of process group '' lacks a node on the "
            "ranks 1; all ranks of a group must have its collectives",
        ),
        (
            lambda one, other: [rank.collective(made.ALL_REDUCE, 100, pg_name="3") for rank in (one, other)],
            "job.0.et:2: node 0 (COMM_COLL_NODE 'collective'): process group '3' is unknown (known: none); give its "
            "ranks by --groups",
        ),
        (
            lambda one, other: (one.send(1, 8), other.compute(1)),
            "job.0.et:2: node 0 (COMM_SEND_NODE 'send'): rank 1 has no COMM_RECV_NODE for it (comm_src 0, comm_tag 0)",
        ),
        (
            lambda one, other: (one.compute(1), other.receive(0, 8, tag=5)),
            "job.1.et:2: node 0 (COMM_RECV_NODE 'receive'): rank 0 has no COMM_SEND_NODE for it (comm_dst 1, comm_tag",
        ),
        (
            lambda one, other: (one.send(1, 8), other.receive(0, 9)),
            "job.1.et:2: node 0 (COMM_RECV_NODE 'receive'): comm_size 9 differs from that of rank 0's node 0 "
            "(COMM_SEND_NODE 'send'), 8",
        ),
        (
            lambda one, other: (one.send(7, 8), other.compute(1)),
            "job.0.et:2: node 0 (COMM_SEND_NODE 'send'): comm_dst 7 must be another rank, 0 to 1",
        ),
        (
            lambda one, other: (one.add(made.SEND, "s", comm_src=1, comm_dst=1, comm_size=1), other.compute(1)),
            "job.0.et:2: node 0 (COMM_SEND_NODE 's'): comm_src 1 must be the rank itself, 0",
        ),
        (
            lambda one, other: (one.send(1, 0), other.receive(0, 0)),
            "job.0.et:2: node 0 (COMM_SEND_NODE 'send'): comm_size 0 must be at least 1 byte",
        ),
        (
            deadlock,
            "job.0.et:2: rank 0's node 0 (COMM_RECV_NODE 'receive'), which waits for rank 1's node 1 (COMM_SEND_NODE "
            "'send'), which waits for rank 1's node 0 (COMM_RECV_NODE 'receive'), which waits for rank 0's node 1 "
            "(COMM_SEND_NODE 'send'), which waits for rank 0's node 0 (COMM_RECV_NODE 'receive'): none of them can "
            "ever begin; change what they depend on",
        ),
        (
            lambda one, other: (one.add(made.COMP, "m", num_ops=5, tensor_size=7), other.compute(1)),
            "job.0.et:2: node 0 (COMP_NODE 'm'): its duration is not known (duration_micros 0, num_ops 5, tensor_size "
            "7); give --peak-tflops (a roofline) or --default-duration-ns",
        ),
        (
            lambda one, other: (one.add(made.LOAD, "m", tensor_size=7), other.compute(1)),
            "job.0.et:2: node 0 (MEM_LOAD_NODE 'm'): its duration is not known (duration_micros 0, num_ops none, "
            "tensor_size 7); give --memory-gb-per-s or --default-duration-ns",
        ),
        (
            lambda one, other: (one.add(made.STORE, "m"), other.compute(1)),
            "job.0.et:2: node 0 (MEM_STORE_NODE 'm'): its duration is not known (duration_micros 0, num_ops none, "
            "tensor_size none); give --default-duration-ns",
        ),
        (
            lambda one, other: (one.add(made.COMP, "m", micros=2**62), other.compute(1)),
            "job.0.et:2: node 0 (COMP_NODE 'm'): duration_micros 4611686018427387904 must be at most 4611686018427387",
        ),
        (
            lambda one, other: (one.add(made.METADATA, "g", inputs='[{"pg_name": "1"}]'), other.compute(1)),
            "job.0.et:2: node 0 (METADATA_NODE 'g'): '[{\"pg_name\": \"1\"}]': 'ranks'; it must be JSON such as",
        ),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, change: Change, message: str) -> None:
    found = problems(two_ranks(tmp_path, change))
    assert any(line.startswith(message) for line in found), found


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([0, 2], "process group '1' has the ranks [0, 2], which must be different, from 0 to 1"),
        ([1], "process group '1' has the ranks [1], and 0 is none of them"),
    ],
)
def test_a_group_has_ranks_of_the_trace(tmp_path: Path, members: Sequence[int], message: str) -> None:
    path = two_ranks(tmp_path, lambda *ranks: [rank.collective(made.ALL_REDUCE, 100, pg_name="1") for rank in ranks])
    assert problems(path, groups={"1": members})[0].endswith(message)


def test_dimensions_that_do_not_fit(tmp_path: Path) -> None:
    def change(*ranks: RankWriter) -> None:
        for rank in ranks:
            rank.add(made.COLL, "x", comm_type=made.ALL_REDUCE, comm_size=64, involved_dim=[True, False])

    path = two_ranks(tmp_path, change)
    assert problems(path, dimensions=(3,))[0].endswith("the dimensions (3,) have 3 ranks, but the trace has 2")
    wanted = "involved_dim [1, 0] needs the sizes of 2 dimensions; give them by --dimensions"
    assert problems(path)[0].endswith(wanted)


def test_an_algorithm_that_the_ranks_do_not_fit(tmp_path: Path) -> None:
    path = write_ranks(tmp_path, data_parallel(3, 1, 1, forward=1, backward=1, bucket=100))
    assert problems(path, algorithms={"all-reduce": "halving-doubling"})[0].endswith(
        "halving-doubling needs a power of two ranks, and there are 3; choose another by --algorithm all-reduce=NAME"
    )


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert problems(tmp_path / "none")[0].startswith("none:1: no execution trace is there; it must be the directory or")
    ranks = data_parallel(4, 1, 1, forward=1, backward=1, bucket=100)
    prefix = write_ranks(tmp_path, ranks)
    (tmp_path / "job.2.et").unlink()
    assert problems(prefix) == [
        "job.2.et:1: the file of rank 2 is missing; there must be one for each rank from 0 to 3"
    ]
    write_ranks(tmp_path, ranks, "other")
    assert re.search(
        "the files of two traces are there, 'job' and 'other'; name the prefix", "\n".join(problems(tmp_path))
    )
    with pytest.raises(TraceError, match="the trace has 4 ranks, but there are only 2 hosts for them"):
        convert(tmp_path / "other", "chakra", hosts="a1..a2")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "job.0.et:1: the file has no node; it must be a Chakra execution trace"),
        (framed(b"") + b"\x09ab", "job.0.et:2: byte 1: a message of 9 bytes begins, but the file has only 2 more"),
        (framed(b"") + b"\x80", "job.0.et:2: byte 1: a number begins, but nothing follows"),
        (b"\xff" * 11, "job.0.et:1: byte 0: a number of more than 10 bytes"),
        (framed(b"") + framed(b"\x1c"), "job.0.et:2: byte 0 of the message: wire type 4 is none of protobuf's"),
        (framed(b"") + framed(b"\x12\x09a"), "job.0.et:2: byte 2 of the message: field 2 is longer than the message"),
        (b"\x1f\x8babc", "job.0.et:1: compressed by gzip, and "),
    ],
)
def test_a_file_that_is_cut_off(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "job.0.et").write_bytes(data)
    assert problems(tmp_path)[0].startswith(message)


def test_whatever_field_is_unknown_is_passed_over(tmp_path: Path) -> None:
    ranks = [RankWriter(), RankWriter()]
    ranks[0].body += framed(
        field_of(1, 3)
        + field_of(3, made.SEND)
        + field_of(40, "new")
        + b"\xfd\x01abcd"
        + b"\xf9\x01abcdefgh"
        + b"".join(field_of(10, made.attribute(name, value)) for name, value in (("comm_dst", 1), ("comm_size", 9)))
        + field_of(10, field_of(1, "ratio") + b"\x19" + b"\0" * 8)
        + field_of(10, field_of(1, "raw") + field_of(31, "x"))
    )
    ranks[1].receive(0, 9)
    assert convert(write_ranks(tmp_path, ranks), "chakra").frame["size_bytes"].to_list() == [9]


@pytest.mark.parametrize("form", ["et", "json"])
def test_no_damage_is_more_than_a_mistake(tmp_path: Path, form: str) -> None:
    """Bytes of a file are changed, removed and doubled: what comes out is a trace, or sentences."""
    draw = random.Random(5)
    whole = data_parallel(1, 2, 1, forward=1, backward=1, bucket=100)[0].body
    if form == "json":
        sizes = [{"name": "comm_dst", "int32Val": 0}, {"name": "comm_size", "int64Val": "9"}]
        whole = (
            "{}" + node(0, type="COMP_NODE", durationMicros="4") + node(1, type="COMM_COLL_NODE", attr=sizes)
        ).encode()
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(draw.randint(1, 3)):
            at = draw.randrange(len(data))
            length = draw.randint(0, 4)
            data[at : at + length] = draw.choice([b"", draw.randbytes(1), bytes(data[at : at + length]) * 2])
        (tmp_path / f"job.0.{form}").write_bytes(data)
        with contextlib.suppress(TraceError):
            convert(tmp_path, "chakra")


def node(number: int, **fields: Any) -> str:
    return json.dumps({"id": str(number), "name": "n", **fields})


def test_jsonizers_files_are_read(tmp_path: Path) -> None:
    size = {"name": "comm_size", "int64Val": "9"}
    more = [
        {"name": "d", "boolList": {"values": [True]}},
        {"name": "f", "floatVal": 1.5},
        {"name": "b", "bytesVal": "YQ"},
    ]
    sent = node(1, type="COMM_SEND_NODE", dataDeps=["0"], attr=[{"name": "comm_dst", "int32Val": 1}, size, *more])
    computed = node(0, type="COMP_NODE", durationMicros="4", attr=[{"name": "is_cpu_op", "boolVal": False}])
    received = node(
        0, type="COMM_RECV_NODE", attr=[{"name": "comm_src", "int32Val": 0}, {"name": "s", "stringVal": "x"}]
    )
    (tmp_path / "job.0.json").write_text('{"version": "1.0.0"}' + computed + "\n" + sent)
    (tmp_path / "job.1.json").write_text("{}" + received)
    flows = convert(tmp_path / "job", "chakra").frame
    assert flows.select("start_ns", "size_bytes").rows() == [(4000, 9)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "job.0.json:1: the file has no node; it must be what chakra_jsonizer writes"),
        ('{}{"id": "1", ', "job.0.json:2: "),
        ('{}{"id": "x"}', "job.0.json:2: invalid literal for int() with base 10: 'x'; it must be what chakra_jsonizer"),
        ("{}[]", "job.0.json:2: 'list' object has no attribute 'get'; it must be what"),
        ("{}" + node(1, type="ODD"), "job.0.json:2: node 1: type 'ODD' is unknown; the types are INVALID_NODE, "),
    ],
)
def test_json_that_is_not_jsonizers(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "job.0.json").write_text(text)
    assert problems(tmp_path)[0].startswith(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithms": {"all-reduce": "star"}}, "algorithm all-reduce=star: no such; there are all-reduce: ring"),
        ({"chunks": 0}, "chunks 0: must be at least 1"),
        ({"dimensions": (2, 0)}, "dimensions 0: must be at least 1"),
        ({"peak_tflops": -1.0}, "peak_tflops -1.0: must be more than 0"),
        ({"default_duration_ns": -1}, "default_duration_ns -1: must be from 0 to 4611686018427387903"),
    ],
)
def test_options_that_can_not_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(message)):
        ChakraOptions(**options)


def test_options_are_chakras_alone(tmp_path: Path) -> None:
    (tmp_path / "flow.txt").write_text("0\n")
    with pytest.raises(ArgumentError, match="source 'hpcc': the options of chakra are not for it; leave them out"):
        convert(tmp_path / "flow.txt", "hpcc", chakra=ChakraOptions(chunks=2))
