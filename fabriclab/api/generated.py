"""Generated labs: a fabric's shape becomes a topology file, with a first experiment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from fabriclab import topologies
from fabriclab.api.lab import Lab, PathLike
from fabriclab.files import write_files
from fabriclab.lab import experiment
from fabriclab.lab.network import topology
from fabriclab.language.document import editor_line
from fabriclab.topologies import Fabric, FabricError, experiment_text, parse_ratio, topology_text
from fabriclab.units import UnitError, parse_duration, parse_rate


@dataclass(frozen=True, kw_only=True)
class Shape(ABC):
    """The base of all shapes that `generate` makes a lab of. Rates and delays are texts with units."""

    delay: str = "25 us"
    """The propagation delay of every link, one way."""
    mtu: int = 1500
    """The largest IP packet on every link, in bytes."""
    name: str = ""
    """The lab's name; the shape's, such as `leaf-spine`, where it is empty."""
    ipv6: bool = False
    """Links and switches have IPv6 addresses beside IPv4's."""

    @abstractmethod
    def fabric(self) -> Fabric:
        """Return nodes and links. Raises ArgumentError if such a fabric is impossible."""

    def _of_links(self) -> dict[str, int]:
        return {"delay_ns": _duration("--delay", self.delay), "mtu_bytes": self.mtu}


@dataclass(frozen=True, kw_only=True)
class LeafSpine(Shape):
    """A leaf-spine fabric: leaves with hosts, each with a link to every spine."""

    spines: int = 2
    leaves: int = 4
    hosts: int = 4
    """Hosts on each leaf."""
    rate: str = "1 Gbps"
    """The rate of a host's link."""
    uplink_rate: str | None = None
    """The rate of a link between leaf and spine; the hosts' where it is None, or what `oversubscription` makes it."""
    oversubscription: str | None = None
    """What the hosts of a leaf can send against what its uplinks carry, such as `3:1`."""

    def fabric(self) -> Fabric:
        """Return nodes and links. Raises ArgumentError if such a fabric is impossible."""
        return topologies.leaf_spine(
            self.name or "leaf-spine",
            spines=self.spines,
            leaves=self.leaves,
            hosts_per_leaf=self.hosts,
            host_rate_bps=_rate("--rate", self.rate),
            uplink_rate_bps=_optional_rate("--uplink-rate", self.uplink_rate),
            oversubscription=_ratio(self.oversubscription),
            **self._of_links(),
        )


@dataclass(frozen=True, kw_only=True)
class FatTree(Shape):
    """A k-ary fat-tree (Al-Fares et al., SIGCOMM 2008): k pods, (k/2)^2 cores, k^3/4 hosts."""

    k: int = 4
    """The ports of a switch, an even number."""
    hosts_per_edge: int | None = None
    """Hosts on each edge switch; k/2 where it is None."""
    host_rate: str = "1 Gbps"
    edge_rate: str | None = None
    """The rate of a link between edge and aggregation; the hosts' where it is None."""
    core_rate: str | None = None
    """The rate of a link between aggregation and core; the edges' where it is None."""
    oversubscription: str | None = None
    """What the hosts of an edge switch can send against what its uplinks carry, such as `3:1`."""

    def fabric(self) -> Fabric:
        """Return nodes and links. Raises ArgumentError if such a fabric is impossible."""
        return topologies.fat_tree(
            self.name or "fat-tree",
            k=self.k,
            hosts_per_edge=self.hosts_per_edge,
            host_rate_bps=_rate("--host-rate", self.host_rate),
            edge_rate_bps=_optional_rate("--edge-rate", self.edge_rate),
            core_rate_bps=_optional_rate("--core-rate", self.core_rate),
            oversubscription=_ratio(self.oversubscription),
            **self._of_links(),
        )


@dataclass(frozen=True, kw_only=True)
class Star(Shape):
    """A star: hosts h1, h2, ... on one switch."""

    hosts: int = 8
    rate: str = "1 Gbps"

    def fabric(self) -> Fabric:
        """Return nodes and links. Raises ArgumentError if such a fabric is impossible."""
        rate_bps = _rate("--rate", self.rate)
        return topologies.star(self.name or "star", hosts=self.hosts, rate_bps=rate_bps, **self._of_links())


@dataclass(frozen=True, kw_only=True)
class Dumbbell(Shape):
    """A dumbbell: hosts on two switches, with the bottleneck between them."""

    left: int = 2
    right: int = 2
    rate: str = "1 Gbps"
    """The rate of a host's link."""
    bottleneck_rate: str | None = None
    """The rate of the link between the switches; the hosts' where it is None."""
    bottleneck_delay: str | None = None
    """The delay of that link; every link's where it is None."""

    def fabric(self) -> Fabric:
        """Return nodes and links. Raises ArgumentError if such a fabric is impossible."""
        return topologies.dumbbell(
            self.name or "dumbbell",
            left=self.left,
            right=self.right,
            rate_bps=_rate("--rate", self.rate),
            bottleneck_rate_bps=_rate("--bottleneck-rate", self.bottleneck_rate or self.rate),
            bottleneck_delay_ns=_duration("--bottleneck-delay", self.bottleneck_delay or self.delay),
            **self._of_links(),
        )


@dataclass(frozen=True)
class GeneratedLab:
    """The two files of a generated lab, and its size."""

    name: str
    topology: str
    """The text of `topology.clab.yml`, with a comment that draws it and says how it was made."""
    experiment: str
    """The text of an `experiment.yml` to begin with: all hosts answer the first one at once."""
    hosts: int
    switches: int
    links: int

    @property
    def lab(self) -> Lab:
        """The lab as a `Lab`, which can be changed, planned and run without files."""
        return Lab.from_yaml(self.topology, self.experiment)

    def write(self, directory: PathLike, *, force: bool = False) -> tuple[Path, ...]:
        """Write the topology into a directory, and the experiment if there is none; return the written files.

        Raises ArgumentError if a topology already exists and `force` is not set, OSError.
        """
        file, beginning = Path(directory) / topology.FILE_NAME, Path(directory) / experiment.FILE_NAME
        text = editor_line(Path(directory)) + self.experiment
        contents = {file: self.topology} | ({} if beginning.exists() else {beginning: text})
        write_files(contents, force=force)
        return tuple(contents)


def generate(shape: Shape) -> GeneratedLab:
    """Return the lab of a shape: `LeafSpine`, `FatTree`, `Star` or `Dumbbell`. Nothing is written.

    Raises ArgumentError if such a fabric is impossible, because a number, rate, delay or name is out of range, or two
    of them contradict each other.
    """
    fabric = topologies.with_ipv6(shape.fabric()) if shape.ipv6 else shape.fabric()
    hosts = len(fabric.hosts)
    return GeneratedLab(
        fabric.name,
        topology_text(fabric),
        experiment_text(fabric),
        hosts=hosts,
        switches=len(fabric.nodes) - hosts,
        links=len(fabric.links),
    )


def _rate(option: str, text: str) -> int:
    try:
        return parse_rate(text)
    except UnitError as error:
        raise FabricError(f"{option}: {error}") from error


def _optional_rate(option: str, text: str | None) -> int | None:
    return None if text is None else _rate(option, text)


def _duration(option: str, text: str) -> int:
    try:
        return parse_duration(text)
    except UnitError as error:
        raise FabricError(f"{option}: {error}") from error


def _ratio(text: str | None) -> Fraction | None:
    return None if text is None else parse_ratio(text)
