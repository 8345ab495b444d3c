"""A user's own qdisc: one C file, written like Linux's sch_*.c, that becomes a module of the machine's kernel.

Its file says how options are told to it: include/net/own_qdisc.h in the machine's kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fabriclab.constraints import ALGORITHM_NAME, matching
from fabriclab.qdiscs.qdisc import Counter, Qdisc, Room

QDISC_OPTIONS = matching("words and values such as 'limit 100'", r"(?:[A-Za-z0-9_.:+-]+(?: +|$))*", 200)


@dataclass(frozen=True, kw_only=True)
class Own(Qdisc):
    """A qdisc that the user brings."""

    kind: Literal["own"] = "own"
    id: Annotated[str, ALGORITHM_NAME]
    """What it registers itself as."""
    options: Annotated[str, QDISC_OPTIONS] = ""
    """Pairs of a word and a value, as they are written."""

    name: ClassVar[str] = "own"
    counts_marks: ClassVar[tuple[Counter, ...]] = (Counter(0),)
    """`marks` of struct own_xstats; one that does not show them has unknown marks."""

    @property
    def identity(self) -> str:
        """The file that it is of counts as well."""
        return f"{self.kind} {self.id}"

    @property
    def marks(self) -> bool:
        """Whether it marks is for its file to say: it may."""
        return True

    def tc(self, room: Room) -> str:
        """Return its words for the machine's own reader of tc.batch: tc knows no such qdisc."""
        return f"own {self.id} buffer {room.limit_bytes} {self.options}".strip()
