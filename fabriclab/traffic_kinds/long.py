"""`kind: long`: flows that last until they are stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fabriclab.formats.plan.traffic import LongTraffic, Mode, Pairs
from fabriclab.keys.mappings import Key
from fabriclab.keys.values import Word
from fabriclab.lab.reading.names import HostReader
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic import keys
from fabriclab.lab.traffic.carrier import read_carrier
from fabriclab.lab.traffic.pairs import EXAMPLE_OF_SENDERS, read_fan_in, read_pairs
from fabriclab.lab.traffic.scope import Scope, read_jitter, read_mode, read_start, read_stop
from fabriclab.traffic_kinds import words
from fabriclab.traffic_kinds.kind import Kind

if TYPE_CHECKING:
    import polars as pl

    from fabriclab.formats.plan.model import Plan
    from fabriclab.workload.randomness import Integers
    from fabriclab.workload.site import Site

STAGGER = Key("stagger", keys.TIME, "The time between the starts of two flows.", default=0)
LONG_PAIRS = keys.PAIRS.but(
    default="permutation",
    about="How receivers are assigned to senders: one flow from each sender; with `all-to-all`, one to each receiver.",
)
LONG_MODE = keys.MODE.but(
    value=Word[Mode](("push", "read")),
    about="With `push` the sender sends. With `read` the NIC of the receiver reads the data, 256 KB at a time (RDMA "
    "READ; `transport: roce` only).",
)
KEYS = keys.keys_of_kind(
    "long",
    "Long flows, which have no size of their own and end when the traffic stops.",
    keys.SENDERS,
    keys.RECEIVER.but(required=False, unset="this, or `receivers` and `pairs`"),
    keys.RECEIVERS,
    LONG_PAIRS,
    keys.HOT_SPOTS,
    keys.HOT_SHARE,
    keys.START,
    keys.STOP,
    STAGGER,
    keys.JITTER,
    LONG_MODE,
    *keys.CARRIER,
)


class Long(Kind[LongTraffic]):
    """Long flows."""

    keys = KEYS

    def read(self, section: Section, name: str, scope: Scope) -> LongTraffic | None:
        """Return the long flows; None after recording what is wrong."""
        targets = _targets(section, scope)
        start_ns, jitter_ns = read_start(section), read_jitter(section)
        stagger_ns = STAGGER.or_default(section.read(STAGGER))
        flows = _flows(targets[0], targets[2]) if targets else 1
        last_start_ns = start_ns + (flows - 1) * stagger_ns
        stop_ns = read_stop(section, last_start_ns, "the last flow's start", "all its flows end", jitter_ns)
        carrier = read_carrier(section, scope.names)
        if carrier.transport == "homa":
            section.complain("transport", "is homa, which sends messages of a size; write kind: flows, for example")
        mode = read_mode(section, carrier, LONG_MODE)
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
            mode=mode,
            carrier=carrier,
        )

    def flows(self, traffic: LongTraffic, site: Site) -> pl.DataFrame:
        """Return the flows. Where a sender has several, every sender's first comes before any second."""
        import numpy as np

        from fabriclab.workload.arrivals import jitter
        from fabriclab.workload.flows import by_start, flow_table

        # Apart from each other they start in the order written.
        senders = list(traffic.senders) if traffic.stagger_ns else site.order(traffic.name, traffic.senders)
        receivers = _receivers(traffic, senders, site)
        counts = [len(of_sender) for of_sender in receivers]
        order = np.argsort(np.concatenate([np.arange(count) for count in counts]), kind="stable")
        shifts = [
            jitter(site.stream(traffic.name, sender, "jitter"), traffic.jitter_ns, count)
            for sender, count in zip(senders, counts, strict=True)
        ]
        columns = {
            "start_ns": traffic.start_ns + np.arange(len(order)) * traffic.stagger_ns + np.concatenate(shifts)[order],
            "src": np.repeat(site.indices(senders), counts)[order],
            "dst": np.concatenate(receivers)[order],
            "stop_ns": traffic.stop_ns,
            "mode": traffic.mode,
        }
        return by_start(flow_table(site, traffic.name, traffic.carrier, columns))

    def sentences(self, traffic: LongTraffic, plan: Plan) -> Iterator[str]:
        """Yield who sends to whom, and from when to when."""
        one = f"{words.people(traffic.senders)} to {traffic.receiver}"
        who = one if traffic.pairs is None else words.paired(traffic.pairs)
        yield f"{who}{words.over(traffic.carrier)}"
        stagger = f", {words.time(traffic.stagger_ns)} apart" if traffic.stagger_ns else ""
        when = f"{words.span(traffic.start_ns, traffic.stop_ns)}{stagger}{words.jittered(traffic.jitter_ns)}"
        yield f"long flows, {when}"


KIND = Long()


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
        section.complain("receiver", f"conflicts with {paired[0]}; write one receiver, or receivers and pairs")
    section.require("senders", example=EXAMPLE_OF_SENDERS)
    senders = HostReader(section, scope.names).hosts("senders")
    pairs = read_pairs(section, scope, senders, LONG_PAIRS)
    return None if senders is None or pairs is None else (senders, None, pairs)


def _receivers(traffic: LongTraffic, senders: Sequence[str], site: Site) -> list[Integers]:
    """Return the receivers of each sender: one, or all where everyone sends to all."""
    from fabriclab.workload.pairs import Receivers

    if traffic.pairs is None:
        return [site.indices([traffic.receiver or ""])] * len(senders)
    receivers = Receivers(traffic.pairs, site, traffic.name)
    if traffic.pairs.pattern != "all-to-all":
        return [receivers.of(sender, 1) for sender in senders]
    return [receivers.of(sender, len(set(traffic.pairs.receivers) - {sender})) for sender in senders]
