"""What `fabriclab sonic reach` does: asks configurations who reaches what, and tells it as text, JSON or JUnit XML."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal

from fabriclab.cli.host.failure import FAILED, OK, BadInputError
from fabriclab.cli.text.junit import JunitCase, write_junit
from fabriclab.formats.family import is_within
from fabriclab.keys.wording import did_you_mean, listed
from fabriclab.units import format_count
from fabriclab.vendors.sonic.commands.import_fabric import given
from fabriclab.vendors.sonic.fabric.forwarding import Part
from fabriclab.vendors.sonic.fabric.reach import Reach, ReachFinding, Way
from fabriclab.vendors.sonic.fabric.routing import Destination, routings
from fabriclab.vendors.sonic.fabric.view import View, read_view
from fabriclab.vendors.sonic.fabric.vrf_view import by_vrf, part_ends, switch_of
from fabriclab.vendors.sonic.fabric.wanted import HOSTS, Wanted, read_wanted, usual
from fabriclab.vendors.sonic.lab.cabling import read_cabling
from fabriclab.vendors.sonic.lab.fabric_switches import End

FORMAT = "fabriclab-sonic-reach-1"
_SUITE = "fabriclab sonic reach"
_MOST_SHOWN = 10


@dataclass(frozen=True)
class Question:
    """What is asked."""

    wanted: Path | None
    source: str | None
    to: str | None
    without: tuple[str, ...]
    cables: tuple[Path, ...]


@dataclass(frozen=True)
class Outputs:
    """How the answer is told, and what is a failure."""

    output: Literal["text", "json"]
    junit: Path | None
    accept_not_judged: bool


def reach(files: Sequence[Path], question: Question, outputs: Outputs) -> int:
    """Answer, and return the exit status."""
    view = read_view(given(files), read_cabling(question.cables))
    answer = Reach(routings(by_vrf(view), part_ends(view, _dead(view, question.without))))
    if question.source is not None or question.to is not None:
        return _tell_ways(answer, question)
    wanted = usual(answer.networks) if question.wanted is None else read_wanted(question.wanted, answer.networks)
    findings = answer.judged(_without_down(wanted, question.without))
    if outputs.output == "json":
        sys.stdout.write(json.dumps(_document(answer, findings), indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(answer, findings)))
    if outputs.junit is not None:
        write_junit(outputs.junit, _SUITE, [_case(answer, one) for one in findings])
    if any(one.breaches or not one.pairs for one in findings):
        return FAILED
    return FAILED if answer.not_judged and not outputs.accept_not_judged else OK


def _dead(view: View, without: Sequence[str]) -> frozenset[End]:
    """Return the ends of the links that are to be down. Raises BadInputError."""
    ends: set[End] = set()
    for word in without:
        name, _, port = word.partition(":")
        if name not in view.fabric.switches:
            hint = did_you_mean(name, view.fabric.switches)
            raise BadInputError(f"--without {word!r}: no such switch; {hint}")
        found = [end for end in view.far if end.switch == name and port in ("", end.port)]
        if not found:
            there = listed(end.port for end in view.far if end.switch == name)
            raise BadInputError(
                f"--without {word!r}: no link of the fabric is there; {name} has links at {there or 'none'}"
            )
        ends.update(found)
    return frozenset(ends)


def _without_down(wanted: Sequence[Wanted], without: Sequence[str]) -> list[Wanted]:
    """Return the demands without switches that are to be down, where nobody names what is wanted."""
    down = {word for word in without if ":" not in word}
    return [
        replace(
            one,
            sources=tuple(name for name in one.sources if switch_of(name) not in down),
            destinations=tuple(each for each in one.destinations if switch_of(each.owner) not in down),
        )
        for one in wanted
    ]


def _verdict(answer: Reach, one: ReachFinding) -> str:
    if one.breaches or not one.pairs:
        return "fail"
    return "not judged" if answer.not_judged else "pass"


def _demand(one: Wanted) -> str:
    """Return a demand in words."""
    to = {HOSTS: "all networks of hosts"}.get(one.to, one.to)
    to += "" if not one.vrf else f" of {one.vrf}"
    to += "" if one.family is None else f", IPv{one.family}"
    widths = [f"{count} {what}" for count, what in ((one.next_hops, "next hops"), (one.paths, "paths")) if count]
    verbs = {
        "reach": f"{one.words} to {to}",
        "unreachable": f"{one.words} not to {to}",
        "waypoint": f"{one.words} to {to} through {listed(one.through)}",
        "width": f"{one.words} to {to} over at least {' and '.join(widths)}",
    }
    return verbs[one.kind]


def _lines(answer: Reach, findings: Sequence[ReachFinding]) -> Iterator[str]:
    view = answer.view
    switches = {switch_of(name) for name in view.fabric.switches}
    yield (
        f"{format_count(len(switches), 'switch')}, {format_count(len(view.links), 'link')} between them, "
        f"{format_count(answer.sessions, 'session')} up, {format_count(len(answer.destinations), 'network')}"
    )
    for one in findings:
        kept = one.pairs - len(one.breaches) - len(one.unknown)
        yield f"{_verdict(answer, one):10}  {one.wanted.kind:11}  {_demand(one.wanted)}: {kept} of {one.pairs} pairs"
        yield from _told(one)
    yield "ways of all switches to networks of hosts:"
    counts = Counter(_shape(way) for way in answer.ways() if not way.destination.is_loopback)
    yield from (f"  {count:6}  {shape}" for shape, count in sorted(counts.items(), key=lambda pair: -pair[1]))
    if answer.unrouted6:
        networks = format_count(answer.unrouted6, "network")
        yield f"{networks} of hosts with IPv6 not asked for: no session carries routes of IPv6"
    for each in answer.not_judged:
        yield f"not judged: {each.sentence}"


def _shape(way: Way) -> str:
    fate = way.fate
    if not fate.paths:
        return "do not arrive"
    links = str(fate.shortest) if fate.shortest == fate.longest else f"{fate.shortest} to {fate.longest}"
    lost = "" if fate.lost is None else "; others are lost"
    return f"{format_count(fate.width, 'next hop')}, {format_count(fate.paths, 'path')} of {links} links{lost}"


def _told(one: ReachFinding) -> Iterator[str]:
    """Yield the breaches, those of one network with one reason together, and what is not known."""
    for each in one.unknown[:_MOST_SHOWN]:
        yield f"    {each.source} to {each.destination}: not known: routes of VPNs and other VRFs are not calculated"
    groups: dict[tuple[str, str], list[str]] = {}
    for breach in one.breaches:
        why = breach.why.replace(f"at {breach.source}:", "there:").replace(f"at {breach.source} (", "there (")
        groups.setdefault((str(breach.destination), why), []).append(breach.source)
    for (destination, why), sources in list(groups.items())[:_MOST_SHOWN]:
        yield f"    {listed(sources)} to {destination}: {why}"
    if len(groups) > _MOST_SHOWN:
        yield f"    and {len(groups) - _MOST_SHOWN} more (--format json has all)"
    if not one.pairs:
        yield "    no pair is meant: nothing was judged"


def _case(answer: Reach, one: ReachFinding) -> JunitCase:
    name, verdict = _demand(one.wanted), _verdict(answer, one)
    if verdict == "not judged":
        return JunitCase(_SUITE, name, skipped="; ".join(each.sentence for each in answer.not_judged))
    return JunitCase(_SUITE, name, failure="\n".join(_told(one)).strip() if verdict == "fail" else None)


def _document(answer: Reach, findings: Sequence[ReachFinding]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "switches": len({switch_of(name) for name in answer.view.fabric.switches}),
        "links": len(answer.view.links),
        "sessions": answer.sessions,
        "wanted": [
            {
                "kind": one.wanted.kind,
                "demand": _demand(one.wanted),
                "place": None if one.wanted.place is None else str(one.wanted.place),
                "verdict": _verdict(answer, one),
                "pairs": one.pairs,
                **({"unknown": len(one.unknown)} if one.unknown else {}),
                "breaches": [
                    {"from": each.source, "to": str(each.destination.network), "why": each.why} for each in one.breaches
                ],
            }
            for one in findings
        ],
        "ways": [_way(one) for one in answer.ways()],
        "not_judged": [one.sentence for one in answer.not_judged],
    }


def _way(way: Way) -> dict[str, Any]:
    fate = way.fate
    return {
        "from": way.source,
        "to": str(fate.part),
        "owner": way.destination.owner,
        "next_hops": fate.width,
        "paths": fate.paths,
        "links": [fate.shortest, fate.longest] if fate.paths else None,
        "lost": None if fate.lost is None else fate.lost._asdict(),
    }


def _tell_ways(answer: Reach, question: Question) -> int:
    """Tell, for one network or one switch, what each switch on the way does."""
    names = answer.view.fabric.switches
    if question.source is not None and question.source not in names:
        raise BadInputError(f"--from {question.source!r}: no such switch; {did_you_mean(question.source, names)}")
    arrives = True
    for destination in _asked(answer, question.to):
        for part in answer.parts(destination):
            sources = [question.source] if question.source is not None else sorted(set(names) - part.owners)
            sys.stdout.write(f"to {destination}{'' if part.network == destination.network else f', {part.network}'}\n")
            for line in _steps(part, sources):
                sys.stdout.write(f"  {line}\n")
            arrives = arrives and all(part.fate(source).lost is None for source in sources)
    return OK if arrives else FAILED


def _asked(answer: Reach, to: str | None) -> list[Destination]:
    if to is None:
        return list(answer.destinations)
    try:
        network = ip_network(to, strict=False)
    except ValueError as error:
        raise BadInputError(f"--to {to!r}: is not an address or prefix, such as 10.0.2.7 or 2001:db8::/64") from error
    around = [one for one in answer.destinations if is_within(network, one.network)]
    inside = [one for one in answer.destinations if is_within(one.network, network)]
    found = [Destination(network, one.owner, one.interface, one.is_loopback) for one in around] or inside
    if not found:
        raise BadInputError(f"--to {to!r}: no switch of the fabric has a network there")
    return list({one.network: one for one in reversed(found)}.values())


def _steps(part: Part, sources: Sequence[str]) -> Iterator[str]:
    """Yield what each switch does that packets come to, in the order of the links."""
    told, frontier = dict.fromkeys(sources), list(sources)
    while frontier:
        name = frontier.pop(0)
        hops = part.hops.get(name)
        fate = part.fate(name)
        if name in part.owners:
            yield f"{name}: arrives"
        elif not hops:
            yield f"{name}: {'no route' if hops is None else 'a route that drops'}"
        else:
            ways = listed(f"{hop.switch} ({hop.interface})" for hop in hops)
            lost = "" if fate.lost is None else f"; lost at {fate.lost.switch}: {fate.lost.why}"
            yield f"{name}: {format_count(len(hops), 'next hop')}, {ways}{lost}"
            new = [hop.switch for hop in hops if hop.switch not in told]
            told |= dict.fromkeys(new)
            frontier += dict.fromkeys(new)
