"""What carries a piece of traffic: `transport`, `congestion_control`, `dscp`, `ip`; and whether its connections are
kept."""

from __future__ import annotations

from fabriclab.formats.family import FAMILIES, Family
from fabriclab.formats.plan.traffic import Carrier, Connection
from fabriclab.lab.hosts.transport import read_congestion_control
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.section import Section, value_of
from fabriclab.lab.traffic.keys import CONNECTION, DSCP, IP, TRANSPORT


def read_carrier(section: Section, names: Names) -> Carrier:
    """Return what carries the flows."""
    return Carrier(
        transport=TRANSPORT.or_default(section.read(TRANSPORT)),
        congestion_control=value_of(read_congestion_control(section, names)),
        dscp=read_dscp(section),
        ip=_read_family(section, names),
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
    """Return `kept` (one connection of each pair carries all its flows) or `new`; over MPTCP each flow has its own."""
    connection = section.read(CONNECTION)
    if carrier.transport != "mptcp":
        return CONNECTION.or_default(connection)
    if connection is not None and connection.value == "kept":
        connection.complain(section.problems, "each flow over MPTCP has a connection of its own; write connection: new")
    return "new"
