"""The sources of a measurement in the guest: a hash of what decides about it, and the commit."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

_DECIDES = (
    *("fabriclab", "images", "labs", "probes", "traffic", "tests/containers", "tests/support", "tests/conftest.py"),
    *("Cargo.lock", "pyproject.toml", ".ci/locks/guest.txt"),
)
_DOES_NOT = (".md", ".svg")


def sources(root: Path) -> str:
    """Return the hash of the files below a checkout's root that decide what the guest measures.

    Texts for readers, and what labs publish, decide nothing.
    """
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *_DECIDES]
    names = subprocess.run(argv, cwd=root, capture_output=True, text=True, check=True).stdout.split("\0")
    known = hashlib.sha256()
    for name in sorted({name for name in names if name}):
        path = root / name
        if path.suffix in _DOES_NOT or "published" in path.parts or not path.is_file():
            continue
        known.update(f"{name}\0{path.stat().st_size}\0".encode())
        known.update(path.read_bytes())
    return known.hexdigest()[:16]


def commit(root: Path) -> str:
    """Return the checkout's commit, with a mark if files differ from it."""
    argv = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(argv, cwd=root, capture_output=True, text=True, check=True).stdout.strip()
