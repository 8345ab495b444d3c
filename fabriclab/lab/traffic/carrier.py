"""What carries a piece of traffic: `transport`, `congestion_control`, `dscp`, `ip`; and whether its connections are
kept."""

from __future__ import annotations

from fabriclab.formats.family import FAMILIES, Family
from fabriclab.formats.plan.traffic import Carried, Carrier, Connection
from fabriclab.lab.hosts.transport import read_congestion_control
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.section import Section, Written, value_of
from fabriclab.lab.traffic.keys import CONNECTION, DSCP, IP, TRANSPORT


def read_carrier(section: Section, names: Names) -> Carrier:
    """Return what carries the flows."""
    transport = section.read(TRANSPORT)
    if transport is not None and transport.value == "roce":
        _check_roce(section, names, transport)
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
    written = section.read(IP)
    # Where the fabric has no IPv6 that is said already.
    if written is not None and written.value == "6" and 6 in names.families:
        written.complain(section.problems, "RoCE goes over IPv4 only; write ip: 4, or another transport")
    if names.families and 4 not in names.families:
        transport.complain(
            section.problems, "is roce, which goes over IPv4 only, but the fabric has no IPv4; write addresses: dual"
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
    """Return `kept` (one connection of each pair carries all its flows) or `new`; over MPTCP and RoCE each flow has
    its own."""
    connection = section.read(CONNECTION)
    if carrier.transport == "tcp":
        return CONNECTION.or_default(connection)
    if connection is not None and connection.value == "kept":
        what = "MPTCP has a connection" if carrier.transport == "mptcp" else "RoCE has a queue pair"
        connection.complain(section.problems, f"each flow over {what} of its own; write connection: new")
    return "new"
