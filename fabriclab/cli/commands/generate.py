"""What `fabriclab generate` does: options to quantities, the fabric, its file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from fabriclab import generate
from fabriclab.cli.host.failure import BadInputError, say
from fabriclab.cli.host.output import write_files, write_output
from fabriclab.generate import Fabric, FabricError, experiment_text, parse_ratio, topology_text
from fabriclab.lab import experiment
from fabriclab.lab.network import topology
from fabriclab.units import UnitError, format_count, parse_duration, parse_rate


@dataclass(frozen=True)
class Common:
    """Options that every generator has."""

    name: str | None
    delay: str
    mtu_bytes: int
    out: str
    force: bool

    @property
    def delay_ns(self) -> int:
        """The delay of every link. Raises BadInputError."""
        return _duration("--delay", self.delay)


@dataclass(frozen=True)
class Rates:
    """Rates from the hosts upwards, as written, and the ratio between the first two."""

    host: str
    uplink: str | None
    core: str | None
    oversubscription: str | None

    @property
    def ratio(self) -> Fraction | None:
        """The ratio that is wanted, if one is. Raises FabricError."""
        return None if self.oversubscription is None else parse_ratio(self.oversubscription)


def leaf_spine(spines: int, leaves: int, hosts: int, rates: Rates, common: Common) -> None:
    """Write a leaf-spine fabric."""
    with _problems():
        fabric = generate.leaf_spine(
            common.name or "leaf-spine",
            spines=spines,
            leaves=leaves,
            hosts_per_leaf=hosts,
            host_rate_bps=_rate("--rate", rates.host),
            uplink_rate_bps=_optional_rate("--uplink-rate", rates.uplink),
            oversubscription=rates.ratio,
            delay_ns=common.delay_ns,
            mtu_bytes=common.mtu_bytes,
        )
    _write(fabric, common)


def fat_tree(k: int, hosts_per_edge: int | None, rates: Rates, common: Common) -> None:
    """Write a k-ary fat-tree."""
    with _problems():
        fabric = generate.fat_tree(
            common.name or "fat-tree",
            k=k,
            hosts_per_edge=hosts_per_edge,
            host_rate_bps=_rate("--host-rate", rates.host),
            edge_rate_bps=_optional_rate("--edge-rate", rates.uplink),
            core_rate_bps=_optional_rate("--core-rate", rates.core),
            oversubscription=rates.ratio,
            delay_ns=common.delay_ns,
            mtu_bytes=common.mtu_bytes,
        )
    _write(fabric, common)


def star(hosts: int, rate: str, common: Common) -> None:
    """Write a star."""
    with _problems():
        fabric = generate.star(
            common.name or "star",
            hosts=hosts,
            rate_bps=_rate("--rate", rate),
            delay_ns=common.delay_ns,
            mtu_bytes=common.mtu_bytes,
        )
    _write(fabric, common)


def dumbbell(left: int, right: int, rates: Rates, bottleneck_delay: str | None, common: Common) -> None:
    """Write a dumbbell."""
    with _problems():
        fabric = generate.dumbbell(
            common.name or "dumbbell",
            left=left,
            right=right,
            rate_bps=_rate("--rate", rates.host),
            bottleneck_rate_bps=_rate("--bottleneck-rate", rates.uplink or rates.host),
            bottleneck_delay_ns=_duration("--bottleneck-delay", bottleneck_delay or common.delay),
            delay_ns=common.delay_ns,
            mtu_bytes=common.mtu_bytes,
        )
    _write(fabric, common)


@contextmanager
def _problems() -> Iterator[None]:
    """Turn a fabric that cannot be into bad input."""
    try:
        yield
    except FabricError as error:
        raise BadInputError(str(error)) from error


def _rate(option: str, text: str) -> int:
    try:
        return parse_rate(text)
    except UnitError as error:
        raise BadInputError(f"{option}: {error}") from error


def _optional_rate(option: str, text: str | None) -> int | None:
    return None if text is None else _rate(option, text)


def _duration(option: str, text: str) -> int:
    try:
        return parse_duration(text)
    except UnitError as error:
        raise BadInputError(f"{option}: {error}") from error


def _write(fabric: Fabric, common: Common) -> None:
    text = topology_text(fabric)
    if common.out == "-":
        write_output([text], None)
        return
    directory = Path(common.out)
    file, beginning = directory / topology.FILE_NAME, directory / experiment.FILE_NAME
    if file.exists() and not common.force:
        raise BadInputError(f"{file} is there already; --force replaces it")
    contents = {file: text} | ({} if beginning.exists() else {beginning: experiment_text(fabric)})
    write_files(contents, force=True)
    hosts, switches = (
        format_count(len(fabric.hosts), "host"),
        format_count(len(fabric.nodes) - len(fabric.hosts), "switch"),
    )
    say(f"{file}: {hosts}, {switches}, {format_count(len(fabric.links), 'link')}")
    if beginning in contents:
        say(f"{beginning}: an in-cast to begin with; `fabriclab run {directory}` runs it")
