"""What routers wait for after a link fails in silence: the hold timers of their own FRR configurations.

Sources of the defaults: FRR's bgpd/bgp_vty.c (holdtime, by profile), lib/libospf.h, isisd/isisd.h, and RFC 2453,
section 3.8.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.setup import Setup

_DATACENTER = re.compile(r"^frr defaults datacenter\b|^frr_profile=\"?datacenter", re.MULTILINE)
_BFD = re.compile(r"^ +(?:neighbor \S+ bfd|ip ospf bfd|ipv6 ospf6 bfd|isis bfd|ip rip bfd)\b", re.MULTILINE)


class _Timer(NamedTuple):
    """A timer of a routing protocol that tells that a neighbour is silent."""

    daemon: str
    called: str
    default_s: int
    datacenter_s: int
    set_by: re.Pattern[str]
    """What sets it; the last group is its seconds."""


_TIMERS = (
    _Timer("bgpd", "BGP's hold time", 180, 9, re.compile(r"^ +(?:neighbor \S+ )?timers (?:bgp )?\d+ (\d+)", re.M)),
    _Timer("ospfd", "OSPF's dead interval", 40, 40, re.compile(r"^ +ip ospf dead-interval (\d+)", re.M)),
    _Timer("ospf6d", "OSPFv3's dead interval", 40, 40, re.compile(r"^ +ipv6 ospf6 dead-interval (\d+)", re.M)),
    _Timer("isisd", "IS-IS's holding time", 30, 30, re.compile(r"(?!)")),
    _Timer("ripd", "RIP's timeout", 180, 180, re.compile(r"^ +timers basic \d+ (\d+)", re.M)),
)
_HELLO = re.compile(r"^ +isis hello-interval (?:level-\d )?(\d+)", re.MULTILINE)
_MULTIPLIER = re.compile(r"^ +isis hello-multiplier (?:level-\d )?(\d+)", re.MULTILINE)
_HELLO_S, _TIMES = 3, 10


def waited_for(plan: Plan, nodes: Iterable[str]) -> str:
    """Return what the routers among some nodes wait for until they know that a link is silent: `r1: BGP's hold time,
    180 s, no BFD`. Empty where none of them runs FRR with a protocol whose timer is known."""
    said: dict[str, list[str]] = {}
    for name in dict.fromkeys(nodes):
        setup = plan.node(name).setup
        words = "" if setup is None else _words(setup)
        if words:
            said.setdefault(words, []).append(name)
    return "; ".join(f"{', '.join(names)}: {words}" for words, names in said.items())


def _words(setup: Setup) -> str:
    text = "\n".join(file.text for file in setup.files if file.path.startswith("/etc/frr/"))
    text = text.replace("dead-interval minimal", "dead-interval 1")
    running = {daemon.name.partition("-")[0] for daemon in setup.daemons}
    waits = [f"{called}, {seconds} s" for called, seconds in _waits(text, running)]
    bfd = "with BFD" if _BFD.search(text) is not None and "bfdd" in running else "no BFD"
    return ", ".join([*waits, bfd]) if waits else ""


def _waits(text: str, running: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the timers of the daemons that run, with their seconds."""
    for timer in _TIMERS:
        if timer.daemon not in running:
            continue
        default_s = timer.datacenter_s if _DATACENTER.search(text) is not None else timer.default_s
        seconds = {int(value) for value in timer.set_by.findall(text)} or {default_s}
        if timer.daemon == "isisd":
            hello, times = _HELLO.findall(text), _MULTIPLIER.findall(text)
            seconds = {int(hello[-1] if hello else _HELLO_S) * int(times[-1] if times else _TIMES)}
        yield timer.called, " or ".join(map(str, sorted(seconds)))
