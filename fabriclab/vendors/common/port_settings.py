"""What a vendor's configuration says of one port, in the words of the lab language."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabriclab.vendors.common.sourced_values import Block, texts


@dataclass(frozen=True)
class Map:
    """A map by index, and where it is from."""

    values: tuple[int, ...]
    origin: str


@dataclass(frozen=True)
class PortSettings:
    """Everything of one port that a switch's section can say."""

    queues: dict[int, Block] = field(default_factory=dict)
    groups: dict[int, Block] = field(default_factory=dict)
    maps: dict[str, Map] = field(default_factory=dict)
    pfc: Block = field(default_factory=dict)
    slice: Block = field(default_factory=dict)
    """Which slice of the memory its frames are in; empty where it is in one piece."""

    def said(self) -> dict[str, object]:
        """Return what is said, whatever it is from."""
        maps = {name: one.values for name, one in self.maps.items()}
        blocks = {"queues": self.queues, "priority groups": self.groups, "PFC": {0: self.pfc}, "slice": {0: self.slice}}
        return {
            "maps": maps,
            **{name: {number: texts(block) for number, block in each.items()} for name, each in blocks.items()},
        }
