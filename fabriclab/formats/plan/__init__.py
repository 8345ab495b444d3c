"""The plan as data: one JSON, the same for the same lab, settings and seed.

`fabriclab.resolve` makes it, all below read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabriclab.formats.plan.reading import PlanError, parse_plan, parse_plan_json

if TYPE_CHECKING:
    from fabriclab.formats.plan.model import Plan

__all__ = ["PLAN_FORMAT", "Plan", "PlanError", "parse_plan", "parse_plan_json", "plan_json"]

PLAN_FORMAT = "fabriclab-plan-1"
"""The version of the plan's JSON, its key `format`."""


def __getattr__(name: str) -> Any:
    """Return Plan, whose pydantic is read when it is first asked for: who reads a lab alone does not wait for it."""
    if name == "Plan":
        from fabriclab.formats.plan.model import Plan

        return Plan
    raise AttributeError(name)


def plan_json(plan: Plan) -> str:
    """Return the plan as indented JSON with a final newline."""
    return plan.model_dump_json(indent=2) + "\n"
