"""A lab's own algorithms, compiled before anything is run, so that what is wrong is told with its line."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fabriclab.api.consent import lab_request
from fabriclab.consent.gate import require
from fabriclab.consent.request import ConsentError
from fabriclab.engine.artefacts import Artefacts, EngineError, find_artefacts
from fabriclab.engine.modules import CompileError, compile_modules
from fabriclab.errors import printable
from fabriclab.formats.plan import Plan
from fabriclab.lab import Lab, LabError
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
            mistakes += [Mistake(error.place(one), one.line, "", "", one.message) for one in error.complaints]
    if mistakes:
        raise LabError(mistakes)


def compiled_or_why_not(lab: Lab, plans: Iterable[Plan], asked: bool) -> list[str]:
    """Compile the algorithms of a lab's plans where that can be done here, and may be: the lab is trusted, or one
    `asked` for it. Return a sentence that says why not, if so.

    Raises LabError with every mistake in them.
    """
    with_own = [plan for plan in plans if plan.algorithms]
    if not with_own:
        return []
    try:
        require(lab_request(lab, with_own, "vm"), asked)
    except ConsentError as error:
        files = ", ".join(printable(item.name) for item in error.request.items)
        return [f"{files}: not compiled, because the lab is not trusted yet; `check --compile` does"]
    try:
        compile_own(with_own, find_artefacts(), lab.directory)
    except EngineError as error:
        return [f"your own algorithms were not compiled: {error}"]
    return []
