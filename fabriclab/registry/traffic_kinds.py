"""The kinds of traffic: how a lab writes each, what flows it comes to, and what is said of it.

A kind is a record of the plan in `fabriclab/formats/plan/traffic`, with a line in the list there, and a file of the
same name in `fabriclab/traffic_kinds` with a `Kind`; that of an application lies in the application's folder. The
record is apart because the plan's JSON is below all layers, and what reads a lab is above. The layers know the list
only; a kind's file is loaded when it is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from fabriclab.formats.plan.traffic import KINDS
from fabriclab.registry.applications import application_of

__all__ = ["KINDS", "load"]


def load(kind: str) -> Any:
    """Return the `Kind` (`fabriclab.traffic_kinds.kind`) of a name in KINDS."""
    application = application_of(kind)
    module = import_module(f"fabriclab.traffic_kinds.{kind}") if application is None else application.load("kind")
    return module.KIND
