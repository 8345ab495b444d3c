"""What every stock qdisc says of itself: how a kernel is tried for it, and where it counts its marks.

One that can be a port's queue has keys and tc's words besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, get_args, get_origin, get_type_hints

from fabriclab.qdiscs.keys import Option

_LARGEST_NUMBER = 2**31
_MEMORY_FACTOR = 4
_NS_PER_US = 1000


class Counter(NamedTuple):
    """Where a qdisc's own statistics (TCA_STATS_APP, include/uapi/linux/pkt_sched.h) have a counter."""

    at: int = 0
    """Offset in bytes."""
    bytes: int = 4
    within: tuple[int | None, ...] = ()
    """The nested attributes that lead to it, by number; None: all of that level, whose counters are added."""


class Stock(NamedTuple):
    """A qdisc of Linux's own."""

    kind: str
    trial: str
    """Words for tc with which a kernel is tried for it."""
    marks: tuple[Counter, ...] | None
    """What adds up to its ECN marks; (): it never marks. None: unknown, as of what holds other qdiscs."""


class Room(NamedTuple):
    """What a port has for its queue."""

    limit_bytes: int
    largest_frame_bytes: int
    """As the kernel counts it, with the Ethernet header."""

    @property
    def packets(self) -> int:
        """As many frames of full size as the bytes hold, at least one: for a limit that counts packets.

        A small one takes the same room.
        """
        return max(1, self.limit_bytes // self.largest_frame_bytes)

    @property
    def memory_bytes(self) -> int:
        """A bound of the kernel's memory that a bound of packets is always below:
        a full frame takes less than twice its length."""
        return min(_MEMORY_FACTOR * self.limit_bytes, _LARGEST_NUMBER)


class Said(Protocol):
    """A key's value as it was written."""

    @property
    def value(self) -> Any:
        """What the key means, in words."""

    @property
    def text(self) -> str:
        """How it stands in the file."""


@dataclass(frozen=True, kw_only=True)
class Qdisc:
    """A stock qdisc as the queue of a port, with all that it can be told: a record of the plan.

    A kind is a subclass in a file of its own. Its fields are the keys of `aqm`, each with the default that holds where
    nothing is written.
    """

    kind: str = ""

    name: ClassVar[str]
    """What people call it."""
    counts_marks: ClassVar[tuple[Counter, ...]]
    """What adds up to its ECN marks; (): it never marks."""
    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid"}

    @property
    def identity(self) -> str:
        """What can't change while packets stand in it."""
        return self.kind

    @property
    def marks(self) -> bool:
        """Whether it marks packets that can be marked."""
        return bool(getattr(self, "ecn", False))

    def tc(self, room: Room) -> str:
        """Return its words for tc."""
        raise NotImplementedError(f"{self.kind}: its file has no tc()")  # every kind has its own words

    @classmethod
    def contradictions(cls, written: Mapping[str, Said]) -> Iterable[tuple[str, str]]:
        """Yield each key that contradicts another one, and the predicate that says so of its value."""
        return ()

    @classmethod
    def stock(cls) -> Stock:
        """Return it as one of the stock qdiscs."""
        return Stock(cls.kind, cls.kind, cls.counts_marks)

    @classmethod
    @cache
    def keys(cls) -> Mapping[str, Option]:
        """Return its keys by the names of its fields."""
        hints = get_type_hints(cls, include_extras=True)
        annotated = {
            field.name: hints[field.name] for field in fields(cls) if get_origin(hints[field.name]) is Annotated
        }
        return {
            name: next(one for one in get_args(hint) if isinstance(one, Option)) for name, hint in annotated.items()
        }


def microseconds(time_ns: int) -> str:
    """Return a time as these qdiscs have it, in whole microseconds, at least one."""
    return f"{max(1, round(time_ns / _NS_PER_US))}us"


def ecn_word(ecn: bool) -> str:
    """Return tc's word for marking, or for dropping."""
    return "ecn" if ecn else "noecn"


def not_below_interval(written: Mapping[str, Said]) -> Iterator[tuple[str, str]]:
    """Yield what CoDel says of a target that is as long as its interval."""
    target, interval = written.get("target"), written.get("interval")
    if target and interval and target.value >= interval.value:
        yield "target", f"is not below interval, {interval.text}; CoDel wants 5 % to 10 % of it (RFC 8289, section 4.4)"
