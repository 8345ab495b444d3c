"""What of a lab's nodes can become another while it runs, and what can't: two plans, compared.

What changes, changes in place: what is queued stays queued, connections stay.
"""

from __future__ import annotations

from fabriclab.errors import FabriclabError
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.plan.node import Node, Port, Queue, Transport
from fabriclab.formats.plan.switch import Switch

_OF_NODE = {"ports", "switch", "transport", "load_balancing"}
_OF_PORT = {"rate_bps", "delay_ns", "queue", "switch_port"}
"""What may differ."""
LONGEST_BUFFER_BYTES = 1 << 29
"""RED takes no longer threshold (red_check_params in include/net/red.h), and it holds every buffer that may change."""


class UnchangeableError(FabriclabError):
    """What settings ask for can't be had while the lab runs; the text says why."""


def changed_nodes(before: Plan, after: Plan) -> tuple[Node, ...]:
    """Return the nodes that differ, as they are afterwards. Raises UnchangeableError where it is in what can't."""
    if [node.name for node in before.nodes] != [node.name for node in after.nodes]:
        raise UnchangeableError("the lab would have different nodes")
    _check_routing(before, after)
    pairs = [(old, new) for old, new in zip(before.nodes, after.nodes, strict=True) if old != new]
    for old, new in pairs:  # first what explains itself
        _check_transport(new.name, old.transport, new.transport)
    for old, new in pairs:
        _check_node(old, new)
    return tuple(new for _, new in pairs)


def _check_routing(before: Plan, after: Plan) -> None:
    if before.bgp == after.bgp:
        return
    if before.bgp is None or after.bgp is None or before.bgp.unnumbered != after.bgp.unnumbered:
        raise UnchangeableError("switches would learn their routes in a different way")
    if (before.bgp.bfd is None) != (after.bgp.bfd is None):
        raise UnchangeableError(
            "BFD's daemon starts only with the lab (`fabriclab vtysh` can end a session's BFD: no neighbor ... bfd)"
        )


def _check_node(old: Node, new: Node) -> None:
    _check_fields(new.name, old, new, _OF_NODE)
    _check_switch(new.name, old.switch, new.switch)
    if len(old.ports) != len(new.ports):
        raise UnchangeableError(f"{new.name} would have different ports")
    for here, there in zip(old.ports, new.ports, strict=True):
        name = f"{new.name}:{there.interface}"
        _check_fields(name, here, there, _OF_PORT)
        if (here.switch_port is None) != (there.switch_port is None):
            raise UnchangeableError(f"{name} would have a different kind of buffer, and lose its packets")
        if here.queue is not None and there.queue is not None:
            _check_queue(name, here.queue, there.queue)


def _check_fields(name: str, old: Node | Port, new: Node | Port, changeable: set[str]) -> None:
    for field in type(new).model_fields:
        if field not in changeable and getattr(old, field) != getattr(new, field):
            raise UnchangeableError(f"{name}: its {field.replace('_', ' ')} would change")


def _check_switch(name: str, old: Switch | None, new: Switch | None) -> None:
    if old is None or new is None:
        if old is not new:
            raise UnchangeableError(f"{name} would have a different kind of buffer, and lose its packets")
        return
    if [pool.name for pool in old.pools] != [pool.name for pool in new.pools]:
        raise UnchangeableError(f"{name} would have different pools: {', '.join(pool.name for pool in new.pools)}")
    if old.cell_bytes != new.cell_bytes:
        raise UnchangeableError(
            f"{name}: the cells of its memory would have {new.cell_bytes} B, not {old.cell_bytes} B"
        )
    if old.slices != new.slices:
        raise UnchangeableError(f"{name}: its memory would be in {new.slices} slices, not {old.slices}")


def _check_transport(name: str, old: Transport | None, new: Transport | None) -> None:
    here, there = (None if transport is None else transport.mptcp for transport in (old, new))
    if (here is None) != (there is None):
        raise UnchangeableError(f"{name}: MPTCP's endpoints are made only when the lab starts")
    if here is not None and there is not None and here.subflows != there.subflows:
        raise UnchangeableError(f"{name}: the addresses of MPTCP's subflows are made only when the lab starts")


def _check_queue(name: str, old: Queue, new: Queue) -> None:
    if (None if old.aqm is None else old.aqm.identity) != (None if new.aqm is None else new.aqm.identity):
        raise UnchangeableError(f"{name}: its queue would be a different qdisc, and lose its packets")
    largest = max(old.limit_bytes, new.limit_bytes)
    if new.aqm is None and old != new and largest >= LONGEST_BUFFER_BYTES:
        raise UnchangeableError(
            f"{name}: a buffer of {LONGEST_BUFFER_BYTES} B or more can't change, and this one has {largest} B"
        )
