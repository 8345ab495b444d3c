"""The FRR that `check` speaks of is the one in the machine's root file system."""

from __future__ import annotations

import pytest

from fabriclab.engine.artefacts import Artefacts
from fabriclab.lab.setup.frr_versions import VERSION

pytestmark = pytest.mark.vm


def test_the_machines_frr_has_this_version(artefacts: Artefacts) -> None:
    packages = (artefacts.rootfs.parent / "packages").read_text().splitlines()
    (frr,) = [line for line in packages if line.startswith("frr_")]
    version = frr.split("_")[1].rpartition(":")[2]
    assert version.startswith(VERSION), frr
