"""The nodes of an execution trace, whichever form its file has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

NODE_TYPES = (
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
)
"""By their numbers (mlcommons/chakra, schema/protobuf/et_def.proto, `NodeType`)."""
COLLECTIVE_TYPES = (
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
)
"""By their numbers (`CollectiveCommType` there)."""

Value = int | float | str | bytes | list[int]


class TraceNode(NamedTuple):
    """A node of one rank's trace."""

    place: int
    """Which message of its file it is; the metadata are the first."""
    id: int
    name: str
    type: str
    """Of NODE_TYPES."""
    depends: tuple[int, ...]
    """The nodes of this rank that must be done before, by data or by control."""
    duration_micros: int
    """0 where the trace has none."""
    inputs: str
    """The values of its inputs: of a METADATA_NODE the process groups."""
    attributes: Mapping[str, Value]

    def number(self, name: str) -> int | None:
        """Return an attribute that is a whole number; None where there is no such."""
        value = self.attributes.get(name)
        return value if isinstance(value, int) else None

    @property
    def on_cpu(self) -> bool:
        """Whether the host's processor does it, not the GPU."""
        return bool(self.number("is_cpu_op"))

    def __str__(self) -> str:
        return f"node {self.id} ({self.type} {self.name[:60]!r})"


class RankTrace(NamedTuple):
    """The trace of one rank."""

    rank: int
    file: str
    nodes: list[TraceNode]
