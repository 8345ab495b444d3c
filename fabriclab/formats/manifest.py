"""A run's manifest, `manifest.json`: what ran, from what, on what, and how it ended.

`runs` writes it, first of all files, and again when the run has ended; `results`, the report and the Python API read
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict

from fabriclab.constraints import Finite
from fabriclab.formats.asked_figures import ReportSection
from fabriclab.formats.indented import as_python_writes, indented_json
from fabriclab.formats.names import Setting, SettingName
from fabriclab.formats.run_directory import RUN_FORMAT


class Manifest(BaseModel):
    """The keys in the order in which they are written. What an older version did not write has its default."""

    model_config = ConfigDict(extra="allow")

    format: str = RUN_FORMAT
    status: str = "interrupted"
    """How the run ended: complete, limit, starved, stopped, failed, crashed or interrupted."""
    message: str = ""
    """Why it ended so; empty where there is nothing to say."""
    lab: str = ""
    title: str = ""
    settings: dict[SettingName, Setting] = {}
    """What the run changed in the lab, by parameter."""
    seed: int | None = None
    engine: str = ""
    versions: dict[str, str | list[str] | None] = {}
    """By name; `packages` are those of the machine's root file system."""
    artefacts: dict[str, Any] = {}
    """The hashes of what the engine was built from."""
    command: list[str] = []
    """The command line."""
    started: str = ""
    """ISO 8601, UTC; so is `ended`."""
    ended: str | None = None
    """None: it runs, or was killed."""
    wall_s: Annotated[float, Finite()] | None = None
    virtual_s: Annotated[float, Finite(0, 1e12)] | None = None
    """Seconds of the engine's clock (`fabriclab.formats.clock`) that the run came to."""
    host: dict[str, Any] = {}
    """The machine that it ran on."""
    files: dict[str, str] = {}
    """The SHA-256 of each file of the directory by its path."""
    report: ReportSection = {}
    """The experiment's section `report`."""
    plan: dict[str, Any] | None = None
    """A copy of the plan; None in a manifest whose run begins, which is written beside the plan's text."""

    @property
    def packages(self) -> list[str]:
        """The packages of the machine's root file system."""
        found = self.versions.get("packages")
        return found if isinstance(found, list) else []

    @property
    def figures(self) -> list[dict[str, Any]]:
        """The figures that the experiment asks for."""
        return list(self.report.get("figures") or [])

    @property
    def ended_ns(self) -> float:
        """How far the run came, nanoseconds after the epoch of the engine's clock."""
        return (self.virtual_s or 0) * 1e9

    @property
    def calibration_figures(self) -> Mapping[str, Any]:
        """What an engine in real time measured of its host's links before the traffic; empty of any other."""
        found = (self.model_extra or {}).get("calibration")
        return found if isinstance(found, dict) else {}

    def add(self, measured: Mapping[str, Any]) -> None:
        """Add what an engine measured of itself, by keys of its own below the others."""
        for name, value in measured.items():
            setattr(self, name, value)

    def without_plan(self) -> dict[str, Any]:
        """Return what was written, but for the plan."""
        return self.model_dump(exclude={"plan"}, exclude_unset=True)


def plan_in_manifest(text: str) -> str:
    """Return the plan's JSON as it stands in the text of a manifest. It is most of that, and the same each time that
    the manifest is written."""
    # A newline within a text is written as an escape.
    return as_python_writes(text).rstrip("\n").replace("\n", "\n  ")


def manifest_json(manifest: Manifest, plan: str | None = None) -> str:
    """Return a manifest as the text of its file. `plan`: the plan (`plan_in_manifest`), if the record has none."""
    record = manifest.model_dump(exclude={"plan"})
    # The plan stands where the model has it, before what was added to the others.
    words = list(record)
    place = words.index("report") + 1
    before, after = ({word: record[word] for word in part} for part in (words[:place], words[place:]))
    head, tail = indented_json(before).removesuffix("\n}"), indented_json(after).removeprefix("{")
    text = plan_in_manifest(indented_json(manifest.plan)) if plan is None else plan
    return f'{head},\n  "plan": {text}{"," if after else chr(10)}{tail}\n'


def parse_manifest(data: Mapping[str, Any]) -> Manifest:
    """Return the manifest of a file's object. Raises pydantic.ValidationError."""
    return Manifest.model_validate(data)
