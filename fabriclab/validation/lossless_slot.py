"""One in-cast of a lossless class: which port, what carries it, who its victims may be, and when."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.formats.plan.switch import SwitchPort
from fabriclab.formats.plan.traffic import Carrier
from fabriclab.validation.in_cast import InCast
from fabriclab.validation.victims import Victim


@dataclass(frozen=True)
class LosslessSlot:
    """An in-cast of one class, and its victims."""

    number: int
    in_cast: InCast
    carrier: Carrier
    dscp: int
    victims: tuple[Victim, ...]
    start_ns: int
    settled_ns: int
    stop_ns: int

    @property
    def where(self) -> str:
        """The congested port and the class."""
        return f"{self.in_cast.name} DSCP {self.dscp}"

    @property
    def over(self) -> str:
        """What carries it, in words."""
        return "RoCE" if self.carrier.transport == "roce" else "TCP"

    def queue_at(self, port: SwitchPort) -> int:
        """Return the queue that the class has at a port."""
        return port.maps.tc_to_queue[port.maps.dscp_to_tc[self.dscp]]

    def group_at(self, port: SwitchPort) -> int:
        """Return the priority group that the class has at a port."""
        return port.maps.tc_to_group[port.maps.dscp_to_tc[self.dscp]]


def victim_name(slot: LosslessSlot, number: int) -> str:
    """Return what the traffic of a victim is called."""
    return f"victim-{slot.number}-{number}"
