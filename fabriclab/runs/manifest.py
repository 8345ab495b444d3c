"""The manifest of a run: what ran, from what, on what, how it ended."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fabriclab.engine.artefacts import listed_packages
from fabriclab.engine.host import describe_host, fabriclab_version, git_revision
from fabriclab.formats.manifest import Manifest
from fabriclab.formats.plan.model import Plan
from fabriclab.formats.run_directory import MANIFEST
from fabriclab.runs.engines import MadeFrom, engine_name, layers_of

# Not hashed: it holds the hashes; it can be written anew from the rest.
_NOT_HASHED = (MANIFEST, "report.html")


def new_manifest(plan: Plan, artefacts: MadeFrom, command: Sequence[str], report: Mapping[str, Any]) -> Manifest:
    """Return the manifest of a run that begins, without the plan. Should nothing finish it, it tells the truth."""
    return Manifest(
        message="the run did not finish, because fabriclab was killed",
        lab=plan.lab,
        title=plan.title,
        settings=dict(plan.settings),
        seed=plan.seed,
        engine=engine_name(artefacts),
        versions={
            "fabriclab": fabriclab_version(),
            "git": git_revision(),
            "kernel": None,
            "packages": artefacts.packages(),
            **_layer_versions(plan, artefacts),
        },
        artefacts={**artefacts.hashes(), **_layer_hashes(plan, artefacts)},
        command=list(command),
        started=utc_now(),
        host=describe_host(),
        report=dict(report),
    )


def _layer_hashes(plan: Plan, artefacts: MadeFrom) -> dict[str, str]:
    return {f"layer-{name}": root.parent.name for name, root in layers_of(plan, artefacts).items()}


def _layer_versions(plan: Plan, artefacts: MadeFrom) -> dict[str, list[str]]:
    layers = layers_of(plan, artefacts)
    return {f"layer-{name}": listed_packages(root.parent) for name, root in layers.items()}


def utc_now() -> str:
    """Return the time as ISO 8601, UTC, in seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def kernel_release(directory: Path) -> str | None:
    """Return the kernel as it named itself, None when it did not come so far."""
    try:
        return (directory / "collect" / "kernel-release").read_text().strip() or None
    except OSError:
        return None


def hash_files(directory: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a run directory by its relative path."""
    hashes = {}
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.is_file() and name not in _NOT_HASHED:
            with path.open("rb") as file:
                hashes[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return hashes
