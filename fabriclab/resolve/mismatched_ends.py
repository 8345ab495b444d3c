"""Settings that need both ends of a connection, and hosts whose two ends say different things: a sentence for each,
with file and line.

ECN comes of a handshake (net/ipv4/tcp_input.c, tcp_ecn_create_request): who opens the connection asks for it, by
`ecn: on` or DCTCP, and the other end accepts unless its ECN is off. But DCTCP's SYN is itself ECN-capable (RFC 8257,
section 3.5), and Linux refuses ECN to such a one where the listener does not run DCTCP too. A host whose congestion
control nobody wrote does (`Transport.answers_dctcp`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from fabriclab.formats.plan.node import Node, Transport
from fabriclab.formats.plan.traffic import Iperf3Traffic, Traffic
from fabriclab.lab.hosts.transport import WrittenTransport
from fabriclab.lab.reading.problems import Place
from fabriclab.lab.reading.section import Written

DCTCP = "dctcp"
ACCURATE = "accurate"
_MOST_NAMED = 6
_UNMARKED = "get no marks, only losses"
_ONE_MARK = "report one mark for each round trip, as in RFC 3168"


class _End(NamedTuple):
    """Hosts of which the same was written where it matters here."""

    written: WrittenTransport
    transport: Transport
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class _Gap:
    """What is wrong with some flows; `before` and `after` their names make a sentence."""

    before: str
    after: str


class _Flows(NamedTuple):
    """Whose flows they are: names in the order in which they were found."""

    traffic: dict[str, None]
    here: dict[str, None]
    """The ends whose setting it is, in the order they were found."""
    there: dict[str, None]


def ends_warnings(
    written: Mapping[str, WrittenTransport], nodes: Sequence[Node], traffic: Sequence[Traffic]
) -> tuple[str, ...]:
    """Return one sentence for each setting of a host that some of its flows do not get,
    because the other end does not do its part."""
    transports = {node.name: node.transport for node in nodes if node.transport is not None}
    found: dict[_Gap, _Flows] = {}
    for each in traffic:
        for mode, senders, receivers in each.directions(transports):
            for src, dst in product(_ends(senders, written, transports), _ends(receivers, written, transports)):
                for finding, here in _findings(each, mode, src, dst) if len({*src.hosts, *dst.hosts}) > 1 else ():
                    flows = found.setdefault(finding, _Flows({}, {}, {}))
                    flows.traffic.setdefault(each.name)
                    flows.here.update(dict.fromkeys(here.hosts))
                    flows.there.update(dict.fromkeys(dst.hosts if here is src else src.hosts))
    return (
        *(_sentence(finding, flows) for finding, flows in found.items()),
        *_limits_of_receivers(written, transports, traffic),
    )


def _ends(
    hosts: Iterable[str], written: Mapping[str, WrittenTransport], transports: Mapping[str, Transport]
) -> list[_End]:
    alike: dict[tuple[Any, ...], list[str]] = {}
    wanted = frozenset(hosts)
    for host in written:
        if host in wanted:
            of = written[host]
            has_mptcp = transports[host].mptcp is not None
            alike.setdefault((of.congestion_control, of.ecn, of.window_limit, has_mptcp), []).append(host)
    return [_End(written[names[0]], transports[names[0]], tuple(names)) for names in alike.values()]


def _findings(traffic: Traffic, mode: str, src: _End, dst: _End) -> Iterator[tuple[_Gap, _End]]:
    """Yield what is wrong with flows from one end to another, each with the end that it is said of."""
    opener, listener = (src, dst) if mode == "push" else (dst, src)
    unmarked = _without_ecn(traffic, src, opener, listener)
    if unmarked is not None:
        yield unmarked
    elif (opener.transport.ecn, listener.transport.ecn) in ((ACCURATE, "on"), (ACCURATE, "accept")):
        yield _Gap(_said(opener.written.ecn), f"{_ONE_MARK}; write ecn: accurate for the other end, too"), opener
    if traffic.carried_by.transport == "mptcp" and (src.transport.mptcp is None) != (dst.transport.mptcp is None):
        here = dst if src.transport.mptcp is None else src
        mptcp = here.written.mptcp
        place = "" if mptcp is None or mptcp.place is None else f"{short(mptcp.place)}: "
        yield _Gap(f"{place}only one end has mptcp", "have one subflow each; write mptcp for the other end, too"), here
    limit = src.written.window_limit
    # Over MPTCP the kernel keeps it, whatever program receives (patch 0025); TCP's window is opened by the kernel, and
    # held by replay.
    by_iperf3 = isinstance(traffic, Iperf3Traffic) and traffic.carrier.transport == "tcp"
    if by_iperf3 and limit is not None and limit.value is not None:
        yield _Gap(_said(limit), "do not obey it, because only replay's receivers do so, not iperf3's"), src


def _without_ecn(traffic: Traffic, src: _End, opener: _End, listener: _End) -> tuple[_Gap, _End] | None:
    """Return why ECN that an end wants is not negotiated."""
    if opener.transport.ecn == listener.transport.ecn == ACCURATE:
        return None
    control = traffic.carried_by.congestion_control
    by_iperf3 = isinstance(traffic, Iperf3Traffic)
    if not by_iperf3 and (control == DCTCP or (control is None and _both_run_dctcp(src, opener, listener))):
        return None
    # iperf3 sets a congestion control only when the handshake is over; replay's sockets have it before, and then it is
    # not DCTCP here.
    by_dctcp = [
        (by_iperf3 or control is None) and end.transport.congestion_control == DCTCP for end in (opener, listener)
    ]
    # Who asks for accurate ECN takes that of RFC 3168 (RFC 9768, section 3.1); who listens with it takes what is asked.
    asked = "on" if opener.transport.ecn == ACCURATE else opener.transport.ecn
    answered = "accept" if listener.transport.ecn == ACCURATE else listener.transport.ecn
    if by_dctcp[0]:
        return None if by_dctcp[1] else _refused(opener, listener)
    if {asked, answered} == {"off", "on"}:
        here = opener if asked == "off" else listener
        return _Gap(
            _said(here.written.ecn), f"{_UNMARKED}, because ecn of the other end is on; write accept or on"
        ), here
    if (asked, answered) == ("accept", "on"):
        says = _said(listener.written.ecn or listener.written.congestion_control)
        return _Gap(
            says, f"{_UNMARKED}, because the other end opens them and does not request ECN; write ecn: on for it, too"
        ), listener
    if by_iperf3 and control == DCTCP and asked != "on":
        says = f"traffic.{traffic.name}.congestion_control is dctcp"
        return _Gap(
            says,
            f"{_UNMARKED}, because iperf3 switches to DCTCP only after the handshake; write congestion_control: dctcp "
            "for both hosts",
        ), src
    return None


def _both_run_dctcp(src: _End, opener: _End, listener: _End) -> bool:
    """Return whether both ends run what the sender does, DCTCP."""
    return src.transport.congestion_control == DCTCP and all(
        end.transport.congestion_control == DCTCP or end.transport.answers_dctcp for end in (opener, listener)
    )


def _refused(opener: _End, listener: _End) -> tuple[_Gap, _End]:
    """Return what keeps a listener from DCTCP: the congestion control that was written for it, its ECN,
    or that nobody asks it to."""
    own = listener.written
    blamed = own.congestion_control or (own.ecn if listener.transport.ecn == "off" else None)
    runs = (
        f"the listening end runs {listener.transport.congestion_control}, with which Linux refuses ECN to DCTCP's SYN"
    )
    finding = _Gap(
        _said(blamed or opener.written.congestion_control), f"{_UNMARKED}, because {runs}; write dctcp for both ends"
    )
    return finding, opener if blamed is None else listener


def _limits_of_receivers(
    written: Mapping[str, WrittenTransport], transports: Mapping[str, Transport], traffic: Sequence[Traffic]
) -> Iterator[str]:
    """Yield window limits of hosts that send nothing: the limit is a sender's, though receivers keep it."""
    sending = frozenset(host for each in traffic for host in each.sending(transports))
    limits: dict[Written[int | None], list[str]] = {}
    for host, of in written.items():
        if of.window_limit is not None and of.window_limit.value is not None:
            limits.setdefault(of.window_limit, []).append(host)
    for limit, hosts in limits.items():
        if sending.isdisjoint(hosts):
            yield f"{_said(limit)}, but {_names(hosts)} sends no data, and the limit applies only to a host that sends"


def _said(written: Written[Any] | None) -> str:
    return "" if written is None else f"{short(written.place)}: {written.key} is {written.text}"


def short(place: Place) -> str:
    """Return the place without the directory, which is the lab's: a plan is the same wherever it was made."""
    return str(place) if place.line is None else f"{Path(place.file).name}:{place.line}"


def _sentence(finding: _Gap, flows: _Flows) -> str:
    named = ", ".join(f"traffic.{name}" for name in flows.traffic)
    return f"{finding.before}: flows of {named} between {_names(flows.here)} and {_names(flows.there)} {finding.after}"


def _names(hosts: Iterable[str]) -> str:
    every = list(hosts)
    return ", ".join(every) if len(every) <= _MOST_NAMED else f"{len(every)} hosts ({every[0]} to {every[-1]})"
