"""fabriclab: a testbed for congestion in data-centre networks, with real Linux TCP in virtual time.

`import fabriclab; run = fabriclab.run("labs/incast", set={"senders": 16})`: docs/python.md describes every name. A name
is loaded when it is first used, so that importing the package takes no time.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in `typing`, whose import takes as long as all that `fabriclab exec` needs beside it
if TYPE_CHECKING:
    from typing import Any

    from fabriclab.api.benchmarks import Benchmark as Benchmark
    from fabriclab.api.benchmarks import bench_ai as bench_ai
    from fabriclab.api.bundles import Bundle as Bundle
    from fabriclab.api.bundles import Reproduced as Reproduced
    from fabriclab.api.bundles import bundle as bundle
    from fabriclab.api.bundles import open_bundle as open_bundle
    from fabriclab.api.bundles import reproduce as reproduce
    from fabriclab.api.cancel import Cancel as Cancel
    from fabriclab.api.comparison import Compared as Compared
    from fabriclab.api.comparison import compare as compare
    from fabriclab.api.conversion import ConvertedTrace as ConvertedTrace
    from fabriclab.api.conversion import convert as convert
    from fabriclab.api.drawing import Picture as Picture
    from fabriclab.api.drawing import graph as graph
    from fabriclab.api.exporting import export as export
    from fabriclab.api.failures import RunFailed as RunFailed
    from fabriclab.api.generated import Dumbbell as Dumbbell
    from fabriclab.api.generated import FatTree as FatTree
    from fabriclab.api.generated import GeneratedLab as GeneratedLab
    from fabriclab.api.generated import LeafSpine as LeafSpine
    from fabriclab.api.generated import Shape as Shape
    from fabriclab.api.generated import Star as Star
    from fabriclab.api.generated import generate as generate
    from fabriclab.api.host_report import HostFinding as HostFinding
    from fabriclab.api.host_report import HostReport as HostReport
    from fabriclab.api.host_report import doctor as doctor
    from fabriclab.api.lab import Lab as Lab
    from fabriclab.api.lab import Setting as Setting
    from fabriclab.api.lab import load_lab as load_lab
    from fabriclab.api.listing import labs as labs
    from fabriclab.api.look import CheckedLab as CheckedLab
    from fabriclab.api.look import CheckedTopology as CheckedTopology
    from fabriclab.api.look import FlowTrace as FlowTrace
    from fabriclab.api.look import check as check
    from fabriclab.api.look import node_files as node_files
    from fabriclab.api.look import plan as plan
    from fabriclab.api.look import trace as trace
    from fabriclab.api.measured import Run as Run
    from fabriclab.api.measured import Sweep as Sweep
    from fabriclab.api.measured import open_run as open_run
    from fabriclab.api.measured import open_sweep as open_sweep
    from fabriclab.api.measured import write_report as write_report
    from fabriclab.api.new_lab import NewLab as NewLab
    from fabriclab.api.new_lab import new as new
    from fabriclab.api.progress import Begun as Begun
    from fabriclab.api.progress import Ended as Ended
    from fabriclab.api.progress import Notice as Notice
    from fabriclab.api.progress import Progress as Progress
    from fabriclab.api.progress import ProgressEvent as ProgressEvent
    from fabriclab.api.run import run as run
    from fabriclab.api.sweep import sweep as sweep
    from fabriclab.api.trusting import forget as forget
    from fabriclab.api.trusting import trust as trust
    from fabriclab.api.trusting import trusted as trusted
    from fabriclab.api.validation import Validation as Validation
    from fabriclab.api.validation import validate as validate
    from fabriclab.consent.request import ConsentError as ConsentError
    from fabriclab.engine.artefacts import EngineError as EngineError
    from fabriclab.errors import ArgumentError as ArgumentError
    from fabriclab.errors import FabriclabError as FabriclabError
    from fabriclab.flow_importers.chakra.options import ChakraOptions as ChakraOptions
    from fabriclab.formats.plan.model import Plan as Plan
    from fabriclab.lab.reading.problems import LabError as LabError
    from fabriclab.lab.reading.problems import Mistake as Mistake
    from fabriclab.live.client import LiveError as LiveError
    from fabriclab.live.lab import CommandFailed as CommandFailed
    from fabriclab.live.lab import Executed as Executed
    from fabriclab.live.lab import Live as Live
    from fabriclab.live.lab import up as up
    from fabriclab.live.launch import UpFailed as UpFailed
    from fabriclab.live.saving import SavedLab as SavedLab
    from fabriclab.live.saving import save_lab as save_lab
    from fabriclab.results.csv_logs import ResultsError as ResultsError
    from fabriclab.run_bundles.archive import ArchiveError as ArchiveError
    from fabriclab.workload.site import TraceError as TraceError

__version__ = "0.3.0"

_NAMES = {
    "api.new_lab": ("NewLab", "new"),
    "api.benchmarks": ("Benchmark", "bench_ai"),
    "api.bundles": ("Bundle", "Reproduced", "bundle", "open_bundle", "reproduce"),
    "api.cancel": ("Cancel",),
    "api.comparison": ("Compared", "compare"),
    "api.conversion": ("ConvertedTrace", "convert"),
    "api.drawing": ("Picture", "graph"),
    "api.exporting": ("export",),
    "api.failures": ("RunFailed",),
    "api.generated": ("Dumbbell", "FatTree", "GeneratedLab", "LeafSpine", "Shape", "Star", "generate"),
    "api.host_report": ("HostFinding", "HostReport", "doctor"),
    "api.lab": ("Lab", "Setting", "load_lab"),
    "api.listing": ("labs",),
    "api.look": ("CheckedLab", "CheckedTopology", "FlowTrace", "check", "node_files", "plan", "trace"),
    "api.measured": ("Run", "Sweep", "open_run", "open_sweep", "write_report"),
    "api.progress": ("Begun", "Ended", "Notice", "Progress", "ProgressEvent"),
    "api.run": ("run",),
    "api.sweep": ("sweep",),
    "api.trusting": ("forget", "trust", "trusted"),
    "api.validation": ("Validation", "validate"),
    "consent.request": ("ConsentError",),
    "engine.artefacts": ("EngineError",),
    "errors": ("ArgumentError", "FabriclabError"),
    "run_bundles.archive": ("ArchiveError",),
    "flow_importers.chakra.options": ("ChakraOptions",),
    "formats.plan.model": ("Plan",),
    "lab.reading.problems": ("LabError", "Mistake"),
    "live.client": ("LiveError",),
    "live.lab": ("CommandFailed", "Executed", "Live", "up"),
    "live.launch": ("UpFailed",),
    "live.saving": ("SavedLab", "save_lab"),
    "results.csv_logs": ("ResultsError",),
    "workload.site": ("TraceError",),
}
"""The public names of each module; the imports above are the same for who reads types."""
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Return a public name of the package, loading what it needs (PEP 562)."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
