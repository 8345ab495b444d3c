"""What a run was made with: command, engine, versions, the hashes of what it was built from."""

from __future__ import annotations

import shlex
from typing import Any

from fabriclab.formats.clock import Clock
from fabriclab.formats.manifest import Manifest
from fabriclab.results import Results


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
    ]
    rows += [(str(name), _flat(value)) for name, value in manifest.versions.items() if not isinstance(value, list)]
    rows += [(f"{name} (hash)", _flat(value)) for name, value in manifest.artefacts.items()]
    return [(name, value) for name, value in rows if value]


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
