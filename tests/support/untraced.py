"""What libraries do for a long time is not part of the coverage, and is not traced.

Python 3.11's tracer is called for each line of every module, whether its lines are counted or not. Much of the unit
tests' time goes into reading YAML, and coverage doubled that.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

YAML_TEXTS = 256
"""So many texts' trees are kept: both of every lab, and what a file of tests is about."""


def untraced(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Return a function that does the same while nobody traces; it must not call what is to be covered."""

    @functools.wraps(function)
    def wrapped(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        tracer = sys.gettrace()
        if tracer is None:
            return function(*args, **kwargs)
        sys.settrace(None)
        try:
            return function(*args, **kwargs)
        finally:
            sys.settrace(tracer)
            _called()

    return wrapped


def _called() -> None:
    """Be called: only at a call coverage's tracer goes on, and would miss the lines before the next one."""


def trace_no_libraries() -> None:
    """Replace what reads YAML, where it is loaded, by the same untraced; a text is read once.

    The tree of a text is made from nothing else, and nobody changes it: who reads the same lab again gets the same.
    """
    nodes = sys.modules.get("fabriclab.lab.reading.yaml_nodes")
    if nodes is not None:
        nodes.__dict__["composed"] = functools.lru_cache(maxsize=YAML_TEXTS)(untraced(nodes.composed))
