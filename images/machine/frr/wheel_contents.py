"""What the wheel holds beside its package: Hatchling calls this. `.ci/wheel.py` packs it."""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelContents(BuildHookInterface[Any]):
    """Adds the packed root file system, and the bill of materials."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say where they lie, and for which machines the wheel is.

        Raises KeyError where FABRICLAB_MACHINE and FABRICLAB_SBOM do not name them: `make wheel` does.
        """
        build_data["force_include"][os.environ["FABRICLAB_MACHINE"]] = "fabriclab_frr/machine"
        build_data["sbom_files"].append(os.environ["FABRICLAB_SBOM"])
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-manylinux_2_17_x86_64"
