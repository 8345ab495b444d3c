"""The `routing` section of an experiment: how switches come by their routes,
and how they notice that a neighbour is gone."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.formats import ranges
from fabriclab.keys.mappings import Key, Keys
from fabriclab.keys.quantities import FALSE_WORDS, TRUE_WORDS, Number, Quantity
from fabriclab.keys.values import Either, Word
from fabriclab.lab.reading.section import Section, Written
from fabriclab.units import DURATION, format_duration

AS_CONFIGURED = "as-configured"
"""Addresses and routes are what the nodes' own files make of them."""
_S, _MS = 10**9, 10**6
_TIMER = ranges.TIMER_S.most * _S
"""BGP's hold time has 16 bits (RFC 4271, section 4.2)."""
BFD_DEFAULT_NS = 300 * _MS
"""FRR's own interval (bfdd, BFD_DEFDESIREDMINTX)."""
STILL_NS = 10 * _S
SLOW_STILL_NS = 50 * _S
"""OSPF elects a designated router when a neighbour may be dead, after 40 s (RFC 2328, section 9.4)."""
_IN_SECONDS = "in which BGP counts"

PROTOCOL = Key(
    "protocol",
    Word[str](("static", "bgp-unnumbered", "bgp-numbered", AS_CONFIGURED)),
    "Static routes, BGP on every switch (FRR, RFC 7938), or the routing that the nodes' own files configure.",
    default="static",
)
MAX_PATHS = Key(
    "max_paths",
    Number(*ranges.PATHS),
    "The largest number of equal-cost next hops of a route.",
    default=64,
)
KEEPALIVE = Key(
    "keepalive",
    Quantity(DURATION, _S, _TIMER, "RFC 4271, section 4.2", _S, _IN_SECONDS),
    "The interval between the keepalive messages of a BGP session, in whole seconds.",
    default=3 * _S,
)
HOLD = Key(
    "hold",
    Quantity(DURATION, 3 * _S, _TIMER, "RFC 4271, section 4.2", _S, _IN_SECONDS),
    "The hold time: a BGP session ends after this time without a message. In whole seconds; at least three times "
    "`keepalive`.",
    default=9 * _S,
    source="FRR: `frr defaults datacenter`",
)
BFD: Key[int | None] = Key(
    "bfd",
    Either(
        (
            Word[int | None](
                ("off", "on"),
                aliases={**dict.fromkeys(TRUE_WORDS, "on"), **dict.fromkeys(FALSE_WORDS, "off")},
                meanings={"off": None, "on": BFD_DEFAULT_NS},
            ),
            # From FRR's lower bound (`transmit-interval`) to a bound of ours.
            Quantity(DURATION, *ranges.BFD_INTERVAL, step=_MS, why_step="in which BFD is configured"),
        ),
        "is not an interval for BFD; write whole milliseconds such as 50 ms, on or off",
    ),
    "Whether BFD watches the neighbours, and its interval in whole milliseconds.",
    default=None,
    examples=("50 ms",),
)
BFD_MULTIPLIER = Key(
    "bfd_multiplier",
    Number(*ranges.MISSED, why="missed packets after which a neighbour is gone"),
    "The number of missed packets after which a neighbour counts as gone.",
    default=3,
    source="FRR: bfdd, BFD_DEFDETECTMULT",
)
CONVERGENCE_LIMIT = Key(
    "convergence_limit",
    Quantity(DURATION, *ranges.CONVERGENCE),
    "The longest time that the traffic waits until every switch has every route.",
    default=30 * 10**9,
)
STILL = Key(
    "still",
    Quantity(DURATION, *ranges.STILL),
    "As configured: the traffic starts when no route has changed for this time.",
    unset="10 s; 50 s with OSPF, IS-IS or RIP, which wait that long for neighbours",
    examples=("10 s",),
)
ROUTING = Keys(
    "routing",
    "How switches get their routes",
    (PROTOCOL, MAX_PATHS, KEEPALIVE, HOLD, BFD, BFD_MULTIPLIER, CONVERGENCE_LIMIT, STILL),
)


@dataclass(frozen=True)
class WrittenRouting:
    """What an experiment says of routing; None: nothing. Times in nanoseconds."""

    protocol: Written[str] | None = None
    max_paths: Written[int] | None = None
    keepalive: Written[int] | None = None
    hold: Written[int] | None = None
    bfd: Written[int | None] | None = None
    """The interval; None within: off."""
    bfd_multiplier: Written[int] | None = None
    convergence_limit: Written[int] | None = None
    still: Written[int] | None = None


def read_routing(root: Section) -> WrittenRouting:
    """Return the section; what is wrong is recorded."""
    section = root.section("routing", ROUTING)
    if section is None:
        return WrittenRouting()
    routing = section.fill(WrittenRouting, ROUTING)
    _check_timers(routing, section)
    return routing


def _check_timers(routing: WrittenRouting, section: Section) -> None:
    keepalive, hold = KEEPALIVE.or_default(routing.keepalive), HOLD.or_default(routing.hold)
    wrong = routing.hold or routing.keepalive
    if wrong is not None and hold < 3 * keepalive:
        message = (
            f"hold {format_duration(hold)} is less than three times keepalive {format_duration(keepalive)} (RFC 4271, "
            "section 10)"
        )
        wrong.complain(section.problems, f"{message}; one lost packet must not end a session")
