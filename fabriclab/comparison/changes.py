"""What is not the same on both sides: settings in the lab's words, the plan behind them, what made the runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fabriclab.comparison.records import Change
from fabriclab.formats.manifest import Manifest
from fabriclab.formats.plan import Plan
from fabriclab.results import Pool, Results
from fabriclab.results.sweep import SEED

MOST_OF_PLAN = 12
"""Differences of plans that are told one by one."""
_NOT_COMPARED = {"format", "settings", "parameters", "seed", "title", "study", "checks", "warnings"}
"""Parts of a plan that are told elsewhere, or that say nothing of what was run."""
_MEMBER = re.compile(r"\[([^\]]*)\]")
"""A member of a list within a path."""
_VERSIONS = ("fabriclab", "git", "kernel")


def changes(base: Sequence[Pool], other: Sequence[Pool], pairs: Sequence[tuple[Pool, Pool]]) -> tuple[Change, ...]:
    """Return all that differs, settings first; of plans and settings that of the first pair that has any."""
    settings = _settings(base, other)
    plans: list[Change] = []
    for here, there in pairs:
        plans = list(_plans(here.runs[0].plan, there.runs[0].plan))
        if plans:
            break
    left = len(plans) - MOST_OF_PLAN
    more = [Change("other parts of the plan", f"{left} more", "not shown")] if left > 0 else []
    return (*settings, *plans[:MOST_OF_PLAN], *more, *_made_with(_runs(base), _runs(other)))


def _runs(pools: Sequence[Pool]) -> list[Results]:
    return [run for pool in pools for run in pool.runs]


def _settings(base: Sequence[Pool], other: Sequence[Pool]) -> Iterator[Change]:
    names = dict.fromkeys(name for pool in (*base, *other) for name in pool.parameters if name != SEED)
    for name in names:
        here, there = ([str(pool.parameters.get(name, "not set")) for pool in pools] for pools in (base, other))
        if set(here) != set(there):
            yield Change(name, _listed(here), _listed(there))
    labs, other_labs = (sorted({run.plan.lab for run in _runs(pools)}) for pools in (base, other))
    if labs != other_labs:
        yield Change("lab", _listed(labs), _listed(other_labs))
    seeds, other_seeds = (sorted({run.plan.seed for run in _runs(pools)}) for pools in (base, other))
    if seeds != other_seeds:
        yield Change("seeds", _listed(map(str, seeds)), _listed(map(str, other_seeds)))


def _plans(base: Plan, other: Plan) -> Iterator[Change]:
    """Yield what differs between two plans; nodes, ports and the like that differ alike are told together."""
    here, there = (dict(_flat(plan.model_dump(mode="json"))) for plan in (base, other))
    alike: dict[tuple[str, str, str], list[str]] = {}
    for key in dict.fromkeys((*here, *there)):
        before, after = here.get(key, "none"), there.get(key, "none")
        if before != after:
            alike.setdefault((_MEMBER.sub("*", key), before, after), []).append(key)
    for (every, before, after), keys in alike.items():
        told = _MEMBER.sub(r"\1", keys[0]) if len(keys) == 1 else f"{every} ({len(keys)} of them)"
        yield Change(told, before, after)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each leaf of a plan with its path; members of lists stand in brackets, by their names where they have
    any."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if path or name not in _NOT_COMPARED:
                yield from _flat(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and any(isinstance(each, Mapping | list) for each in value):
        for index, inner in enumerate(value):
            own = inner.get("name") or inner.get("interface") if isinstance(inner, Mapping) else None
            yield from _flat(inner, f"{path}.[{own if own is not None else index}]")
    else:
        yield path, "none" if value is None else ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _made_with(base: Sequence[Results], other: Sequence[Results]) -> Iterator[Change]:
    here, there = (_environment([run.manifest for run in runs]) for runs in (base, other))
    for name in dict.fromkeys((*here, *there)):
        before, after = here.get(name, ["not said"]), there.get(name, ["not said"])
        if before != after:
            yield Change(name, _listed(before), _listed(after))


def _environment(manifests: Sequence[Manifest]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for manifest in manifests:
        values = {"engine": manifest.engine}
        values |= {name: str(manifest.versions[name]) for name in _VERSIONS if manifest.versions.get(name)}
        values |= {f"{name} (hash)": str(value) for name, value in manifest.artefacts.items()}
        values["packages"] = f"{len(manifest.packages)} packages"
        for name, value in values.items():
            found.setdefault(name, []).append(value)
    return {name: sorted(set(values)) for name, values in found.items()}


def _listed(values: Any) -> str:
    distinct = list(dict.fromkeys(values))
    return ", ".join(distinct) if len(distinct) <= 8 else f"{', '.join(distinct[:6])} and {len(distinct) - 6} more"
