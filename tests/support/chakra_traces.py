"""Chakra execution traces, written as protobuf has them (mlcommons/chakra, schema/protobuf/et_def.proto)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

METADATA, LOAD, STORE, COMP, SEND, RECV, COLL = range(1, 8)
ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCATTER, BROADCAST, ALL_TO_ALL, REDUCE_SCATTER = range(8)
BARRIER = 9
_INT64, _BOOL, _STRING, _BOOL_LIST = 9, 27, 29, 28


def varint(value: int) -> bytes:
    """Return a number as seven bits a byte, the least first."""
    found = b""
    value &= 2**64 - 1
    while value > 0x7F:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])


def field_of(number: int, value: int | bytes | str) -> bytes:
    """Return a field: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def framed(message: bytes) -> bytes:
    """Return a message with its length before it."""
    return varint(len(message)) + message


def attribute(name: str, value: int | str | bool | Sequence[bool]) -> bytes:
    """Return an attribute of a node."""
    if isinstance(value, bool):
        held = field_of(_BOOL, int(value))
    elif isinstance(value, int):
        held = field_of(_INT64, value)
    elif isinstance(value, str):
        held = field_of(_STRING, value)
    else:
        held = field_of(_BOOL_LIST, field_of(1, bytes(value)))
    return field_of(1, name) + held


@dataclass
class RankWriter:
    """The trace of one rank: nodes are added one after the other, and their numbers returned."""

    body: bytes = field(default_factory=lambda: framed(field_of(1, "0.0.4")))
    count: int = 0

    def add(
        self,
        kind: int,
        name: str,
        deps: Sequence[int] = (),
        *,
        micros: int = 0,
        control: Sequence[int] = (),
        inputs: str = "",
        id: int | None = None,
        **attributes: int | str | bool | Sequence[bool],
    ) -> int:
        """Add a node; `id` is its number, if it is not the next one."""
        number = self.count if id is None else id
        self.count = max(self.count, number) + 1
        node = field_of(1, number) + field_of(2, name) + field_of(3, kind)
        if control:
            node += field_of(4, b"".join(varint(one) for one in control))
        node += b"".join(field_of(5, one) for one in deps)
        if micros:
            node += field_of(7, micros)
        if inputs:
            node += field_of(8, field_of(1, inputs))
        for key, value in attributes.items():
            node += field_of(10, attribute(key, value))
        self.body += framed(node)
        return number

    def compute(self, micros: int, *deps: int, name: str = "compute") -> int:
        """Add a computation of the GPU."""
        return self.add(COMP, name, deps, micros=micros, is_cpu_op=False)

    def collective(self, kind: int, size_bytes: int, *deps: int, pg_name: str = "") -> int:
        """Add a collective."""
        if not pg_name:
            return self.add(COLL, "collective", deps, comm_type=kind, comm_size=size_bytes, is_cpu_op=False)
        return self.add(COLL, "collective", deps, comm_type=kind, comm_size=size_bytes, pg_name=pg_name)

    def send(self, dst: int, size_bytes: int, *deps: int, tag: int = 0) -> int:
        """Add a send."""
        return self.add(SEND, "send", deps, comm_dst=dst, comm_size=size_bytes, comm_tag=tag, is_cpu_op=False)

    def receive(self, src: int, size_bytes: int, *deps: int, tag: int = 0) -> int:
        """Add a receive."""
        return self.add(RECV, "receive", deps, comm_src=src, comm_size=size_bytes, comm_tag=tag, is_cpu_op=False)


def write_ranks(directory: Path, ranks: Sequence[RankWriter], prefix: str = "job") -> Path:
    """Write the files of all ranks; returns their prefix."""
    directory.mkdir(exist_ok=True)
    for rank, writer in enumerate(ranks):
        (directory / f"{prefix}.{rank}.et").write_bytes(writer.body)
    return directory / prefix


def data_parallel(
    ranks: int, layers: int, iterations: int, *, forward: int, backward: int, bucket: int
) -> list[RankWriter]:
    """Return a data-parallel training: the all-reduce of each layer's gradients overlaps with the next backward pass.

    `forward` and `backward` are the microseconds of a layer, `bucket` the bytes of its gradients.
    """
    writers = [RankWriter() for _ in range(ranks)]
    for writer in writers:
        updated: list[int] = []
        for _ in range(iterations):
            last = writer.compute(forward, *updated, name="forward 0")
            for layer in range(1, layers):
                last = writer.compute(forward, last, name=f"forward {layer}")
            updated = []
            for layer in reversed(range(layers)):
                last = writer.compute(backward, last, name=f"backward {layer}")
                updated.append(writer.collective(ALL_REDUCE, bucket, last))
    return writers


def pipeline(stages: int, micro_batches: int, *, forward: int, backward: int, size_bytes: int) -> list[RankWriter]:
    """Return a pipeline (GPipe) of one iteration: all micro-batches forward, then all backward."""
    writers = [RankWriter() for _ in range(stages)]
    for stage, writer in enumerate(writers):
        computed = []
        for batch in range(micro_batches):
            deps = [writer.receive(stage - 1, size_bytes, tag=batch)] if stage else []
            computed.append(writer.compute(forward, *deps, name=f"forward {batch}"))
            if stage < stages - 1:
                writer.send(stage + 1, size_bytes, computed[-1], tag=batch)
        for batch in range(micro_batches):
            deps = [computed[batch]]
            if stage < stages - 1:
                deps.append(writer.receive(stage + 1, size_bytes, tag=batch))
            done = writer.compute(backward, *deps, name=f"backward {batch}")
            if stage:
                writer.send(stage - 1, size_bytes, done, tag=batch)
    return writers
