"""What every kind of traffic says of itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

from fabriclab.constraints import ALGORITHM_NAME, Record
from fabriclab.formats import names, ranges
from fabriclab.formats.family import Family
from fabriclab.formats.names import NodeName
from fabriclab.formats.plan.traffic.drawn import Size

if TYPE_CHECKING:
    from fabriclab.formats.plan.traffic.program import ProgramTraffic

Carried = Literal["tcp", "mptcp", "roce", "homa"]
Connection = Literal["kept", "new"]
"""One connection of each pair carries all its flows, or each flow has its own."""
Mode = Literal["push", "pull", "read"]
"""Who asks: the sender, the receiver, or the receiver's NIC (RDMA READ)."""


@dataclass(frozen=True, kw_only=True)
class Carrier(Record):
    """What carries the flows of a traffic."""

    transport: Carried = "tcp"
    congestion_control: Annotated[str, ALGORITHM_NAME] | None = None
    """None: the host's."""
    dscp: Annotated[int, ranges.DSCP] = 0
    """Differentiated services code point of every packet, 0 to 63 (RFC 2474)."""
    ip: Family | None = None
    """The version of IP; None: 4 where the fabric has it, else 6."""


PLAIN = Carrier()


class Direction(NamedTuple):
    """Flows that some hosts may send to others."""

    mode: Mode
    """Who opens the connections: push, those that send; pull and read, those that receive."""
    senders: frozenset[str]
    receivers: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class TrafficRecord(Record):
    """A piece of traffic, with what the layers ask of any kind.

    A kind is a subclass in a file of its own, whose fields are the plan's JSON; what stands here is true of most kinds.
    """

    kind: str = ""
    name: Annotated[str, names.TRAFFIC_NAME]

    is_long: ClassVar[bool] = False
    """Whether its flows have no size, and so no completion time."""
    has_coflows: ClassVar[bool] = False
    """Whether its flows belong together in groups whose completion counts (`fabriclab.results.coflows`)."""
    is_job: ClassVar[bool] = False
    """Whether it is one job, all of whose phases together have a completion time."""

    @property
    def last_time_ns(self) -> int:
        """The last instant, in nanoseconds after the epoch, that the experiment names."""
        start_ns: int = getattr(self, "start_ns", 0)
        return start_ns if self.ends_ns is None else self.ends_ns

    @property
    def flows(self) -> int:
        """How many flows it is, at most or about."""
        raise NotImplementedError(f"{self.kind}: its record has no number of flows")  # every kind counts its own

    def sending(self, every: Iterable[str]) -> frozenset[str]:
        """Return the nodes that send data, whoever asks for them; `every` is all hosts of the plan."""
        raise NotImplementedError(f"{self.kind}: its record names no senders")  # every kind has its own

    def receiving(self) -> frozenset[str]:
        """Return the nodes that receive data, without those that are among `sending`, too."""
        return frozenset()

    def directions(self, every: Iterable[str]) -> Iterator[Direction]:
        """Yield which hosts may send to which, and who opens."""
        yield Direction(getattr(self, "mode", "push"), self.sending(every), self.receiving())

    @property
    def carried_by(self) -> Carrier:
        """What carries its flows; the default for one whose flows say it one by one."""
        carrier: Carrier = getattr(self, "carrier", PLAIN)
        return carrier

    @property
    def ends_ns(self) -> int | None:
        """When its last flow ends or begins by what the lab says, in nanoseconds after the epoch;
        None: when it is done."""
        return getattr(self, "stop_ns", None)

    @property
    def drawn_size(self) -> Size | None:
        """The sizes that its flows are drawn of; None where they are not drawn."""
        return None

    @property
    def has_deadline(self) -> bool:
        """Whether its flows have a deadline."""
        return getattr(self, "deadline_ns", None) is not None

    def programs(self) -> tuple[ProgramTraffic, ...]:
        """Return the programs that it starts after the epoch, each with a record of when it ran."""
        return ()

    def program_nodes(self) -> frozenset[str]:
        """Return the nodes on which it runs programs other than ours."""
        return frozenset()

    def needed_packages(self) -> frozenset[str]:
        """Return the Debian packages, beside those of the root file system, that those nodes need."""
        return frozenset()

    def needed_jars(self) -> frozenset[str]:
        """Return the Java archives that those nodes need, each `GROUP:ARTIFACT:VERSION[:CLASSIFIER]=SHA256`."""
        return frozenset()

    def contradictions(self) -> Iterator[str]:
        """Yield what is wrong with it beyond single fields, each a text that goes on after its name in the plan."""
        yield from ()

    def long_flows(self) -> Counter[str]:
        """Return how many long flows our replay sends of each host: all may run at once."""
        return Counter()


@dataclass(frozen=True, kw_only=True)
class FanIn(TrafficRecord):
    """Traffic from several senders to one receiver."""

    senders: tuple[NodeName, ...]
    receiver: NodeName

    def sending(self, every: Iterable[str]) -> frozenset[str]:
        """Return the senders."""
        return frozenset(self.senders)

    def receiving(self) -> frozenset[str]:
        """Return the receiver."""
        return frozenset((self.receiver,))
