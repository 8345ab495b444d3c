"""A SONiC configuration judged without a lab: what its tables say together that YANG models cannot see."""

from fabriclab.vendors.sonic.judge.changes import Change, changes
from fabriclab.vendors.sonic.judge.check import Judgement, judge_config_db
from fabriclab.vendors.sonic.judge.findings import SonicFinding
from fabriclab.vendors.sonic.judge.rules import RULES, Rule

__all__ = ["RULES", "Change", "Judgement", "Rule", "SonicFinding", "changes", "judge_config_db"]
