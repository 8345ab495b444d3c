"""Which versions of FRR compile for the virtual machine."""

from __future__ import annotations

import re

OLDEST = "10.1"
"""The first whose lib/yang.c knows libyang 3, which the virtual machine's Debian has: until 10.0.5 it calls
`ly_set_log_clb` with two arguments, and libyang 3 takes one."""
_RELEASE = re.compile(r"(\d+)\.(\d+)")


def is_buildable(version: str) -> bool:
    """Return whether a version is new enough: 10.1, 10.5.1 or 10.8-dev."""
    return _release(version) >= _release(OLDEST)


def _release(version: str) -> tuple[int, ...]:
    match = _RELEASE.match(version)
    return () if match is None else tuple(map(int, match.groups()))
