"""From a sweep directory to published rows: each point's metrics over its seeds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from fabriclab.gallery.data import NUMBERS, Numbers, Row, Source
from fabriclab.gallery.plans import plans_digest
from fabriclab.gallery.published import GalleryError, Published, Quantity
from fabriclab.gallery.quantities import as_written
from fabriclab.gallery.sizes import of_sizes, sized_by_seed
from fabriclab.results.bootstrap import Estimate, ratio_estimate
from fabriclab.results.paired_differences import change_by_seed, paired_change
from fabriclab.results.sweep import Pool, pooled, read_sweep

_OF_FLOWS = re.compile(r"(fct|coflow)_(mean|median|p95|p99|p999)_ns\[(.+)\]")


def measured(directory: Path, published: Published, matrix: str) -> tuple[list[Row], Source]:
    """Return the rows of a sweep and what it was made with.

    Raises GalleryError when a point is not done, ResultsError when the directory can't be read.
    """
    sweep = read_sweep(directory)
    missing = [point for point in sweep.points if not point.is_whole]
    if missing:
        text = f"{directory}: {len(missing)} of {len(sweep.points)} points are not done"
        raise GalleryError(f"{text} ({missing[0].status}); the same command goes on with them")
    pools = pooled(sweep)
    named = published.settings(matrix)
    rows = [_row(pool, pools, quantity, named) for pool in pools for quantity in published.quantities(matrix)]
    manifests = [run.manifest for run in sweep.runs]
    kernels = {str(manifest.versions.get("kernel") or "") for manifest in manifests}
    commits = {str(manifest.versions.get("git") or "") for manifest in manifests}
    artefacts = {name: value for manifest in manifests for name, value in sorted(manifest.artefacts.items())}
    plans = plans_digest(pool.runs[0].plan for pool in pools)
    return rows, Source(tuple(sorted(commits - {""})), tuple(sorted(kernels - {""})), artefacts, plans)


def _row(pool: Pool, pools: tuple[Pool, ...], quantity: Quantity, named: list[str]) -> Row:
    known = {**{name: pool.parameters[name] for name in named if name in pool.parameters}, **pool.settings}
    settings = {name: as_written(value) for name, value in known.items()}
    numbers, runs = numbers_of(pool, pools, quantity)
    return Row(settings, quantity.column, {name: numbers.get(name) for name in NUMBERS}, runs)


def numbers_of(pool: Pool, pools: Sequence[Pool], quantity: Quantity) -> tuple[Numbers, int]:
    """Return a quantity of one of several points, and how many runs measured it.

    Raises GalleryError where a change has no point that it is against.
    """
    if quantity.against:
        return _against(pool, pools, quantity)
    if quantity.share_of:
        return _share(pool, quantity)
    if quantity.sizes is not None:
        return of_sizes(pool, quantity.metric, quantity.sizes)
    return _own(pool, quantity.metric)


def _own(pool: Pool, metric: str) -> tuple[Numbers, int]:
    values = [float(value) for run in pool.runs if (value := run.summary.get(metric)) is not None]
    found = pool.metric(metric)
    ends = {"least": min(values, default=None), "greatest": max(values, default=None)}
    together = _of_all_flows(pool, metric) if len(values) > 1 else None
    if together is not None:
        return {**together, **ends}, found.runs
    return {"mean": found.mean.value, "low": found.mean.low, "high": found.mean.high, **ends}, found.runs


def _share(pool: Pool, quantity: Quantity) -> tuple[Numbers, int]:
    """Return what one count is of another: of all runs together, and the least and the greatest run's own."""
    pairs = [(run.summary.get(quantity.metric), run.summary.get(quantity.share_of)) for run in pool.runs]
    known = np.array([pair for pair in pairs if pair[0] is not None and pair[1]], dtype=np.float64)
    if not len(known):
        return {}, 0
    values, references = known.T
    shares = values / references
    found = ratio_estimate(values, references) if len(known) > 1 else Estimate(float(shares[0]))
    ends = {"least": float(shares.min()), "greatest": float(shares.max())}
    return {"mean": found.value, "low": found.low, "high": found.high, **ends}, len(known)


def _of_all_flows(pool: Pool, metric: str) -> Numbers | None:
    """Return a statistic of the flows of all runs together; None where the metric is none."""
    parts = _OF_FLOWS.fullmatch(metric)
    if parts is None:
        return None
    kind, statistic, name = parts.groups()
    by = ("class",)
    table = pool.completion_table(by=by) if kind == "fct" else pool.coflow_completion_table(by=by)
    (entry,) = table.filter(pl.col("class") == name).to_dicts()
    return {"mean": entry[statistic], "low": entry[f"{statistic}_low"], "high": entry[f"{statistic}_high"]}


def _against(pool: Pool, pools: Sequence[Pool], quantity: Quantity) -> tuple[Numbers, int]:
    wanted: dict[str, Any] = {**pool.settings, **quantity.against}
    base = next((other for other in pools if other.settings == wanted), None)
    if base is None:
        text = ", ".join(f"{name} {as_written(value)}" for name, value in wanted.items())
        raise GalleryError(f"{quantity.column}: the matrix has no point with {text}")
    if quantity.sizes is None:
        change = paired_change(base, pool, quantity.metric)
    else:
        before, after = (sized_by_seed(one, quantity.metric, quantity.sizes) for one in (base, pool))
        change = change_by_seed(before, after)
    if change is None or base is pool:
        return {}, 0
    return {"mean": change.ratio.value, "low": change.ratio.low, "high": change.ratio.high}, change.pairs
