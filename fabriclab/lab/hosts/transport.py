"""The transports of hosts and their MPTCP as written, and how `default`, ranges and names combine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from fabriclab.keys.values import Word
from fabriclab.lab.hosts.keys import CONGESTION_CONTROLS, HOST, MPTCP
from fabriclab.lab.hosts.nic import WrittenNic, check_nic, read_nic
from fabriclab.lab.ports.aqm import WrittenAqm, check_aqm, override_aqm, read_aqm
from fabriclab.lab.reading.document import ScalarValue
from fabriclab.lab.reading.kernel_names import kernel_congestion_controls
from fabriclab.lab.reading.names import Names, expand_hosts
from fabriclab.lab.reading.or_none import Part, override_part, read_part
from fabriclab.lab.reading.problems import Place
from fabriclab.lab.reading.section import Section, Written


@dataclass(frozen=True)
class WrittenMptcp(Part):
    """What an experiment says of a host's MPTCP; None: nothing. With `is_none` it says that there is none."""

    subflows: Written[int] | None = None
    scheduler: Written[str] | None = None
    path_manager: Written[str] | None = None
    add_addr_accepted: Written[int] | None = None
    place: Place | None = field(default=None, compare=False)
    """Where it is written."""


def read_mptcp(host: Section) -> WrittenMptcp | None:
    """Return the `mptcp` of a host's section; None when it is absent or wrong."""
    return read_part(host, "mptcp", MPTCP, _read, WrittenMptcp(is_none=True))


def _read(section: Section) -> WrittenMptcp:
    return section.fill(WrittenMptcp, MPTCP, place=section.place)


@dataclass(frozen=True)
class WrittenTransport:
    """What an experiment says of a host's TCP and of its ports' queue; None: nothing."""

    congestion_control: Written[str] | None = None
    ecn: Written[str] | None = None
    rto_min: Written[int] | None = None
    delayed_ack: Written[bool] | None = None
    sack: Written[bool] | None = None
    initial_window: Written[int] | None = None
    window_limit: Written[int | None] | None = None
    receive_buffer: Written[int] | None = None
    send_buffer: Written[int] | None = None
    queue: Written[int] | None = None
    aqm: WrittenAqm | None = None
    mptcp: WrittenMptcp | None = None
    nic: WrittenNic | None = None
    timestamp_error: Written[int] | None = None
    rdma: Written[bool] | None = None
    rdma_dscp: Written[int] | None = None


def read_hosts(hosts: Section, names: Names) -> Mapping[str, WrittenTransport]:
    """Return the transport of every host: `default`, then ranges in the order of the file,
    then its own name, key by key."""
    default = WrittenTransport()
    ranges: list[tuple[tuple[str, ...], WrittenTransport]] = []
    single: dict[str, WrittenTransport] = {}
    for name in hosts.names():
        section = hosts.section(name, HOST)
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
    return section.value("congestion_control", Word[str](known, aliases=own))


def _read_host(section: Section, names: Names) -> WrittenTransport:
    return section.fill(
        WrittenTransport,
        HOST,
        congestion_control=read_congestion_control(section, names),
        aqm=read_aqm(section, names),
        mptcp=read_mptcp(section),
        nic=read_nic(section, names),
    )


def _override_host(base: WrittenTransport, over: WrittenTransport) -> WrittenTransport:
    written = {field.name: value for field in fields(over) if (value := getattr(over, field.name)) is not None}
    parts = {"mptcp": override_part(base.mptcp, over.mptcp), "nic": override_part(base.nic, over.nic)}
    return replace(base, **{**written, "aqm": override_aqm(base.aqm, over.aqm), **parts})
