"""What a run was made with: command, engine, versions, the hashes of what it was built from."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from fabriclab.formats.clock import Clock
from fabriclab.formats.manifest import Manifest
from fabriclab.report.measured.quantities import format_metric
from fabriclab.results import Results
from fabriclab.units import format_count


def environment_rows(results: Results) -> list[tuple[str, str]]:
    """Return name and text of all that the manifest says."""
    manifest = results.manifest
    rows = [
        ("Command", shlex.join(manifest.command)),
        ("Seed", _flat(manifest.seed)),
        ("Engine", manifest.engine),
        ("Started", manifest.started),
        ("Time", _times(manifest, results.clock)),
        ("Host", _flat(manifest.host)),
        ("Calibration", calibration_text(manifest.calibration_figures)),
    ]
    rows += [(str(name), _flat(value)) for name, value in manifest.versions.items() if not isinstance(value, list)]
    rows += [(f"{name} (hash)", _flat(value)) for name, value in manifest.artefacts.items()]
    return [(name, value) for name, value in rows if value]


def calibration_text(figures: Mapping[str, Any]) -> str:
    """Return in words what was measured of the host's links before the traffic; nothing of an engine that has no need
    to."""
    if not figures:
        return ""
    return "; ".join([_path_text(figures), _line_text(figures), *map(str, figures.get("unmeasured") or ())])


def _path_text(figures: Mapping[str, Any]) -> str:
    path = figures.get("slowest_path")
    if path is None:
        return "no idle round trip was measured"
    where = (
        f"of {format_count(figures['paths'], 'idle path')}, {path['src']} to {path['dst']} differs most from the plan"
    )
    planned = format_metric("_ns", path["planned_ns"])
    if path["measured_ns"] is None:
        return f"{where}: no packet came back; {planned} was planned"
    measured, excess = (format_metric("_ns", path[name]) for name in ("measured_ns", "excess_ns"))
    bound = (
        f"; up to {format_metric('_ns', path['bound_ns'])} more is acceptable" if path["bound_ns"] is not None else ""
    )
    return f"{where}: a round trip takes {measured} instead of {planned}, {excess} more{bound}"


def _line_text(figures: Mapping[str, Any]) -> str:
    line = figures.get("worst_line")
    if line is None:
        return "no link's rate was measured"
    planned = format_metric("_bps", line["planned_bps"])
    if line["measured_bps"] is None:
        return f"the link of {line['port']} carried nothing; {planned} was planned"
    measured = format_metric("_bps", line["measured_bps"])
    bound = f"up to {figures['tolerance']:.0%} is acceptable"
    return (
        f"of {format_count(figures['lines'], 'link')}, that of {line['port']} differs most from the plan: {measured} "
        f"instead of {planned} ({line['deviation']:+.1%}; {bound})"
    )


def package_names(results: Results) -> list[str]:
    """Return the packages of the machine's root file system."""
    return results.manifest.packages


def _times(manifest: Manifest, clock: Clock) -> str:
    wall, ran = manifest.wall_s, manifest.virtual_s
    if wall is None or ran is None:
        return ""
    return f"{ran:.3g} s of {clock} time in {wall:.3g} s"


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_flat(inner)}" for name, inner in value.items())
    return "" if value is None else str(value)
