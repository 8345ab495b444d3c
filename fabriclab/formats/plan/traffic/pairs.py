"""Who sends to whom, of many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fabriclab.constraints import Record
from fabriclab.formats import ranges
from fabriclab.formats.names import NodeName

Pattern = Literal["permutation", "random", "all-to-all", "in-rack", "out-of-rack", "hot-spot"]


@dataclass(frozen=True, kw_only=True)
class Pairs(Record):
    """Who sends to whom. A host never sends to itself.

    `permutation`: each sender has one receiver, each receiver at most one sender more than any other. `random`: drawn
    for each flow. `all-to-all`: each sender takes all receivers in turn, in an order of its own. `in-rack`,
    `out-of-rack`: drawn among those behind the same first switch, behind another. `hot-spot`: a share of the flows goes
    to the hot spots, the others at random to the rest.
    """

    pattern: Pattern
    senders: tuple[NodeName, ...]
    receivers: tuple[NodeName, ...]
    hot_spots: tuple[NodeName, ...] = ()
    hot_share_ppm: Annotated[int, ranges.PPM] = 0
