"""Rules of several switches together: what one config_db.json cannot show, because another one says something else.

`fabriclab sonic check` asks them of several files, whose links it finds as the import does; a lab of switches of kind
sonic-vs asks them of its own links.
"""

from fabriclab.vendors.sonic.fabric.files import FabricJudgement, judge_files
from fabriclab.vendors.sonic.fabric.judge import judge_fabric
from fabriclab.vendors.sonic.fabric.view import FabricFinding

__all__ = ["FabricFinding", "FabricJudgement", "judge_fabric", "judge_files"]
