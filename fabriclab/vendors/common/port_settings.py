"""What a vendor's configuration says of one port, in the words of the lab language, and which ports say the same: a
profile says each thing once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

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
    trimming: Block = field(default_factory=dict)
    """What becomes of packets that there is no room for; empty where they are dropped."""

    def said(self) -> dict[str, object]:
        """Return what is said, whatever it is from."""
        maps = {name: one.values for name, one in self.maps.items()}
        blocks = {"queues": self.queues, "priority groups": self.groups, "PFC": {0: self.pfc}, "slice": {0: self.slice}}
        blocks["trimming"] = {0: self.trimming}
        return {
            "maps": maps,
            **{name: {number: texts(block) for number, block in each.items()} for name, each in blocks.items()},
        }


K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class PortClass:
    """Ports that say the same, and what is theirs alone."""

    ports: tuple[str, ...]
    settings: PortSettings


def common_and_own(settings: Mapping[str, PortSettings]) -> tuple[PortSettings, tuple[PortClass, ...]]:
    """Return what holds for all ports (one at least), and each class with what does not: queues, groups, maps, PFC,
    slice.

    No class if alike.
    """
    alike = _alike(settings)
    every = [one for one, _ in alike]
    common = PortSettings(
        queues=_shared([one.queues for one in every]),
        groups=_shared([one.groups for one in every]),
        maps={
            name: one
            for name, one in every[0].maps.items()
            if all(other.maps[name].values == one.values for other in every)
        },
        pfc=every[0].pfc if all(texts(one.pfc) == texts(every[0].pfc) for one in every) else {},
        slice=every[0].slice if all(texts(one.slice) == texts(every[0].slice) for one in every) else {},
        trimming=every[0].trimming if all(texts(one.trimming) == texts(every[0].trimming) for one in every) else {},
    )
    own = (PortClass(tuple(ports), _without(one, common)) for one, ports in alike)
    return common, tuple(each for each in own if each.settings != PortSettings())


def _alike(settings: Mapping[str, PortSettings]) -> list[tuple[PortSettings, list[str]]]:
    found: list[tuple[PortSettings, list[str]]] = []
    for port, one in settings.items():
        same = next((ports for known, ports in found if known.said() == one.said()), None)
        if same is None:
            found.append((one, [port]))
        else:
            same.append(port)
    return found


def _shared(every: Sequence[Mapping[int, Block]]) -> dict[int, Block]:
    first = every[0]
    return {
        number: block
        for number, block in first.items()
        if all(number in one and texts(one[number]) == texts(block) for one in every)
    }


def _without(one: PortSettings, common: PortSettings) -> PortSettings:
    return PortSettings(
        queues=_others(one.queues, common.queues),
        groups=_others(one.groups, common.groups),
        maps=_others(one.maps, common.maps),
        pfc={} if common.pfc else one.pfc,
        slice={} if common.slice else one.slice,
        trimming={} if common.trimming else one.trimming,
    )


def _others(own: Mapping[K, V], common: Mapping[K, V]) -> dict[K, V]:
    return {key: value for key, value in own.items() if key not in common}
