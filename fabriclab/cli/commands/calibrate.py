"""`fabriclab calibrate`: the table of hardware, model and errors."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from fabriclab.api.failures import RunFailed
from fabriclab.calibration.calibrate import PART, RESULT, Calibration, new_calibration
from fabriclab.calibration.calibrate import calibrate as calibrate_directory
from fabriclab.calibration.numbers import NUMBERS, Number, error_of
from fabriclab.cli.host.console import Console
from fabriclab.cli.host.failure import FAILED, INTERRUPTED, OK, BadInputError, say
from fabriclab.cli.host.followed import FollowedRuns

_NEW = "new"
_LOG_WIDTH = 140


def calibrate(words: Sequence[Path]) -> int:
    """Write a new calibration's files, or carry a calibration out; returns the exit status."""
    if str(words[0]) == _NEW:
        if len(words) != 2:
            raise BadInputError("calibrate new: name one directory to create: fabriclab calibrate new DIR")
        for file in new_calibration(words[1]):
            print(file)
        print(f"Next: follow the steps in {words[1]}/calibration.yml.")
        return OK
    if len(words) != 1:
        raise BadInputError(f"calibrate: {len(words)} directories; name one, or write `new` before a new one")
    try:
        with FollowedRuns(f"reading {words[0]}", "vm") as followed:
            result = calibrate_directory(words[0], progress=followed.show, cancel=followed.interrupt)
    except KeyboardInterrupt:
        say("interrupted: nothing was written")
        return INTERRUPTED
    except RunFailed as error:
        say(str(error))
        return FAILED
    _show(result)
    return OK


def _show(result: Calibration) -> None:
    console = Console() if sys.stdout.isatty() else Console(width=_LOG_WIDTH)
    table = Table(box=None, pad_edge=False)
    for heading in ("number", "hardware", "model", "error", "fitted", "error", ""):
        table.add_column(heading, overflow="fold", justify="left" if heading in ("number", "") else "right")
    reasons = []
    for number in NUMBERS:
        hardware = result.hardware.values.get(number.name)
        cells = [_value(number, hardware)]
        for side in (result.before, result.after):
            value = side.values.get(number.name)
            cells += [_value(number, value), _error(number, hardware, value)]
            if hardware is not None and value is None:
                reasons.append(f"{number.title}: absent in the model: {side.absent.get(number.name, '')}")
        table.add_row(number.title, *cells, "fitted to" if result.is_fitted(number.name) else "")
        if hardware is None:
            reasons.append(f"{number.title}: absent: {result.hardware.absent.get(number.name, '')}")
    console.print(table, highlight=False, markup=False)
    for reason in dict.fromkeys(reasons):
        console.print(reason, highlight=False, markup=False)
    console.print(_parameters(result), highlight=False)
    where = result.directory
    console.print(f"{where / RESULT}, {where / PART}: {result.runs} runs of the model", highlight=False, markup=False)


def _parameters(result: Calibration) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("parameter", "described", "fitted", ""):
        table.add_column(heading, overflow="fold")
    fitted = result.fitted.texts()
    for name, text in result.described.texts().items():
        reason = result.unfitted.get(name, "")
        table.add_row(name, text, fitted[name], f"not fitted: {reason}" if reason else "")
    return table


def _value(number: Number, value: float | None) -> str:
    if value is None:
        return "absent"
    unit = number.unit if number.unit == "%" or not number.unit else f" {number.unit}"
    return f"{value:,.4g}{unit}" if value < 1000 else f"{value:,.0f}{unit}"


def _error(number: Number, hardware: float | None, model: float | None) -> str:
    error = None if hardware is None or model is None else error_of(number, hardware, model)
    if error is None:
        return ""
    return f"{error:+.2f} points" if number.by == "difference" else f"{error:+.1f} %"
