"""Every hwsku that SONiC ships comes into a lab, or is refused for a reason that stands here.

Reads a checkout of sonic-buildimage from SONIC_SOURCE; without one `test_sonic_shipped.py` has what stands in them.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import jinja2
import pytest
from sonic_templates import configuration, hwskus

from fabriclab.lab import LabError
from fabriclab.vendors.sonic.lab import import_lab
from fabriclab.vendors.sonic.read import parse_config_db

SOURCE = Path(os.environ.get("SONIC_SOURCE", ""))
REASONS = ("speed: missing; write the port's speed", "port(s) in use; a lab needs at least two")
LEAST_HWSKUS = 100
"""A checkout has several hundred; fewer are something else."""


def outcome(hwsku: Path) -> str:
    """Return what becomes of a hwsku: `in`, or why it does not come in."""
    try:
        data = json.dumps(configuration(hwsku, SOURCE)).encode()
    except (jinja2.TemplateError, json.JSONDecodeError, ZeroDivisionError) as error:
        return f"not rendered: {type(error).__name__}"
    try:
        import_lab(parse_config_db(data, f"{hwsku.name}.json"))
    except LabError as error:
        message = str(error)
        return next((reason for reason in REASONS if reason in message), f"{hwsku}: {message}")
    return "in"


@pytest.mark.skipif(
    not (SOURCE / "device").is_dir() or not os.environ.get("SONIC_SOURCE"),
    reason="SONIC_SOURCE=DIR, a clone of sonic-net/sonic-buildimage, runs it",
)
def test_shipped_configurations_come_in() -> None:
    found = Counter(outcome(hwsku) for hwsku in hwskus(SOURCE))
    print(dict(found))
    assert found["in"] >= LEAST_HWSKUS
    assert not [reason for reason in found if reason != "in" and reason not in REASONS and "not rendered" not in reason]
