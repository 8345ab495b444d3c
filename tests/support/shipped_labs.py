"""The labs of the repository, read and planned once in each worker, for tests that look at what they say.

Nothing of them can be changed. A test of reading or planning itself does both anew.
"""

from __future__ import annotations

from functools import cache

from repository import LABS

from fabriclab.formats.plan.model import Plan
from fabriclab.lab import Lab, parse_lab
from fabriclab.resolve import Resolver

NAMES = sorted(path.parent.name for path in LABS.glob("*/experiment.yml"))


@cache
def shipped_lab(name: str) -> Lab:
    """Return a lab; what its matrices' points say was not looked at."""
    return parse_lab(LABS / name, every_point=False)


@cache
def shipped_resolver(name: str) -> Resolver:
    """Return what plans the points of a lab; points share what they have in common."""
    return Resolver(shipped_lab(name))


@cache
def shipped_plan(name: str, **settings: str) -> Plan:
    """Return the plan of a point of a lab."""
    return shipped_resolver(name).resolve(settings)
