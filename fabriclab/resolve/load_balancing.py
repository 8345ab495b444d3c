"""How each switch chooses among next hops of equal cost, with every default explicit; and what that does to traffic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabriclab.formats.framing import HEADER_BYTES
from fabriclab.formats.plan.load_balancing import LoadBalancing
from fabriclab.formats.plan.node import Node, Port
from fabriclab.formats.plan.traffic import Traffic
from fabriclab.keys.wording import listed
from fabriclab.lab.network.load_balancing import WrittenLoadBalancing
from fabriclab.lab.reading.section import value_of, value_or
from fabriclab.lab.switch.load_balancing import IDLE_TIME, LOAD_MIN, MAX_FLOWS, MODE
from fabriclab.resolve.mismatched_ends import short

_BANDS_BETWEEN = 6
"""LB_LAST_BAND - 1 of the kernel's `load_balancing.h`."""
_MOST_NAMED = 6


def resolve_load_balancing(written: WrittenLoadBalancing | None, ports: Sequence[Port]) -> LoadBalancing | None:
    """Return how a switch with these ports chooses; None: by the hash, as every switch of which nothing is said."""
    if written is None:
        return None
    mode, hash_seed = MODE.or_default(written.mode), value_of(written.hash_seed)
    hash_fields = value_of(written.hash_fields)
    if mode == "flow" and hash_seed is None and hash_fields is None:
        return None
    least = LOAD_MIN.or_default(written.load_min)
    largest = max((port.mtu + HEADER_BYTES for port in ports), default=1)
    return LoadBalancing(
        mode=mode,
        hash_seed=hash_seed,
        hash_fields=hash_fields,
        idle_ns=IDLE_TIME.or_default(written.idle_time),
        max_flows=MAX_FLOWS.or_default(written.max_flows),
        load_min_bytes=least,
        load_max_bytes=value_or(written.load_max, least + _BANDS_BETWEEN * largest),
    )


def load_balancing_warnings(
    written: Mapping[str, WrittenLoadBalancing], nodes: Sequence[Node], traffic: Sequence[Traffic], *, are_known: bool
) -> tuple[str, ...]:
    """Return a sentence for each mode, with its file and line, and each thing that traffic takes amiss of it.

    `are_known`: the switches' routes are, so one that never has a choice is not named.
    """
    found: dict[str, list[str]] = {}
    choosing = {
        node.name: node.load_balancing
        for node in nodes
        if node.load_balancing is not None and (not are_known or _has_paths(node))
    }
    for switch, chosen in choosing.items():
        if chosen.mode == "flow":
            continue
        place = written[switch].place
        where = "" if place is None else f"{short(place)}: "
        for sentence in (*_of_roce(chosen, nodes, traffic), *_of_tcp(chosen, traffic)):
            found.setdefault(f"{where}load_balancing.mode {chosen.mode} of SWITCHES{sentence}", []).append(switch)
    return tuple(sentence.replace("SWITCHES", _names(switches)) for sentence, switches in found.items())


def _has_paths(node: Node) -> bool:
    """Return whether a switch has several next hops to anywhere."""
    return any(len(route.next_hops) > 1 for route in node.routes)


def _of_roce(chosen: LoadBalancing, nodes: Sequence[Node], traffic: Sequence[Traffic]) -> Iterator[str]:
    over = [each for each in traffic if each.carried_by.transport == "roce"]
    if not over or not chosen.by_packet:
        return
    nics = [port.nic.roce for node in nodes for port in node.ports if port.nic is not None]
    those = _those(over)
    if any(roce is not None and not roce.selective for roce in nics):
        yield (
            f": RoCE NICs with loss_recovery: go-back-n take each packet that overtook another for a loss, and send "
            f"all again ({those}); write nic: {{roce: {{loss_recovery: selective-repeat, reorder_window: 64}}}}"
        )
    elif any(roce is not None and not roce.reorder_window for roce in nics):
        yield (
            f": RoCE NICs without reorder_window send each packet again that another overtook ({those}); write "
            "nic: {roce: {reorder_window: 64}}"
        )


def _of_tcp(chosen: LoadBalancing, traffic: Sequence[Traffic]) -> Iterator[str]:
    over = [each for each in traffic if each.carried_by.transport in ("tcp", "mptcp")]
    if over and chosen.by_packet:
        yield (
            f": packets of TCP overtake each other ({_those(over)}); Linux's RACK learns to wait for them, up to a "
            "round trip, and sends some again before it has"
        )


def _those(traffic: Sequence[Traffic]) -> str:
    return listed([f"traffic.{each.name}" for each in traffic])


def _names(names: Sequence[str]) -> str:
    return listed(names) if len(names) <= _MOST_NAMED else f"{len(names)} switches ({names[0]} to {names[-1]})"
