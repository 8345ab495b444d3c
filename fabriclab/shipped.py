"""What the project has beside the package: labs, distributions of flow sizes, sources. A wheel brings them along.

In a checkout they lie where they are written, beside `fabriclab/`; an installed package has the same tree below
`shipped` (`.ci/wheel.py` puts it there), so that a name such as `labs` or `traffic/workloads` means the same in both.
"""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
"""The checkout that the package lies in, where it lies in one."""

INSTALLED = Path(__file__).resolve().parent / "shipped"
"""The tree of an installed package; a checkout has none."""


def is_installed() -> bool:
    """Return whether the package is installed from a wheel, and not used from a checkout."""
    return INSTALLED.is_dir()


def shipped(name: str) -> Path:
    """Return where a file or directory of the project lies, such as `labs`.

    It need not exist: not everything travels in a wheel.
    """
    return (INSTALLED if is_installed() else PROJECT) / name
