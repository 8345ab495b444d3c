"""The transports of hosts as written: which keys there are, their bounds, and how `default`,
ranges and names combine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from fabriclab.formats import ranges
from fabriclab.lab.hosts.mptcp import WrittenMptcp, read_mptcp
from fabriclab.lab.hosts.nic import WrittenNic, check_nic, read_nic
from fabriclab.lab.ports.aqm import WrittenAqm, check_aqm, override_aqm, read_aqm
from fabriclab.lab.ports.buffer import LARGEST_BUFFER_BYTES
from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.reading.kernel_names import kernel_congestion_controls
from fabriclab.lab.reading.names import Names, expand_hosts
from fabriclab.lab.reading.or_none import NONE, override_part
from fabriclab.lab.reading.problems import shown
from fabriclab.lab.reading.section import FALSE_WORDS, TRUE_WORDS, Section, Written

CONGESTION_CONTROLS = (
    *("reno", "cubic", "dctcp", "htcp", "bic", "bbr", "vegas", "westwood", "nv"),
    *("cdg", "yeah", "illinois", "veno", "scalable", "highspeed", "hybla", "lp", "lia", "dx"),
)
"""The congestion controls of the machine's kernel (net/ipv4/Kconfig), and ours: `lia` (net/mptcp/lia.c), `dx`
(net/ipv4/tcp_dx.c)."""

HOST_KEYS = (
    *("congestion_control", "ecn", "rto_min", "delayed_ack", "initial_window", "window_limit"),
    *("receive_buffer", "send_buffer", "queue", "aqm", "mptcp", "nic"),
    "timestamp_error",
)

ECN_WORDS = ("off", "on", "accept", "accurate")
ECN_ALIASES = {**dict.fromkeys(TRUE_WORDS, "on"), **dict.fromkeys(FALSE_WORDS, "off")}
_US, _MS = 1_000, 1_000_000
SHORTEST_RTO_NS, LONGEST_RTO_NS = (bound_us * _US for bound_us in ranges.RTO_US)
"""The timer ticks once a millisecond; TCP_RTO_MAX, include/net/tcp.h."""
MOST_INITIAL_SEGMENTS = ranges.SEGMENTS.most
LARGEST_TIMESTAMP_ERROR_NS = ranges.TIMESTAMP_ERROR.most
"""tcp_delay_error_max of the kernel's patch 0070."""
SMALLEST_SOCKET_BUFFER = ranges.SOCKET_BUFFER_BYTES.least
"""One page: SK_MEM_QUANTUM, the first value of tcp_rmem and tcp_wmem (Documentation/networking/ip-sysctl.rst)."""


@dataclass(frozen=True)
class WrittenTransport:
    """What an experiment says of a host's TCP and of its ports' queue; None: nothing."""

    congestion_control: Written[str] | None = None
    ecn: Written[str] | None = None
    rto_min: Written[int] | None = None
    delayed_ack: Written[bool] | None = None
    initial_window: Written[int] | None = None
    window_limit: Written[int | None] | None = None
    receive_buffer: Written[int] | None = None
    send_buffer: Written[int] | None = None
    queue: Written[int] | None = None
    aqm: WrittenAqm | None = None
    mptcp: WrittenMptcp | None = None
    nic: WrittenNic | None = None
    timestamp_error: Written[int] | None = None


def read_hosts(hosts: Section, names: Names) -> Mapping[str, WrittenTransport]:
    """Return the transport of every host: `default`, then ranges in the order of the file,
    then its own name, key by key."""
    default = WrittenTransport()
    ranges: list[tuple[tuple[str, ...], WrittenTransport]] = []
    single: dict[str, WrittenTransport] = {}
    for name in hosts.names():
        section = hosts.section(name, HOST_KEYS)
        if section is None:
            continue
        transport = _read_host(section, names)
        if name == "default":
            default = transport
            continue
        place = hosts.mapping.key_place(name)
        try:
            named = expand_hosts(Written(name, hosts.path(name), name, place), names)
        except ValueError as error:
            hosts.problems.add(place, hosts.path(name), f"{error} (or 'default')", name)
            continue
        if named == (name,):
            single[name] = transport
        else:
            ranges.append((named, transport))
    every = dict.fromkeys(names.hosts, default)
    for named, transport in [*ranges, *(((name,), transport) for name, transport in single.items())]:
        for host in named:
            every[host] = _override_host(every[host], transport)
    for transport in every.values():
        check_aqm(transport.aqm, False, hosts.problems)
        check_nic(transport.nic, transport.aqm, hosts.problems)
    return every


def read_congestion_control(section: Section, names: Names) -> Written[str] | None:
    """Return the congestion control of a section, of an own one the name that it registers; what is wrong is recorded.

    A name that is not listed is right where the machine's kernel has it.
    """
    value, own = section.get("congestion_control"), names.own_names("congestion_control")
    known: tuple[str, ...] = CONGESTION_CONTROLS
    if isinstance(value, ScalarValue) and value.text.strip() not in (*known, *own):
        known = tuple(dict.fromkeys((*known, *kernel_congestion_controls())))
    return section.choice("congestion_control", known, own)


def _read_host(section: Section, names: Names) -> WrittenTransport:
    return WrittenTransport(
        congestion_control=read_congestion_control(section, names),
        ecn=section.choice("ecn", ECN_WORDS, ECN_ALIASES),
        rto_min=_rto_min(section),
        delayed_ack=section.flag("delayed_ack"),
        initial_window=section.count("initial_window", 1, MOST_INITIAL_SEGMENTS, "segments"),
        window_limit=section.read("window_limit", f"a number of segments, or '{NONE}'", _window_limit),
        receive_buffer=section.size("receive_buffer", SMALLEST_SOCKET_BUFFER, LARGEST_BUFFER_BYTES),
        send_buffer=section.size("send_buffer", SMALLEST_SOCKET_BUFFER, LARGEST_BUFFER_BYTES),
        queue=section.size("queue", 1, LARGEST_BUFFER_BYTES),
        aqm=read_aqm(section, names),
        mptcp=read_mptcp(section),
        nic=read_nic(section),
        timestamp_error=section.duration(
            "timestamp_error", 0, LARGEST_TIMESTAMP_ERROR_NS, "of delays that are measured"
        ),
    )


def _rto_min(section: Section) -> Written[int] | None:
    """Read RTOmin in nanoseconds: whole milliseconds, as the kernel's timer ticks,
    and at most TCP_RTO_MAX (include/net/tcp.h)."""
    rto_min = section.duration(
        "rto_min",
        SHORTEST_RTO_NS,
        LONGEST_RTO_NS,
        "the timer ticks once a millisecond; Linux's RTO never exceeds 120 s",
    )
    if rto_min is not None and rto_min.value % _MS:
        rto_min.complain(
            section.problems,
            f"{shown(rto_min.text)} is no whole number of milliseconds, in which the kernel's timer ticks",
        )
    return rto_min


def _window_limit(text: str) -> int | None:
    if text == NONE:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) == 0:
        raise ValueError(f"{shown(text)} is no window; write a whole number of segments from 1 on, or '{NONE}'")
    return int(text)


def _override_host(base: WrittenTransport, over: WrittenTransport) -> WrittenTransport:
    written = {field.name: value for field in fields(over) if (value := getattr(over, field.name)) is not None}
    parts = {"mptcp": override_part(base.mptcp, over.mptcp), "nic": override_part(base.nic, over.nic)}
    return replace(base, **{**written, "aqm": override_aqm(base.aqm, over.aqm), **parts})
