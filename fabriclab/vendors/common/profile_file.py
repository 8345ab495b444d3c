"""A switch profile (docs/language/shared-buffers.md) as text: every figure with the table|key|field that it is from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fabriclab.units import format_rate
from fabriclab.vendors.common.port_settings import PortSettings
from fabriclab.vendors.common.sourced_values import Block, block_lines, map_text, numbered_lines


@dataclass(frozen=True)
class Profile:
    """What a profile's file says."""

    title: str
    source: str
    bandwidth_bps: int | None
    """The rates of all its ports together; None, with port_rate_bps, where ports have different speeds:
    then it is not scaled by bandwidth."""
    port_rate_bps: int | None
    pools: dict[str, Block]
    settings: PortSettings
    """What all ports have in common."""
    ports: tuple[tuple[str, PortSettings], ...] = ()
    """What holds for some of them only, by key."""
    cell: str | None = None
    """CONFIG_DB has no word for cells."""
    slices: int = 1
    hardware: str = ""
    """What its thresholds were compared with; empty: not said."""


def profile_text(profile: Profile) -> str:
    """Return the file; the same profile gives the same text."""
    return "".join(f"{line}\n" for line in _lines(profile))


def _lines(profile: Profile) -> Iterator[str]:
    yield "format: fabriclab-switch-1"
    yield f"title: {_quoted(profile.title)}"
    yield f"source: {_quoted(profile.source)}"
    if profile.bandwidth_bps is not None and profile.port_rate_bps is not None:
        yield f"bandwidth: {format_rate(profile.bandwidth_bps)}  # PORT|*|speed, all together"
        yield f"port_rate: {format_rate(profile.port_rate_bps)}  # PORT|*|speed"
    if profile.hardware:
        yield f"hardware: {_quoted(profile.hardware)}"
    if profile.cell is not None:
        yield f"cell: {profile.cell}"
    if profile.slices > 1:
        yield f"slices: {profile.slices}"
    yield "pools:"
    yield from block_lines(profile.pools, 2)
    yield from _settings(profile.settings, 0)
    if profile.ports:
        yield "ports:"
    for key, settings in profile.ports:
        yield f"  '{key}':"
        yield from _settings(settings, 4)


def _settings(settings: PortSettings, indent: int) -> Iterator[str]:
    """Yield what holds for ports: maps, queues, priority groups, PFC, slice, trimming."""
    space = " " * indent
    if settings.maps:
        yield f"{space}maps:"
    for name, one in settings.maps.items():
        yield f"{space}  {name}: {map_text(one.values)}  # {one.origin}"
    if settings.queues:
        yield f"{space}queues:"
        yield from numbered_lines(settings.queues, indent + 2)
    if settings.groups:
        yield f"{space}priority_groups:"
        yield from numbered_lines(settings.groups, indent + 2)
    if settings.pfc:
        yield f"{space}pfc:"
        yield from block_lines(settings.pfc, indent + 2)
    if settings.slice:
        yield f"{space}slice:"
        yield from block_lines(settings.slice, indent + 2)
    if settings.trimming:
        yield f"{space}trimming:"
        yield from block_lines(settings.trimming, indent + 2)


def _quoted(text: str) -> str:
    """Return a text as a YAML scalar on one line."""
    shown = "".join(letter if letter.isprintable() else "?" for letter in text)
    return "'" + shown.replace("'", "''") + "'"
