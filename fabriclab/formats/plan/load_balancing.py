"""How a switch chooses among next hops of equal cost, every value explicit: what the machine's kernel is given
(`net/ipv4/load_balancing.c` of our tree)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import SerializerFunctionWrapHandler, model_serializer

from fabriclab.formats import ranges
from fabriclab.formats.load_balancing import Mode
from fabriclab.formats.record import Frozen


class LoadBalancing(Frozen):
    """What a packet's next hop is chosen by. SAI's words (saiars.h, saiarsprofile.h)."""

    mode: Mode
    """`flow`: the hash of the five-tuple."""
    hash_seed: Annotated[int, ranges.HASH_SEED] | None
    """Of that hash; None: a number made of the switch's name and the run's seed."""
    idle_ns: Annotated[int, ranges.IDLE_TIME]
    """A flow that sends nothing for longer than this begins another flowlet."""
    max_flows: Annotated[int, ranges.FLOWLETS]
    """Places of the table of flowlets."""
    load_min_bytes: Annotated[int, ranges.PORT_LOAD]
    """Up to which a port is in the best band."""
    load_max_bytes: Annotated[int, ranges.PORT_LOAD]
    """Above which a port is in the worst band."""
    hash_fields: Annotated[int, ranges.HASH_FIELDS] | None = None
    """What the hash is made of (net.ipv4.fib_multipath_hash_fields); None: the five-tuple."""

    @model_serializer(mode="wrap")
    def _without_the_usual(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave `hash_fields` out where it is the usual, as in every plan that was made before there was such a
        thing."""
        record: dict[str, Any] = serialise(self)
        return {key: value for key, value in record.items() if value is not None or key != "hash_fields"}

    @property
    def but_by_flow(self) -> LoadBalancing:
        """The same, by the hash of the five-tuple."""
        return self.model_copy(update={"mode": "flow"})

    @property
    def by_packet(self) -> bool:
        """Whether packets of one flow overtake each other in a network whose queues differ."""
        return self.mode.startswith("packet-")
