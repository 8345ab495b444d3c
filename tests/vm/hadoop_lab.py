"""labs/hadoop for tests, which run where they are asked for (its JVMs compute for minutes), and have its layers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from vm import Vm

from fabriclab.compile import needed_layers
from fabriclab.engine.layers import find_layer
from fabriclab.lab import parse_lab
from fabriclab.resolve import resolve_plan

LAB = Path(__file__).parents[2] / "labs" / "hadoop"
ASKED = "FABRICLAB_HADOOP"


def skip_unless_asked(vm: Vm) -> None:
    """Skip a test that nobody asked for, or whose layers are not there."""
    needed = needed_layers(resolve_plan(parse_lab(LAB), {}))
    missing = [kind for kind, items in needed.items() if find_layer(vm.artefacts.rootfs, kind, items) is None]
    if missing:
        pytest.skip(f"Hadoop's layers are not built ({', '.join(missing)}): `fabriclab run labs/hadoop` builds them")
    if not os.environ.get(ASKED):
        pytest.skip(f"a TeraSort takes minutes of CPU: {ASKED}=1 runs it")
