"""What knows flows of IPv4 alone, in a lab whose traffic goes over IPv6: a sentence for each, with file and line.

A card's pacer (HULL) and QCN's two ends tell flows apart by IPv4's header (`pacer.c`, `qcn_limiter.c`, `qcn_point.c` of
our kernel's `switch_port`); frames of IPv6 pass them untouched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabriclab.formats.family import Family
from fabriclab.formats.plan.node import Node
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.keys.wording import listed
from fabriclab.lab.hosts.transport import WrittenTransport
from fabriclab.lab.reading.problems import Place
from fabriclab.resolve.mismatched_ends import short

_MOST_NAMED = 6


def ipv4_only_warnings(
    hosts: Mapping[str, WrittenTransport],
    nodes: Sequence[Node],
    traffic: Sequence[Traffic],
    families: Sequence[Family],
) -> tuple[str, ...]:
    """Return a sentence for each pacer and each end of QCN past which traffic goes over IPv6."""
    over_ipv6 = [each for each in traffic if (each.carried_by.ip or families[0]) == 6]
    return (*_of_cards(hosts, over_ipv6), *_of_switches(nodes, over_ipv6)) if over_ipv6 else ()


def _of_cards(hosts: Mapping[str, WrittenTransport], traffic: Sequence[Traffic]) -> Iterator[str]:
    sending = frozenset(host for each in traffic for host in each.sending(hosts))
    found: dict[tuple[Place | None, str], list[str]] = {}
    for host, written in hosts.items():
        nic = written.nic
        if nic is None or host not in sending:
            continue
        for key, part in (("pacer", nic.pacer), ("qcn", nic.qcn)):
            if part is not None and not part.is_none:
                found.setdefault((nic.place, key), []).append(host)
    for (place, key), names in found.items():
        where = "" if place is None else f"{short(place)}: "
        does = "paces" if key == "pacer" else "slows"
        yield f"{where}nic.{key} of {_names(names)} {does} only flows over IPv4, but {_those(traffic)}"


def _of_switches(nodes: Sequence[Node], traffic: Sequence[Traffic]) -> Iterator[str]:
    found: dict[int, dict[str, None]] = {}
    for node in nodes:
        for port in node.ports:
            for queue in port.switch_port.queues if port.switch_port is not None else ():
                if queue.qcn is not None:
                    found.setdefault(queue.index, {})[node.name] = None
    for index, names in found.items():
        yield f"queues.{index}.qcn of {_names(list(names))} reaches only sources of IPv4 flows, but {_those(traffic)}"


def _those(traffic: Sequence[Traffic]) -> str:
    verb = "goes" if len(traffic) == 1 else "go"
    named = listed([f"traffic.{each.name}" for each in traffic])
    return f"{named} {verb} over IPv6; write ip: 4 for that traffic, or addresses: ipv4"


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _MOST_NAMED else f"{len(names)} of them ({names[0]} to {names[-1]})"
