"""The stock qdiscs that a port's queue can be (`aqm: {kind: ...}`), a file each and a line in the list.

Its layers know the list only: `lab` reads the keys, the plan has the record, `compile` writes the words, the sampler is
told where the marks are, and a container's host is tried for it.
"""

from __future__ import annotations

from collections.abc import Mapping

from fabriclab.qdiscs.cake import Cake
from fabriclab.qdiscs.codel import Codel
from fabriclab.qdiscs.dualpi2 import DualPi2
from fabriclab.qdiscs.fq import Fq
from fabriclab.qdiscs.fq_codel import FqCodel
from fabriclab.qdiscs.fq_pie import FqPie
from fabriclab.qdiscs.keys import Option
from fabriclab.qdiscs.line import CLASSFUL, LINE, SWITCH_PORT_MARKS
from fabriclab.qdiscs.own import Own
from fabriclab.qdiscs.pie import Pie
from fabriclab.qdiscs.qdisc import Qdisc, Room, Stock

QDISCS: tuple[type[Qdisc], ...] = (
    Codel,
    FqCodel,
    Pie,
    FqPie,
    Fq,
    Cake,
    DualPi2,
)

KINDS: Mapping[str, type[Qdisc]] = {qdisc.kind: qdisc for qdisc in QDISCS}
AQM_WORDS: Mapping[str, Option] = {key.name: key for qdisc in QDISCS for key in qdisc.keys().values()}
"""All that may stand below `aqm` beside `kind`, whatever the kind."""
STOCK: Mapping[str, Stock] = {stock.kind: stock for stock in (*LINE, *(qdisc.stock() for qdisc in QDISCS))}
"""Every stock qdisc that a compiler emits."""

__all__ = [
    "AQM_WORDS",
    "CLASSFUL",
    "KINDS",
    "QDISCS",
    "STOCK",
    "SWITCH_PORT_MARKS",
    "Option",
    "Own",
    "Qdisc",
    "Room",
]
