"""What a run was made with: command, engine, versions, the hashes of what it was built from."""

from __future__ import annotations

import shlex
from typing import Any

from fabriclab.formats.clock import Clock
from fabriclab.results import Results


def environment_rows(results: Results) -> list[tuple[str, str]]:
    """Return name and text of all that the manifest says."""
    manifest = results.manifest
    rows = [
        ("Command", shlex.join(str(word) for word in manifest.get("command") or [])),
        ("Seed", str(manifest.get("seed", ""))),
        ("Engine", str(manifest.get("engine", ""))),
        ("Started", str(manifest.get("started", ""))),
        ("Time", _times(manifest, results.clock)),
        ("Host", _flat(manifest.get("host"))),
    ]
    versions = manifest.get("versions") or {}
    rows += [(str(name), _flat(value)) for name, value in versions.items() if not isinstance(value, list)]
    rows += [(f"{name} (hash)", _flat(value)) for name, value in (manifest.get("artefacts") or {}).items()]
    return [(name, value) for name, value in rows if value]


def package_names(results: Results) -> list[str]:
    """Return the packages of the machine's root file system."""
    return [str(package) for package in (results.manifest.get("versions") or {}).get("packages") or []]


def _times(manifest: dict[str, Any], clock: Clock) -> str:
    wall, ran = manifest.get("wall_s"), manifest.get("virtual_s")
    if wall is None or ran is None:
        return ""
    return f"{float(ran):.3g} s of {clock} time in {float(wall):.3g} s"


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_flat(inner)}" for name, inner in value.items())
    return "" if value is None else str(value)
