"""Who sends to whom."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabriclab.formats.plan.traffic import Pairs
from fabriclab.workload.randomness import Integers, Stream
from fabriclab.workload.site import Site, TraceError


class Receivers:
    """The receivers of one traffic's senders, drawn as its pattern says. No host is its own receiver."""

    def __init__(self, pairs: Pairs, site: Site, traffic: str) -> None:
        self._pairs = pairs
        self._site = site
        self._traffic = traffic
        self._fixed: dict[str, str] = {}
        if pairs.pattern == "permutation":
            self._fixed = permutation(pairs.senders, pairs.receivers, site.stream(traffic, "", "permutation"), traffic)

    def of(self, sender: str, count: int) -> Integers:
        """Return the receivers of a sender's `count` flows, as numbers of hosts.

        Raises TraceError for a sender that has none.
        """
        pattern = self._pairs.pattern
        if pattern == "permutation":
            return np.repeat(self._site.indices([self._fixed[sender]]), count)
        stream = self._site.stream(self._traffic, sender, "receivers")
        if pattern == "hot-spot":
            return self._hot_spot(sender, stream, count)
        candidates = self._candidates(sender)
        if pattern == "all-to-all":
            order = self._site.indices(stream.shuffled(candidates))
            return order[np.arange(count) % len(order)]
        return self._site.indices(candidates)[stream.below(len(candidates), count)]

    def _candidates(self, sender: str) -> list[str]:
        pattern, racks = self._pairs.pattern, self._site.racks
        others = [host for host in self._pairs.receivers if host != sender]
        if pattern in ("in-rack", "out-of-rack"):
            others = [host for host in others if (racks[host] == racks[sender]) == (pattern == "in-rack")]
        if not others:
            where = {
                "in-rack": f" behind {racks[sender]}",
                "out-of-rack": f" that is not behind {racks[sender]}",
            }.get(pattern, "")
            raise TraceError(
                f"traffic.{self._traffic}: {sender} has no other receiver{where}; add one, "
                f"or leave {sender} out of the senders"
            )
        return others

    def _hot_spot(self, sender: str, stream: Stream, count: int) -> Integers:
        """Draw for each flow whether it goes to a hot spot, then to which.

        Where only the sender is of one kind, the other takes all.
        """
        hot = [host for host in self._pairs.hot_spots if host != sender]
        rest = [host for host in self._candidates(sender) if host not in self._pairs.hot_spots]
        kinds, choices = stream.uniforms(2 * count).reshape(count, 2).T
        to_hot = (kinds * 1e6 < self._pairs.hot_share_ppm) if hot and rest else np.full(count, bool(hot))
        picked = np.where(to_hot, np.floor(choices * len(hot)), len(hot) + np.floor(choices * len(rest)))
        return self._site.indices([*hot, *rest])[picked.astype(np.int64)]


def permutation(senders: Sequence[str], receivers: Sequence[str], stream: Stream, traffic: str) -> dict[str, str]:
    """Return each sender's one receiver: random, never itself, and no receiver has two senders more than another.
    Raises TraceError.

    Receivers are dealt out in random order, round after round; a sender that was dealt itself swaps with one of the
    others at random.
    """
    slots: list[str] = []
    while len(slots) < len(senders):
        slots += stream.shuffled(receivers)
    # What is dealt to nobody may be swapped in only while each receiver is dealt once, or some would have two senders
    # less than others.
    usable = len(slots) if len(senders) <= len(receivers) else len(senders)
    for place, sender in enumerate(senders):
        if slots[place] != sender:
            continue
        partners = [other for other in range(usable) if _may_swap(senders, slots, place, other)]
        if not partners:
            raise TraceError(
                f"traffic.{traffic}: {sender} has no other receiver; add receivers, "
                f"or leave {sender} out of the senders"
            )
        partner = partners[int(stream.below(len(partners), 1)[0])]
        slots[place], slots[partner] = slots[partner], slots[place]
    return dict(zip(senders, slots, strict=False))


def _may_swap(senders: Sequence[str], slots: Sequence[str], place: int, other: int) -> bool:
    """Say whether neither of two would be its own receiver after a swap."""
    return slots[other] != senders[place] and (other >= len(senders) or slots[place] != senders[other])
