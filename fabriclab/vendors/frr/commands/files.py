"""What `fabriclab import frr` does: configurations in, a lab out, tried before anything is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabriclab.cli.host.failure import BadInputError, say
from fabriclab.files import write_files
from fabriclab.formats.names import NODE_NAME
from fabriclab.lab.network import topology
from fabriclab.units import UnitError, format_duration, format_rate, parse_duration, parse_rate
from fabriclab.vendors.common.imported_lab import name_of, tried_plan
from fabriclab.vendors.frr.lab import ImportedNetwork, import_network

_DEFAULT_NAME = "network"


def import_lab(
    paths: Sequence[Path],
    name: str | None,
    out: Path | None,
    links: Sequence[Path],
    rate: str,
    delay: str,
    force: bool,
) -> None:
    """Write the lab of routers' configurations; say what is in it, and what `fabriclab check` finds doubtful."""
    if name is not None and not NODE_NAME.is_in(name):
        raise BadInputError(f"--name {name!r}: is not a name; write letters, digits, '-' and '_', at most 63")
    for path in paths:
        if not path.exists():
            raise BadInputError(f"{path}: no such file or directory")
    directory = out or Path(name or name_of(paths[0]) or _DEFAULT_NAME)
    network = import_network(paths, name or name_of(directory) or _DEFAULT_NAME, links, *_link(rate, delay))
    plan = tried_plan(network.files, network.sources, directory)
    write_files({directory / file: data for file, data in network.files.items()}, force=force)
    for line in _summary(network, directory):
        say(line)
    for warning in plan.warnings:
        say(f"warning: {warning}")


def _link(rate: str, delay: str) -> tuple[str, str]:
    try:
        rate = format_rate(parse_rate(rate))
    except UnitError as error:
        raise BadInputError(f"--rate: {error}") from error
    try:
        return rate, format_duration(parse_duration(delay))
    except UnitError as error:
        raise BadInputError(f"--delay: {error}") from error


def _summary(network: ImportedNetwork, directory: Path) -> Iterator[str]:
    hosts = len({host.name for host in network.hosts})
    yield (
        f"{directory}: {_count(len(network.routers), 'router')}, {_count(len(network.links), 'link')} between them, "
        f"{_count(hosts, 'host')}"
    )
    ways = Counter(_way(link.found_by) for link in network.links)
    if ways:
        found = ", ".join(f"{way} ({count})" for way, count in ways.items())
        yield f"  links found by {found}; {topology.FILE_NAME} says it for each link"
    for segment in network.segments:
        yield f"  {segment.network}: a bridge, because {len(segment.ends)} routers are in this network"
    if network.notes:
        yield "to know:"
    yield from (f"  {note}" for note in network.notes)
    if network.kept:
        yield f"commands that were kept but not read: {', '.join(network.kept)}"


def _way(found_by: str) -> str:
    return "networks" if "/" in found_by else found_by


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
