"""`kind: long` and `kind: iperf3`: flows that last until they are stopped, sent by our replay or by iperf3."""

from __future__ import annotations

from collections.abc import Sequence

from fabriclab.formats.plan.traffic import Iperf3Traffic, LongTraffic, Pairs
from fabriclab.lab.reading import defaults
from fabriclab.lab.reading.names import HostReader
from fabriclab.lab.reading.section import Section, value_or
from fabriclab.lab.traffic.bounds import LONGEST_NS
from fabriclab.lab.traffic.carrier import CARRIER_KEYS, read_carrier
from fabriclab.lab.traffic.fan_in import SENDERS, read_fan_in
from fabriclab.lab.traffic.pairs import PAIRS_KEYS, read_pairs
from fabriclab.lab.traffic.scope import Scope, read_jitter, read_start, read_stop

KEYS = ("kind", "senders", "receiver", *PAIRS_KEYS, "start", "stop", "stagger", "jitter", *CARRIER_KEYS)
IPERF3_KEYS = ("kind", "senders", "receiver", "start", "stop", *CARRIER_KEYS)


def read_long(section: Section, name: str, scope: Scope) -> LongTraffic | None:
    """Return the long flows; None after recording what is wrong."""
    targets = _targets(section, scope)
    start_ns, jitter_ns = read_start(section), read_jitter(section)
    stagger_ns = value_or(section.duration("stagger", 0, LONGEST_NS), defaults.STAGGER_NS)
    flows = _flows(targets[0], targets[2]) if targets else 1
    last_start_ns = start_ns + (flows - 1) * stagger_ns + jitter_ns
    stop_ns = read_stop(section, last_start_ns, "the last flow's start", "all its flows end")
    carrier = read_carrier(section)
    if targets is None or stop_ns is None:
        return None
    senders, receiver, pairs = targets
    return LongTraffic(
        name=name,
        senders=senders,
        receiver=receiver,
        pairs=pairs,
        start_ns=start_ns,
        stop_ns=stop_ns,
        stagger_ns=stagger_ns,
        jitter_ns=jitter_ns,
        carrier=carrier,
    )


def _flows(senders: Sequence[str], pairs: Pairs | None) -> int:
    if pairs is None or pairs.pattern != "all-to-all":
        return len(senders)
    return sum(receiver != sender for sender in senders for receiver in pairs.receivers)


def _targets(section: Section, scope: Scope) -> tuple[tuple[str, ...], str | None, Pairs | None] | None:
    """Return the senders with their one receiver, or with their pairs."""
    paired = [key for key in ("receivers", "pairs") if key in section]
    if not paired:
        hosts = read_fan_in(section, scope)
        return None if hosts is None else (*hosts, None)
    if "receiver" in section:
        section.complain("receiver", f"stands beside {paired[0]}; write one receiver, or receivers and pairs")
    section.require("senders", example=SENDERS)
    senders = HostReader(section, scope.names).hosts("senders")
    pairs = read_pairs(section, scope, senders, defaults.LONG_PAIRS)
    return None if senders is None or pairs is None else (senders, None, pairs)


def read_iperf3(section: Section, name: str, scope: Scope) -> Iperf3Traffic | None:
    """Return iperf3's flows; None after recording what is wrong."""
    hosts = read_fan_in(section, scope)
    start_ns = read_start(section)
    stop_ns = read_stop(section, start_ns, "the start", "all its flows end")
    carrier = read_carrier(section)
    if hosts is None or stop_ns is None:
        return None
    senders, receiver = hosts
    return Iperf3Traffic(
        name=name, senders=senders, receiver=receiver, start_ns=start_ns, stop_ns=stop_ns, carrier=carrier
    )
