"""Who is to reach whom by ping, `validation.pings`: of labs whose nodes' own files give them addresses and routes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.lab import validation_keys as keys
from fabriclab.lab.reading.section import Section


@dataclass(frozen=True)
class WrittenPing:
    """Who asks whom by ping, and whether there is to be an answer."""

    name: str
    senders: tuple[str, ...]
    target: str
    """A node, or an address."""
    family: int | None
    """4 or 6; None: whichever the target's name leads to."""
    answers: bool
    source: str | None = None
    """The address that is asked from; None: whichever the route gives."""
    severity: keys.Severity = "error"


def read_pings(section: Section, nodes: Sequence[str]) -> Iterator[WrittenPing]:
    """Yield the pings of a section of a lab with these nodes; what is wrong is recorded."""
    below = section.section("pings", None)
    for name in below.names() if below is not None else ():
        ping = None if below is None else below.section(name, keys.PING)
        if ping is None:
            continue
        ping.require("from", "to")
        senders = (ping.words("from") if "from" in ping else None) or []
        for sender in senders:
            if sender.value not in nodes:
                sender.complain(
                    section.problems, f"{shown(sender.value)} is not a node; {did_you_mean(sender.value, nodes)}"
                )
        target = ping.convert("to", "a node's name or an address", lambda text: _target(text, nodes))
        family, answers = ping.read(keys.PING_FAMILY), ping.read(keys.PING_ANSWERS)
        source = ping.convert("source", "an address of the node that sends the ping", _address)
        if target is not None:
            yield WrittenPing(
                name=name,
                senders=tuple(sender.value for sender in senders),
                target=target.value,
                family=None if family is None else family.value,
                answers=keys.PING_ANSWERS.or_default(answers),
                source=None if source is None else source.value,
                severity=keys.SEVERITY.or_default(ping.read(keys.SEVERITY)),
            )


def _target(text: str, nodes: Sequence[str]) -> str:
    try:
        return text if text in nodes else str(ip_address(text))
    except ValueError:
        raise ValueError(f"{shown(text)} is neither a node nor an address; {did_you_mean(text, nodes)}") from None


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise ValueError(f"{shown(text)} is not an address; write one such as 10.0.0.1") from None
