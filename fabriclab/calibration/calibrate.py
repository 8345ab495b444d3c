"""A calibration from its beginning to its files: the hardware's numbers, the model's, the fit, the model's again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabriclab.api.lab import PathLike
from fabriclab.api.progress import Notice, ProgressCallback, ignored
from fabriclab.calibration.description import FILE_NAME, TEMPLATE, Description, read_description
from fabriclab.calibration.fitting import (
    NUMBER_OF,
    best_interrupts,
    corrected,
    first_guess,
    interrupt_candidates,
    unfitted,
)
from fabriclab.calibration.measured import Measured, read_measured
from fabriclab.calibration.model import PROTOCOL, Model, Parameters, network, settings
from fabriclab.calibration.numbers import NUMBERS, error_of
from fabriclab.engine.host import fabriclab_version
from fabriclab.engine.interrupt import Interrupt
from fabriclab.errors import ArgumentError
from fabriclab.files import write_files
from fabriclab.lab.reading.problems import Problems

FORMAT = "fabriclab-calibrated-1"
RESULT = "calibrated.json"
PART = "calibrated.yml"
"""The sections of an experiment.yml that the fit found."""
_ROUNDS = 3
"""Corrections of round trips; the second one has mostly nothing left to do."""


@dataclass(frozen=True)
class Calibration:
    """The result of a calibration."""

    directory: Path
    hardware: Measured
    before: Measured
    """The model as described."""
    after: Measured
    """The model after the fit."""
    described: Parameters
    fitted: Parameters
    unfitted: Mapping[str, str]
    """The parameters that were not fitted, and the reason for each."""
    runs: int
    """How often the protocol ran in the model."""

    def is_fitted(self, number: str) -> bool:
        """Return whether a parameter was fitted to this number; such a number is no test of the model."""
        return any(number == used and name not in self.unfitted for name, used in NUMBER_OF.items())


def new_calibration(directory: PathLike) -> tuple[Path, ...]:
    """Write a commented description and the protocol into a directory, which is made; return the files.

    Raises ArgumentError if one of them exists, OSError.
    """
    place = Path(directory)
    files: dict[Path, str | bytes] = {
        place / FILE_NAME: TEMPLATE,
        place / PROTOCOL.name: PROTOCOL.read_bytes(),
    }
    for file in files:
        if file.exists() or file.is_symlink():
            raise ArgumentError("{0} already exists; name a new directory", file)
    write_files(files, force=False)
    return tuple(files)


def calibrate(
    directory: PathLike, *, progress: ProgressCallback | None = None, cancel: Interrupt | None = None
) -> Calibration:
    """Compare the hardware's numbers with the model's, fit the model, and write `calibrated.json` and `calibrated.yml`.

    `directory` has `calibration.yml` and `measured.txt`; the path of `calibration.yml` itself is also taken. Raises
    LabError with every mistake in the two files, KeyboardInterrupt if it was stopped (nothing is written then), and
    otherwise what `fabriclab.run` raises.
    """
    place = Path(directory)
    place = place.parent if place.name == FILE_NAME else place
    problems = Problems()
    description = read_description(place, problems)
    hardware = read_measured(place, problems)
    problems.raise_if_any()
    assert description is not None and hardware is not None
    model = Model(description, hardware.seconds, progress, cancel)
    result = _fit(place, description, hardware, model, progress or ignored)
    write_files({place / RESULT: _json(result), place / PART: _part(description, result)}, force=True)
    return result


def _fit(
    place: Path, description: Description, hardware: Measured, model: Model, tell: ProgressCallback
) -> Calibration:
    described = first_guess(description, hardware.values)
    before = model.measure(described)
    fixed = unfitted(description, hardware.values, described)
    parameters, values = described, dict(before.values)
    if "interrupt_delay" not in fixed:
        parameters, values = _best_interrupts(described, hardware, values, model, tell)
    after = before
    for _ in range(_ROUNDS):
        better = corrected(description, parameters, hardware.values, values, fixed)
        if better == parameters and (after is not before or parameters == described):
            break
        parameters = better
        tell(Notice(f"run {model.runs + 1}: {_words(parameters)}"))
        after = model.measure(parameters)
        values = dict(after.values)
    return Calibration(place, hardware, before, after, described, parameters, fixed, model.runs)


def _best_interrupts(
    parameters: Parameters, hardware: Measured, values: dict[str, float], model: Model, tell: ProgressCallback
) -> tuple[Parameters, dict[str, float]]:
    """Return the parameters with the interrupt delay that fits best, and the model's numbers with it."""
    trials = [(parameters, values)]
    for candidate in interrupt_candidates(parameters, hardware.values, values):
        tried = replace(parameters, interrupt_delay=candidate)
        tell(Notice(f"run {model.runs + 1}: interrupt_delay {tried.texts()['interrupt_delay']}"))
        trials.append((tried, {**values, **model.measure(tried, ("idle", "one")).values}))
    best, found = best_interrupts(trials, hardware.values)
    return best, dict(found)


def _words(parameters: Parameters) -> str:
    return ", ".join(f"{name} {text}" for name, text in parameters.texts().items())


def _json(result: Calibration) -> str:
    return json.dumps(document(result), indent=2) + "\n"


def document(result: Calibration) -> dict[str, Any]:
    """Return all numbers, errors, parameters and versions as plain data. An absent number is null, with its reason."""
    numbers = []
    for number in NUMBERS:
        sides = {"hardware": result.hardware, "described": result.before, "fitted": result.after}
        values = {side: measured.values.get(number.name) for side, measured in sides.items()}
        hardware = values["hardware"]
        errors = {
            side: None if hardware is None or value is None else error_of(number, hardware, value)
            for side, value in values.items()
            if side != "hardware"
        }
        absent = {side: each.absent[number.name] for side, each in sides.items() if number.name in each.absent}
        numbers.append(
            {
                "name": number.name,
                "error_unit": "%" if number.by == "share" else "percentage points",
                "is_fitted": result.is_fitted(number.name),
                "values": values,
                "errors": errors,
                "absent": absent,
            }
        )
    return {
        "format": FORMAT,
        "fabriclab": fabriclab_version(),
        "seconds": result.hardware.seconds,
        "kernels": {"hardware": result.hardware.kernel, "model": result.after.kernel},
        "parameters": {"described": result.described.texts(), "fitted": result.fitted.texts()},
        "unfitted": dict(result.unfitted),
        "numbers": numbers,
    }


def _part(description: Description, result: Calibration) -> str:
    link = network(description, result.fitted, "calibrated")["topology"]["links"][0]["vars"]
    head = (
        "# Made by `fabriclab calibrate`. Copy these sections into the experiment.yml of a lab.\n"
        "# calibrated.json says how large the model's errors are.\n"
    )
    sections = {**settings(description, result.fitted), "links": {"delay": link["delay"]}}
    return head + "".join(_yaml(sections, 0))


def _yaml(data: Mapping[str, Any], depth: int) -> list[str]:
    lines = []
    for key, value in data.items():
        indent = "  " * depth
        if isinstance(value, Mapping):
            lines += [f"{indent}{key}:\n", *_yaml(value, depth + 1)]
        else:
            lines.append(f"{indent}{key}: {str(value).lower() if isinstance(value, bool) else value}\n")
    return lines
