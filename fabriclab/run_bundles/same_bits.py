"""Whether two runs have the same bits: table by table, and where they begin to differ."""

from __future__ import annotations

import filecmp
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from fabriclab.formats.run_directory import INPUTS, SUMMARY
from fabriclab.results import Results


@dataclass(frozen=True)
class Agreement:
    """One table, or the summary, of two runs."""

    name: str
    is_same: bool
    told: str
    """Where they begin to differ; empty where they don't."""


def agreements(earlier: Results, later: Results) -> list[Agreement]:
    """Return for each table of either run whether both have the same bits. Raises OSError."""
    names = dict.fromkeys(path.name for run in (earlier, later) for path in sorted(run.directory.glob("*.parquet")))
    found = [_table(name, earlier.directory / name, later.directory / name) for name in names]
    return [inputs_agreement(earlier.directory, later.directory), *found, _summary(earlier, later)]


def inputs_agreement(earlier: Path, later: Path) -> Agreement:
    """Return whether two run directories were given the same: node files, job and flow trace. Raises OSError."""
    files = [
        {
            path.relative_to(run).as_posix(): path
            for name in INPUTS
            for path in sorted((run / name).rglob("*"))
            if path.is_file()
        }
        for run in (earlier, later)
    ]
    for name in dict.fromkeys((*files[0], *files[1])):
        here, there = (of_run.get(name) for of_run in files)
        if here is None or there is None or not filecmp.cmp(here, there, shallow=False):
            return Agreement(
                "inputs", False, f"{name} differs, because another version of fabriclab compiles this plan differently"
            )
    return Agreement("inputs", True, "")


def made_otherwise(earlier: Results, later: Results) -> Iterator[str]:
    """Yield what the two runs were made with that is not the same, in words."""
    before, after = (_made_with(run) for run in (earlier, later))
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            old, new = (versions.get(name) or "not recorded" for versions in (before, after))
            yield f"{name}: {old} in the bundle, {new} here"


def _made_with(run: Results) -> dict[str, object]:
    versions = {name: run.manifest.versions.get(name) for name in ("fabriclab", "git", "kernel")}
    return {**versions, **{f"{name} (hash)": value for name, value in run.manifest.artefacts.items()}}


def _table(name: str, earlier: Path, later: Path) -> Agreement:
    title = name.removesuffix(".parquet")
    for path, where in ((earlier, "in the bundle"), (later, "here")):
        if not path.is_file():
            return Agreement(title, False, f"is missing {where}")
    if filecmp.cmp(earlier, later, shallow=False):
        return Agreement(title, True, "")
    # Another version of Polars may write the same rows as other bytes.
    told = _first_difference(pl.read_parquet(earlier), pl.read_parquet(later))
    return Agreement(title, not told, told)


def _first_difference(earlier: pl.DataFrame, later: pl.DataFrame) -> str:
    if earlier.columns != later.columns:
        return f"has different columns: {', '.join(sorted(set(earlier.columns) ^ set(later.columns))) or 'their order'}"
    height = min(earlier.height, later.height)
    differs = pl.Series([False] * height, dtype=pl.Boolean)
    for column in earlier.columns:
        differs |= earlier[column].head(height).ne_missing(later[column].head(height))
    row = differs.arg_true().head(1)
    if row.is_empty():
        return "" if earlier.height == later.height else f"has {later.height} rows instead of {earlier.height}"
    at = row.item()
    for column in earlier.columns:
        before, after = earlier[column][at], later[column][at]
        if before != after:
            return f"differs from row {at + 1} on: {column} is {after} instead of {before}"
    return ""


def _summary(earlier: Results, later: Results) -> Agreement:
    for name in dict.fromkeys((*earlier.summary, *later.summary)):
        before, after = earlier.summary.get(name), later.summary.get(name)
        if before != after:
            return Agreement(SUMMARY.removesuffix(".json"), False, f"{name} is {after} instead of {before}")
    return Agreement(SUMMARY.removesuffix(".json"), True, "")
