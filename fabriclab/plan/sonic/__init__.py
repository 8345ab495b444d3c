"""A SONiC configuration judged without a lab: what its tables say together that YANG models cannot see."""

from fabriclab.plan.sonic.check import Judgement, judge_config_db
from fabriclab.plan.sonic.findings import SonicFinding
from fabriclab.plan.sonic.rules import RULES, Rule

__all__ = ["RULES", "Judgement", "Rule", "SonicFinding", "judge_config_db"]
