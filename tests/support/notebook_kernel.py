"""What the tests of notebooks do in Jupyter's kernel before each notebook."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import fabriclab.api.run
import fabriclab.runs.sweep
from fabriclab.formats.plan import plan_json
from fabriclab.formats.plan.model import Plan
from fabriclab.runs import RunContext, RunResult, run_point
from fabriclab.runs.point import DONE

FIRST_CELL = """
get_ipython().reset(new_session=False)
import sys
for name in [*sys.modules]:
    if name.partition(".")[0] in ("fabriclab", "notebook_kernel"):
        del sys.modules[name]
if {support!r} not in sys.path:
    sys.path.append({support!r})
import notebook_kernel
notebook_kernel.begin({directory!r})
del notebook_kernel, name, sys
"""
"""It leaves of the notebook before what libraries have loaded: names are gone, and fabriclab is imported anew."""


def first_cell(directory: Path) -> str:
    """Return the cell that comes before a notebook's own, which is executed in this directory."""
    return FIRST_CELL.format(support=str(Path(__file__).parent), directory=str(directory))


def begin(directory: str) -> None:
    """Begin a notebook in a directory. Of points that it asks for several times each runs once."""
    os.chdir(directory)
    run = once(Path(mkdtemp(dir=Path(directory).parent)))
    for module in (fabriclab.api.run, fabriclab.runs.sweep):
        sys.modules[module.__name__].__dict__["run_point"] = run


def once(kept: Path) -> Callable[[Plan, Path, RunContext, Any], RunResult]:
    """Return a `run_point` that keeps runs below `kept`, and copies the one of a plan that it has run before.

    An exercise is tried thrice, and its answer and its check may run the same point. The same plan gives the same bits:
    tests/vm/test_determinism.py shows it by runs that are not copied.
    """
    results: dict[str, RunResult] = {}

    def run(plan: Plan, directory: Path, context: RunContext, on_event: Any) -> RunResult:
        asked = f"{plan_json(plan)} {context.report} {context.cut}"
        if asked in results:
            shutil.copytree(results[asked].directory, directory, dirs_exist_ok=True)
            return replace(results[asked], directory=directory)
        result = run_point(plan, directory, context, on_event)
        if result.status in DONE:
            own = kept / str(len(results))
            shutil.copytree(directory, own, symlinks=True)
            results[asked] = replace(result, directory=own)
        return result

    return run
