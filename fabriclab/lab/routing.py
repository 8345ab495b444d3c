"""The `routing` section of an experiment: how switches come by their routes,
and how they notice that a neighbour is gone."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.formats import ranges
from fabriclab.lab.reading.problems import shown
from fabriclab.lab.reading.section import FALSE_WORDS, TRUE_WORDS, Section, Written
from fabriclab.units import DURATION, format_duration, parse_quantity

AS_CONFIGURED = "as-configured"
"""Addresses and routes are what the nodes' own files make of them."""
PROTOCOLS = ("static", "bgp-unnumbered", "bgp-numbered", AS_CONFIGURED)
ROUTING_KEYS = ("protocol", "max_paths", "keepalive", "hold", "bfd", "bfd_multiplier", "convergence_limit", "still")
_S = 10**9
_MS = 10**6
LONGEST_TIMER_S = ranges.TIMER_S.most
"""BGP's hold time has 16 bits (RFC 4271, section 4.2)."""
SHORTEST_HOLD_NS = 3 * _S
BFD_BOUNDS_NS = ranges.BFD_INTERVAL
"""FRR's lower bound (`transmit-interval`), and a bound of ours."""
BFD_DEFAULT_NS = 300 * _MS
"""FRR's own interval (bfdd, BFD_DEFDESIREDMINTX)."""
FEWEST_MISSED, MOST_MISSED = ranges.MISSED
SHORTEST_CONVERGENCE_NS, LONGEST_CONVERGENCE_NS = ranges.CONVERGENCE
STILL_BOUNDS_NS = ranges.STILL
MOST_PATHS = ranges.PATHS.most
"""Debian builds FRR with `--enable-multipath=256`."""


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


def read_routing(root: Section, default_keepalive_s: int, default_hold_s: int) -> WrittenRouting:
    """Return the section; what is wrong is recorded.

    The defaults are what a timer that stands alone is compared with.
    """
    section = root.section("routing", ROUTING_KEYS)
    if section is None:
        return WrittenRouting()
    routing = WrittenRouting(
        protocol=section.choice("protocol", PROTOCOLS),
        max_paths=section.count("max_paths", 1, MOST_PATHS),
        keepalive=_whole_seconds(section, "keepalive", _S),
        hold=_whole_seconds(section, "hold", SHORTEST_HOLD_NS),
        bfd=section.read("bfd", "off, on, or an interval such as '50 ms'", _bfd),
        bfd_multiplier=section.count(
            "bfd_multiplier", FEWEST_MISSED, MOST_MISSED, "missed packets after which a neighbour is gone"
        ),
        convergence_limit=section.duration("convergence_limit", SHORTEST_CONVERGENCE_NS, LONGEST_CONVERGENCE_NS),
        still=section.duration("still", STILL_BOUNDS_NS[0], STILL_BOUNDS_NS[1]),
    )
    _check_timers(routing, section, default_keepalive_s * _S, default_hold_s * _S)
    return routing


def _whole_seconds(section: Section, name: str, least_ns: int) -> Written[int] | None:
    timer = section.duration(name, least_ns, LONGEST_TIMER_S * _S, "RFC 4271, section 4.2")
    if timer is not None and timer.value % _S:
        timer.complain(section.problems, f"{shown(timer.text)} is no whole number of seconds, in which BGP counts")
    return timer


def _bfd(text: str) -> int | None:
    if text.lower() in FALSE_WORDS:
        return None
    if text.lower() in TRUE_WORDS:
        return BFD_DEFAULT_NS
    interval = parse_quantity(text, DURATION)
    least, most = BFD_BOUNDS_NS
    if not least <= interval <= most or interval % _MS:
        bounds = f"{format_duration(least)} to {format_duration(most)}"
        raise ValueError(f"{shown(text)} is no interval for BFD; write whole milliseconds from {bounds}, on or off")
    return interval


def _check_timers(routing: WrittenRouting, section: Section, keepalive_ns: int, hold_ns: int) -> None:
    keepalive, hold = _value(routing.keepalive, keepalive_ns), _value(routing.hold, hold_ns)
    wrong = routing.hold or routing.keepalive
    if wrong is not None and hold < 3 * keepalive:
        message = (
            f"hold {format_duration(hold)} is less than three times keepalive {format_duration(keepalive)} (RFC 4271, "
            "section 10)"
        )
        wrong.complain(section.problems, f"{message}; one lost packet must not end a session")


def _value(written: Written[int] | None, default: int) -> int:
    return default if written is None else written.value
