"""SONiC configurations with a trap each: a sound one (tests/golden/sonic-check/sound.json), and what is changed in it.

A change is a JSON merge patch (RFC 7386): fields that differ, null for what is taken away.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).parents[1] / "golden" / "sonic-check"
SOUND = DIRECTORY / "sound.json"
TRAPS = tuple(sorted(path.stem for path in (DIRECTORY / "traps").glob("*.json")))
FINE = tuple(sorted(path.stem for path in (DIRECTORY / "fine").glob("*.json")))


def sound() -> dict[str, Any]:
    """Return a leaf of five ports at 1 Gbps with two lossless classes, in which nothing is wrong."""
    tables: dict[str, Any] = json.loads(SOUND.read_text(encoding="utf-8"))
    return tables


def trap(name: str) -> dict[str, Any]:
    """Return the configuration that has a trap."""
    return patched(sound(), _change("traps", name))


def fine(name: str) -> dict[str, Any]:
    """Return a configuration that is unusual, and right."""
    return patched(sound(), _change("fine", name))


def _change(directory: str, name: str) -> dict[str, Any]:
    change: dict[str, Any] = json.loads((DIRECTORY / directory / f"{name}.json").read_text(encoding="utf-8"))
    return change


def patched(target: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Return what a merge patch makes of an object."""
    result = dict(target)
    for key, value in change.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            below = result.get(key)
            result[key] = patched(below if isinstance(below, dict) else {}, value)
        else:
            result[key] = value
    return result


def text_of(tables: dict[str, Any]) -> str:
    """Return a config_db.json: a line for each field."""
    return json.dumps(tables, indent=2) + "\n"
