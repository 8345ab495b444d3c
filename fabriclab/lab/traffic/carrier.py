"""What carries a piece of traffic: `transport`, `congestion_control`, `dscp`, `ip`; and whether its connections are
kept."""

from __future__ import annotations

from fabriclab.formats.family import FAMILIES, Family
from fabriclab.formats.plan.algorithm import HOMA
from fabriclab.formats.plan.traffic import Carried, Carrier, Connection
from fabriclab.lab.hosts.transport import read_congestion_control
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.section import Section, Written, value_of
from fabriclab.lab.traffic.keys import CONNECTION, DSCP, IP, MODULE, TRANSPORT


def read_carrier(section: Section, names: Names) -> Carrier:
    """Return what carries the flows."""
    transport = section.read(TRANSPORT)
    if transport is not None and transport.value == "roce":
        _check_roce(section, names, transport)
    is_homa = transport is not None and transport.value == "homa"
    if transport is not None and is_homa:
        _check_homa(section, names, transport)
    else:
        # It may stay where a parameter chooses the transport.
        section.read(MODULE)
    return Carrier(
        transport=TRANSPORT.or_default(transport),
        congestion_control=value_of(read_congestion_control(section, names)),
        dscp=read_dscp(section),
        ip=_read_family(section, names),
    )


def _check_roce(section: Section, names: Names, transport: Written[Carried]) -> None:
    """Record what a NIC decides that sends by itself, and what it can't send."""
    if "congestion_control" in section:
        section.complain(
            "congestion_control",
            "is TCP's; that of RoCE is the NIC's (hosts: ... nic.roce.congestion_control); remove the key",
        )
    _check_ipv4(section, names, transport, "RoCE", "goes over IPv4 only")


def _check_homa(section: Section, names: Names, transport: Written[Carried]) -> None:
    """Record what Homa decides itself, and what it lacks."""
    module = section.read(MODULE)
    name = None if module is None else names.own_names("transport").get(module.value.strip())
    if module is None:
        transport.complain(
            section.problems,
            "is homa, which Linux does not have; write module: and the directory, in the lab's directory, that has "
            "Homa's module for Linux",
        )
    elif name not in (None, "", HOMA):
        module.complain(section.problems, f"registers the protocol {name!r}; Homa's module registers {HOMA!r}")
    for key, whose in (("congestion_control", "TCP's"), ("dscp", "what Homa decides for each packet")):
        if key in section:
            section.complain(key, f"is {whose}; remove the key, or write another transport")
    _check_ipv4(section, names, transport, "Homa", "goes over IPv4 here")


def _check_ipv4(section: Section, names: Names, transport: Written[Carried], who: str, how: str) -> None:
    """Record that a traffic of IPv6, or a fabric without IPv4, can't have a transport that is over IPv4."""
    written = section.read(IP)
    # Where the fabric has no IPv6 that is said already.
    if written is not None and written.value == "6" and 6 in names.families:
        written.complain(section.problems, f"{who} {how}; write ip: 4, or another transport")
    if names.families and 4 not in names.families:
        transport.complain(
            section.problems,
            f"is {transport.value}, which {how}, but the fabric has no IPv4; write addresses: dual",
        )


def read_dscp(section: Section) -> int:
    """Return the class of what is sent, 0 to 63."""
    return DSCP.or_default(section.read(DSCP))


def _read_family(section: Section, names: Names) -> Family | None:
    """Return the version of IP that is written; None: the fabric's first."""
    written = section.read(IP)
    if written is None:
        return None
    family = next(one for one in FAMILIES if str(one) == written.value)
    if family not in names.families:
        message = f"the fabric has no IPv{family} addresses; write addresses: dual, or remove the key"
        written.complain(section.problems, message)
    return family


def read_connection(section: Section, carrier: Carrier) -> Connection:
    """Return `kept` (one connection of each pair carries all its flows) or `new`; over MPTCP, RoCE and Homa each flow
    has its own."""
    connection = section.read(CONNECTION)
    if carrier.transport == "tcp":
        return CONNECTION.or_default(connection)
    if connection is not None and connection.value == "kept":
        whats = {"mptcp": "MPTCP has a connection", "roce": "RoCE has a queue pair", "homa": "Homa is a call"}
        what = whats[carrier.transport]
        connection.complain(section.problems, f"each flow over {what} of its own; write connection: new")
    return "new"
