"""What carries a piece of traffic: `transport`, `congestion_control`, `dscp`; and whether its connections are kept."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.lab import defaults
from fabriclab.lab.problems import did_you_mean, shown
from fabriclab.lab.profiles import CONGESTION_CONTROLS
from fabriclab.lab.section import WHOLE_NUMBER, Section
from fabriclab.lab.traffic.scope import value_of, value_or

CARRIER_KEYS = ("transport", "congestion_control", "dscp")
TRANSPORTS = ("tcp", "mptcp")
CONNECTIONS = ("kept", "new")
LARGEST_DSCP = 63
"""Six bits (RFC 2474)."""
DSCP_NAMES = {
    **{"default": 0, "be": 0, "le": 1, "va": 44, "ef": 46},
    **{f"cs{number}": 8 * number for number in range(8)},
    **{f"af{number}{drop}": 8 * number + 2 * drop for number in range(1, 5) for drop in range(1, 4)},
}
"""RFC 2474 (class selectors), 2597 (assured), 3246 (expedited), 5865 (voice admit), 8622 (lower effort)."""


@dataclass(frozen=True)
class WrittenCarrier:
    """The transport of every flow, its congestion control (None: the host's), and the DSCP of its packets."""

    transport: str = defaults.TRANSPORT
    congestion_control: str | None = None
    dscp: int = defaults.DSCP


def read_carrier(section: Section) -> WrittenCarrier:
    """Return what carries the flows."""
    return WrittenCarrier(
        transport=value_or(section.choice("transport", TRANSPORTS), defaults.TRANSPORT),
        congestion_control=value_of(section.choice("congestion_control", CONGESTION_CONTROLS)),
        dscp=value_or(section.read("dscp", "a DSCP such as 46 or ef", parse_dscp), defaults.DSCP),
    )


def parse_dscp(text: str) -> int:
    """Return the codepoint of a number or a name. Raises ValueError."""
    if text.lower() in DSCP_NAMES:
        return DSCP_NAMES[text.lower()]
    if WHOLE_NUMBER.fullmatch(text) and int(text) <= LARGEST_DSCP:
        return int(text)
    if text.removeprefix("-").isdigit():
        raise ValueError(f"{shown(text)} is out of range; write one from 0 to {LARGEST_DSCP}, or a name such as ef")
    raise ValueError(
        f"{shown(text)} is no DSCP, a number from 0 to {LARGEST_DSCP} or a name; {did_you_mean(text.lower(), DSCP_NAMES)}"
    )


def read_connection(section: Section, carrier: WrittenCarrier) -> str:
    """Return `kept` (one connection of each pair carries all its flows) or `new`; over MPTCP each flow has its own."""
    connection = section.choice("connection", CONNECTIONS)
    if carrier.transport != "mptcp":
        return value_or(connection, defaults.CONNECTION)
    if connection is not None and connection.value == "kept":
        connection.complain(section.problems, "each flow over MPTCP has a connection of its own; write connection: new")
    return "new"
