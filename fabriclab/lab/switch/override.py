"""How one mapping of a switch overrides another: key by key, at every depth,
and what is written rules out what contradicts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from fabriclab.formats.classes import QUEUES
from fabriclab.lab.reading.section import Written
from fabriclab.lab.switch.written import Numbered, WrittenAccount, WrittenGroup, WrittenLayer, WrittenMaps, WrittenQueue

K = TypeVar("K")
V = TypeVar("V")


def override_layer(base: WrittenLayer, over: WrittenLayer) -> WrittenLayer:
    """Return `base` with what `over` says in its place."""
    return WrittenLayer(
        cell=over.cell or base.cell,
        slices=over.slices or base.slices,
        pools=override_each(base.pools, over.pools),
        queues=_override_numbered(base.queues, over.queues),
        groups=_override_numbered(base.groups, over.groups),
        maps=_override_maps(base.maps, over.maps),
        pfc=_override_optional(base.pfc, over.pfc),
        slice=override(base.slice, over.slice),
        trimming=_override_optional(base.trimming, over.trimming),
        ports={
            **base.ports,
            **{
                key: override_layer(base.ports[key], one) if key in base.ports else one
                for key, one in over.ports.items()
            },
        },
    )


def by_number(numbered: Numbered[V]) -> dict[int, V]:
    """Return what holds for each number: what is more exact wins, whatever mapping it stands in, key by key."""
    every: dict[int, V] = {} if numbered.default is None else dict.fromkeys(range(QUEUES), numbered.default)
    return dict(sorted(override_each(override_each(every, numbered.ranges), numbered.single).items()))


def _override_numbered(base: Numbered[V], over: Numbered[V]) -> Numbered[V]:
    return Numbered(
        _override_optional(base.default, over.default),
        override_each(base.ranges, over.ranges),
        override_each(base.single, over.single),
    )


def _override_optional(base: V | None, over: V | None) -> V | None:
    return (base if over is None else over) if base is None or over is None else override(base, over)


def override_each(base: Mapping[K, V], over: Mapping[K, V]) -> dict[K, V]:
    """Return every entry of both."""
    return {**base, **{key: override(base[key], value) if key in base else value for key, value in over.items()}}


def override(base: V, over: V) -> V:
    """Return a record of `written` with everything that is written in `over` in its place."""
    if getattr(base, "is_none", False) or getattr(over, "is_none", False):
        return over
    record: Any = base
    changes: dict[str, object] = dict.fromkeys(_ruled_out(over))
    for name in (field.name for field in fields(record)):
        value, before = getattr(over, name), getattr(base, name)
        if value is None:
            continue
        is_part = is_dataclass(value) and not isinstance(value, Written) and before is not None
        changes[name] = override(before, value) if is_part else value
    return cast(V, replace(record, **changes))


def _ruled_out(over: object) -> tuple[str, ...]:
    """Return which values of the base what is written over it rules out."""
    if isinstance(over, WrittenAccount) and over.alpha_log is not None:
        return ("limit",)
    if isinstance(over, WrittenAccount) and over.limit is not None:
        return ("alpha_log",)
    if isinstance(over, WrittenQueue) and over.scheduler is not None and over.scheduler.value == "strict":
        return ("weight",)
    if isinstance(over, WrittenGroup) and over.lossless is not None and not over.lossless.value:
        return ("headroom", "xon", "xon_offset")
    return ()


def _override_maps(base: WrittenMaps, over: WrittenMaps) -> WrittenMaps:
    return WrittenMaps(
        **{field.name: {**getattr(base, field.name), **getattr(over, field.name)} for field in fields(WrittenMaps)}
    )
