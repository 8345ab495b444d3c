"""A program of the user's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal

from fabriclab.constraints import Record
from fabriclab.formats import names, ranges
from fabriclab.formats.names import NodeName, Word
from fabriclab.formats.plan.traffic.record import Direction, TrafficRecord


@dataclass(frozen=True, kw_only=True)
class Awaited(Record):
    """What a program waits for: that another one has ended as it should, or that its node listens on a TCP port."""

    program: Annotated[str, names.TRAFFIC_NAME]
    port: Annotated[int, ranges.TCP_PORT] | None = None

    def __str__(self) -> str:
        """Return it as a lab writes it."""
        return self.program if self.port is None else f"{self.program}:{self.port}"


@dataclass(frozen=True, kw_only=True)
class ProgramTraffic(TrafficRecord):
    """A program that runs on a node. What it sends nobody knows beforehand: it has no flows."""

    kind: Literal["program"] = "program"
    node: NodeName
    argv: tuple[Word, ...]
    start_ns: Annotated[int, ranges.DURATION]
    """It starts then at the earliest: when what it waits for is there."""
    stop_ns: Annotated[int, ranges.LASTING] | None = None
    """It gets SIGTERM then; None: it ends by itself, or with the run."""
    after: tuple[Awaited, ...] = ()
    status: Annotated[int, ranges.STATUS] = 0
    """The exit status that means success."""
    environment: tuple[tuple[Annotated[str, names.VARIABLE_NAME], Word], ...] = ()
    dscp: Annotated[int, ranges.DSCP] = 0
    """Of all that it sends."""
    output: Annotated[str, names.OUTPUT_NAME] | None = None
    """A file of the run's `output/` for what it writes; None: its log."""
    serves: bool = False
    """Nobody waits for its end: it gets SIGTERM when all other traffic is complete."""
    packages: tuple[Annotated[str, names.PACKAGE_NAME], ...] = ()
    """Debian packages that its node needs for it."""
    jars: tuple[Annotated[str, names.JAR], ...] = ()
    """Java archives that its node needs for it, each `GROUP:ARTIFACT:VERSION[:CLASSIFIER]=SHA256`."""
    memory_bytes: Annotated[int, ranges.PROGRAM_MEMORY_BYTES]
    """So much of the machine's memory is there for it."""

    @property
    def flows(self) -> int:
        """It has none that the plan knows of."""
        return 0

    def sending(self, every: Iterable[str]) -> frozenset[str]:
        """Return nobody: no flow of the plan's is sent."""
        return frozenset()

    def directions(self, every: Iterable[str]) -> Iterator[Direction]:
        """Yield that somebody may send to its node."""
        yield Direction("push", frozenset(), frozenset((self.node,)))

    def programs(self) -> tuple[ProgramTraffic, ...]:
        """Return itself."""
        return (self,)

    def program_nodes(self) -> frozenset[str]:
        """Return the one node."""
        return frozenset((self.node,))

    def needed_packages(self) -> frozenset[str]:
        """Return its packages."""
        return frozenset(self.packages)

    def needed_jars(self) -> frozenset[str]:
        """Return its archives."""
        return frozenset(self.jars)
