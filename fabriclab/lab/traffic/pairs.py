"""Who sends to whom: `receivers` with a pattern of `pairs`, or several senders to one `receiver`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriclab.formats.plan.traffic import Pairs, Pattern
from fabriclab.keys.mappings import Key
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.names import HostReader
from fabriclab.lab.reading.section import Section
from fabriclab.lab.traffic.keys import HOT_SHARE
from fabriclab.lab.traffic.scope import Scope
from fabriclab.units import WHOLE_PPM


def read_pairs(section: Section, scope: Scope, senders: tuple[str, ...] | None, key: Key[Pattern]) -> Pairs | None:
    "Return the pairs, by default with all hosts as receivers and the pattern of `key`; None after recording"
    "what is wrong with them."
    pattern = key.or_default(section.read(key))
    receivers = HostReader(section, scope.names).hosts("receivers") if "receivers" in section else scope.names.hosts
    hot_spots, hot_share_ppm = _hot_spots(section, scope, pattern, receivers)
    if senders is None or receivers is None or hot_spots is None:
        return None
    pairs = Pairs(
        pattern=pattern,
        senders=senders,
        receivers=receivers,
        hot_spots=hot_spots,
        hot_share_ppm=hot_share_ppm,
    )
    _check_partners(pairs, section, scope)
    return pairs


def _hot_spots(
    section: Section, scope: Scope, pattern: str, receivers: Sequence[str] | None
) -> tuple[tuple[str, ...] | None, int]:
    """Return the hot spots and their share of the flows."""
    if pattern != "hot-spot":
        for key in ("hot_spots", "hot_share"):
            if key in section:
                section.complain(key, f"belongs to pairs: hot-spot, not to {pattern}")
        return (), 0
    section.require("hot_spots", example="hot_spots: the receivers that get most, such as [h1]")
    section.require("hot_share", example="hot_share: the share of flows that goes to them, such as 50 %")
    hot_spots = HostReader(section, scope.names).hosts("hot_spots")
    share = section.read(HOT_SHARE)
    if hot_spots is None or share is None or receivers is None:
        return None, 0
    for host in hot_spots:
        if host not in receivers:
            section.complain(
                "hot_spots", f"{shown(host)} is not among the receivers; add it there, or leave it out here"
            )
    if share.value < WHOLE_PPM and not set(receivers) - set(hot_spots):
        section.complain("hot_spots", "every receiver is a hot spot; leave one out, or write hot_share: 100 %")
    return hot_spots, share.value


def _check_partners(pairs: Pairs, section: Section, scope: Scope) -> None:
    """Record the first sender that has nobody to send to."""
    key = "receivers" if "receivers" in section else "senders"
    for sender in pairs.senders:
        others = [receiver for receiver in pairs.receivers if receiver != sender]
        if not others:
            section.complain(key, f"sender {shown(sender)} is the only receiver; a host does not send to itself")
        elif not _partners(pairs.pattern, sender, others, scope.names.racks):
            where = (
                f"behind its own switch, {scope.names.racks[sender]}"
                if pairs.pattern == "in-rack"
                else "behind another switch"
            )
            section.complain(
                "pairs", f"sender {shown(sender)} has no receiver {where}; write other receivers, or pairs: random"
            )
        else:
            continue
        return


def _partners(pattern: str, sender: str, others: Sequence[str], racks: Mapping[str, str]) -> bool:
    """Return whether the pattern leaves the sender a receiver.

    Where the topology is wrong nobody has a rack; that is said there.
    """
    if pattern not in ("in-rack", "out-of-rack") or sender not in racks:
        return True
    return any((racks.get(other) == racks[sender]) == (pattern == "in-rack") for other in others)


EXAMPLE_OF_SENDERS = "senders: a count, a range such as h1..h4, a group, a list, or all"


def read_fan_in(section: Section, scope: Scope) -> tuple[tuple[str, ...], str] | None:
    """Return the senders and their receiver; None after recording what is wrong."""
    section.require("senders", example=EXAMPLE_OF_SENDERS)
    section.require("receiver", example="receiver: a host's name")
    reader = HostReader(section, scope.names)
    receiver = reader.receiver()
    senders = reader.hosts("senders", receiver.value if receiver else None)
    return None if senders is None or receiver is None else (senders, receiver.value)
