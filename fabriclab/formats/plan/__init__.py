"""The plan as data: one JSON, the same for the same lab, settings and seed.

`fabriclab.resolve` makes it, all below read it.
"""

from fabriclab.formats.plan.model import Plan

__all__ = ["PLAN_FORMAT", "Plan", "parse_plan_json", "plan_json"]

PLAN_FORMAT = "fabriclab-plan-1"
"""The version of the plan's JSON, its key `format`."""


def plan_json(plan: Plan) -> str:
    """Return the plan as indented JSON with a final newline."""
    return plan.model_dump_json(indent=2) + "\n"


def parse_plan_json(text: str) -> Plan:
    """Return the plan of `plan_json`'s text. Raises pydantic.ValidationError."""
    return Plan.model_validate_json(text)
