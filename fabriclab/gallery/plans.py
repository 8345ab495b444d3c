"""What a matrix was measured of: a digest of the plans of its points, by which data tell that the lab has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from fabriclab.formats.plan.model import Plan

_WORDS = {"lab", "title", "settings", "parameters", "warnings", "checks", "study"}
"""Fields that change no run."""
_DIGITS = 16


def plans_digest(plans: Iterable[Plan]) -> str:
    """Return a digest of plans in any order: of everything that their runs follow from."""
    digests = sorted(hashlib.sha256(plan.model_dump_json(exclude=_WORDS).encode()).hexdigest() for plan in plans)
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:_DIGITS]
