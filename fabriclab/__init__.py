"""fabriclab: a testbed for congestion in data-centre networks, with real Linux TCP in virtual time.

`import fabriclab; run = fabriclab.run("labs/incast", set={"senders": 16})`: docs/python.md has every name. Each is loaded when it is
first asked for, so that importing the package takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabriclab.api.cancel import Cancel
    from fabriclab.api.failures import RunFailed
    from fabriclab.api.lab import Lab, Setting, load_lab
    from fabriclab.api.listing import labs
    from fabriclab.api.look import CheckedLab, CheckedTopology, FlowTrace, check, node_files, plan, trace
    from fabriclab.api.measured import Run, Sweep, open_run, open_sweep, write_report
    from fabriclab.api.progress import Begun, Ended, Progress, ProgressEvent
    from fabriclab.api.run import run
    from fabriclab.api.sweep import sweep
    from fabriclab.api.validation import Validation, validate
    from fabriclab.engine.artefacts import EngineError
    from fabriclab.errors import ArgumentError, FabriclabError
    from fabriclab.formats.plan.model import Plan
    from fabriclab.lab.reading.problems import LabError, Mistake
    from fabriclab.results.formats import ResultsError
    from fabriclab.workload.trace_problems import TraceError

__version__ = "0.2.0"

_NAMES = {
    "api.cancel": ("Cancel",),
    "api.failures": ("RunFailed",),
    "api.lab": ("Lab", "Setting", "load_lab"),
    "api.listing": ("labs",),
    "api.look": ("CheckedLab", "CheckedTopology", "FlowTrace", "check", "node_files", "plan", "trace"),
    "api.measured": ("Run", "Sweep", "open_run", "open_sweep", "write_report"),
    "api.progress": ("Begun", "Ended", "Progress", "ProgressEvent"),
    "api.run": ("run",),
    "api.sweep": ("sweep",),
    "api.validation": ("Validation", "validate"),
    "engine.artefacts": ("EngineError",),
    "errors": ("ArgumentError", "FabriclabError"),
    "formats.plan.model": ("Plan",),
    "lab.reading.problems": ("LabError", "Mistake"),
    "results.formats": ("ResultsError",),
    "workload.trace_problems": ("TraceError",),
}
"""The public names of each module; the imports above are the same for who reads types."""
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [  # noqa: PLE0604 - the names are those of `_NAMES`
    "__version__",
    *_MODULE_OF,
]


def __getattr__(name: str) -> Any:
    """Return a public name of the package, loading what it needs (PEP 562)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
