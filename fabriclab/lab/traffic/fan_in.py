"""Several senders, one receiver."""

from __future__ import annotations

from fabriclab.lab.reading.names import HostReader
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.scope import Scope

EXAMPLE_OF_SENDERS = "senders: a count, a range such as h1..h4, a group, a list, or all"


def read_fan_in(section: Section, scope: Scope) -> tuple[tuple[str, ...], str] | None:
    """Return the senders and their receiver; None after recording what is wrong."""
    section.require("senders", example=EXAMPLE_OF_SENDERS)
    section.require("receiver", example="receiver: a host's name")
    reader = HostReader(section, scope.names)
    receiver = reader.receiver()
    senders = reader.hosts("senders", receiver.value if receiver else None)
    return None if senders is None or receiver is None else (senders, receiver.value)
