"""What is written of a switch's choice among next hops: by a lab, or by the switch's own configuration."""

from __future__ import annotations

from dataclasses import dataclass

from fabriclab.formats.load_balancing import Mode
from fabriclab.lab.reading.problems import Place
from fabriclab.lab.reading.section import Written


@dataclass(frozen=True)
class WrittenLoadBalancing:
    """What is written of a switch's choice, of `default` and its name together; None: nothing."""

    mode: Written[Mode] | None = None
    hash_seed: Written[int] | None = None
    idle_time: Written[int] | None = None
    max_flows: Written[int] | None = None
    load_min: Written[int] | None = None
    load_max: Written[int] | None = None
    hash_fields: Written[int] | None = None
    """Of a switch's own configuration alone: what the hash is made of, as bits of Linux."""

    @property
    def place(self) -> Place | None:
        """Where the mode stands; None: nowhere."""
        return None if self.mode is None else self.mode.place
