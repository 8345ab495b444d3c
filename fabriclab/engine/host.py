"""What a run's manifest says of the host, and of the program that ran it."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from fabriclab.engine.packed import packed_revision
from fabriclab.shipped import PROJECT, is_installed


def describe_host() -> dict[str, Any]:
    """Return the host's processor, usable CPUs and operating system."""
    return {"cpu": _cpu_model(), "cores": len(os.sched_getaffinity(0)), "os": platform.platform()}


def fabriclab_version() -> str:
    """Return the version of this package."""
    try:
        return metadata.version("fabriclab")
    except metadata.PackageNotFoundError:
        return "unknown"


_PUBLISHED = (":!labs/*/published/*", ":!labs/*/README.md", ":!labs/*.svg")
"""What `fabriclab figures` writes: no run depends on it, and the next lab's runs are of the same commit."""


@cache
def git_revision(project: Path = PROJECT) -> str | None:
    """Return the project's commit, `-dirty` when files differ from it that a run could depend on; None where neither a
    git checkout nor a wheel tells."""
    if is_installed():
        return packed_revision()
    if not (project / ".git").exists():
        return None
    try:
        commit = _git(project, "describe", "--always", "--abbrev=12")
        changed = _git(project, "diff", "--name-only", "HEAD", "--", ".", *_PUBLISHED)
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{commit}-dirty" if changed else commit


def _git(project: Path, *arguments: str) -> str:
    command = ["git", "-C", str(project), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout.strip()


def _cpu_model() -> str:
    try:
        with Path("/proc/cpuinfo").open() as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.machine()
