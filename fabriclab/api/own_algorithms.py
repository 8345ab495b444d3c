"""A lab's own algorithms, compiled before anything is run, so that what is wrong is told with its line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fabriclab.engine.artefacts import Artefacts, EngineError, find_artefacts
from fabriclab.engine.modules import CompileError, compile_modules
from fabriclab.formats.plan import Plan
from fabriclab.lab import LabError
from fabriclab.lab.reading.problems import Mistake


def compile_own(plans: Iterable[Plan], artefacts: Artefacts, directory: Path) -> None:
    """Compile the algorithms of plans whose files lie in a lab's directory; what was compiled before is not again.

    Raises LabError with every mistake in them, EngineError where nothing can be compiled here.
    """
    every = {(one.file, one.module): one for plan in plans for one in plan.algorithms}
    mistakes = []
    for algorithm in every.values():
        try:
            compile_modules(artefacts, [algorithm], directory)
        except CompileError as error:
            mistakes += [Mistake(error.file, one.line, "", "", one.message) for one in error.complaints]
    if mistakes:
        raise LabError(mistakes)


def compiled_or_why_not(plans: Iterable[Plan], directory: Path) -> list[str]:
    """Compile the algorithms of plans where that can be done here; return a sentence that says why not, if so.

    Raises LabError with every mistake in them.
    """
    with_own = [plan for plan in plans if plan.algorithms]
    if not with_own:
        return []
    try:
        compile_own(with_own, find_artefacts(), directory)
    except EngineError as error:
        return [f"algorithms of your own were not compiled: {error}"]
    return []
