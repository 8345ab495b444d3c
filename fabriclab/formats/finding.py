"""What a check of a configuration finds, as all checks have it: a rule, where, a value, its bound, what follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""The worst first. A note is worth knowing, and fails nothing."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong (error), probably not meant (warning), or worth knowing (note)."""

    rule: str
    """In kebab-case, e.g. `ecn-unreachable`."""
    severity: Severity
    path: tuple[str, ...]
    """The field, from the outside in, in the words of what was checked."""
    value: str
    """What stands there, with its unit; empty where nothing is written."""
    bound: str
    """What the value is compared with, in words that go on from the value: `not below 24 KB, the most that ...`."""
    consequence: str
    remedy: str = ""
    """What to write instead, in the words of what was checked."""
    ports: tuple[str, ...] = ()
    """At which ports; empty: of the whole switch."""
