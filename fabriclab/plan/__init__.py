"""The plan: what a lab means, every default explicit; one JSON, the same for the same lab, settings and seed."""

from fabriclab.plan.model import Plan
from fabriclab.plan.resolve import Resolver, resolve_plan

__all__ = ["Plan", "Resolver", "parse_plan_json", "plan_json", "resolve_plan"]


def plan_json(plan: Plan) -> str:
    """Return the plan as indented JSON with a final newline."""
    return plan.model_dump_json(indent=2) + "\n"


def parse_plan_json(text: str) -> Plan:
    """Return the plan of `plan_json`'s text. Raises pydantic.ValidationError."""
    return Plan.model_validate_json(text)
