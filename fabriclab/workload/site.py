"""What the generators know of a lab: its hosts, their racks and lines, and the seed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from fabriclab.errors import FabriclabError
from fabriclab.formats.family import Family
from fabriclab.formats.plan.model import Plan
from fabriclab.workload.randomness import Integers, Stream


class TraceError(FabriclabError, ValueError):
    """A flow trace that can't be made or used; the text names what is wrong (of a file: file, line, value) and what
    would be right."""


@dataclass(frozen=True)
class Site:
    """The hosts of a plan and its seed."""

    hosts: tuple[str, ...]
    racks: Mapping[str, str]
    """The rack of each host, which is its first switch."""
    rates_bps: Mapping[str, int]
    """The rate of each host's line, all its ports together, in bit/s."""
    seed: int
    families: tuple[Family, ...] = (4,)
    """The versions of IP of which the fabric has addresses."""

    @cached_property
    def host_type(self) -> pl.Enum:
        """The type of a column of hosts."""
        return pl.Enum(self.hosts)

    @cached_property
    def host_column(self) -> pl.Series:
        """All hosts in their order, as a column."""
        return pl.Series(self.hosts, dtype=self.host_type)

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {name: number for number, name in enumerate(self.hosts)}

    def indices(self, names: Iterable[str]) -> Integers:
        """Return the numbers of hosts in `hosts`."""
        return np.array([self._numbers[name] for name in names], dtype=np.int64)

    def stream(self, traffic: str, host: str, purpose: str) -> Stream:
        """Return the random numbers of one host of one traffic for one purpose; `host` is empty for
        draws that concern all."""
        return Stream(self.seed, traffic, host, purpose)

    def order(self, traffic: str, names: Iterable[str]) -> list[str]:
        """Return hosts in the seed's order, one order for each traffic.

        Who starts at the same moment is asked one after the other all the same, and senders in lockstep stay in
        lockstep: which of them loses hangs on that order (S. Floyd, V. Jacobson, "On Traffic Phase Effects in
        Packet-Switched Gateways", 1992).
        """
        return sorted(
            names, key=lambda name: hashlib.blake2b(f"{self.seed} {traffic} {name}".encode(), digest_size=16).digest()
        )


def site_of(plan: Plan) -> Site:
    """Return the site of a plan."""
    hosts = [node for node in plan.nodes if node.role == "host"]
    return Site(
        hosts=tuple(host.name for host in hosts),
        racks={host.name: host.ports[0].peer_node for host in hosts if host.ports},
        rates_bps={host.name: sum(port.rate_bps for port in host.ports) for host in hosts},
        seed=plan.seed,
        families=plan.families,
    )
