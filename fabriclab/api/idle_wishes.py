"""Wishes of an experiment's `validation` that no point of its lab answers to: an error for `check` and `validate`."""

from __future__ import annotations

from collections.abc import Iterable

from fabriclab.formats.plan import Plan
from fabriclab.lab import Lab
from fabriclab.lab.reading.document import MappingValue
from fabriclab.lab.reading.problems import Problems


def refuse_idle_wishes(lab: Lab, plans: Iterable[Plan]) -> None:
    """Raise LabError for each key of `validation` that nothing answers to in any of these plans.

    They are looked at until each key has something, most often the first alone.
    """
    wanted, section = lab.experiment.validation, lab.document.entries.get("validation")
    if not wanted.keys or not isinstance(section, MappingValue):
        return
    # These take long to import, and few labs say what they want.
    from fabriclab.validation import Bench, idle_wishes

    idle: dict[str, str] | None = None
    for plan in plans:
        found = idle_wishes(Bench(plan, plan, wanted))
        idle = {key: why for key, why in (found if idle is None else idle).items() if key in found}
        if not idle:
            return
    problems = Problems()
    for key, why in (idle or {}).items():
        problems.add(section.key_place(key), f"validation.{key}", f"nothing of the lab answers to it: {why}")
    problems.raise_if_any()
