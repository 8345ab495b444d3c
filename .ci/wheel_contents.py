"""What a wheel holds beside the package: Hatchling calls this for each one it builds.

Below `fabriclab/shipped` lie the project's labs, distributions and sources, as in a checkout (`fabriclab/shipped.py`
finds them). Where the environment variable FABRICLAB_MACHINE names a directory that `.ci/wheel` has packed, that is
`fabriclab/shipped/machine`, and the wheel is one for x86-64; without it a wheel is for any machine, and has to build
its own. FABRICLAB_PAGE and FABRICLAB_CHARTS name what the browser loads of the live page and of reports
(`.ci/page.py`): `fabriclab/shipped/page` and `fabriclab/shipped/charts`. FABRICLAB_SBOM names the wheel's bill of
materials (`.ci/sbom.py`), which lies where PEP 770 wants it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED = (
    *("labs", "studies", "traffic", "probes", "images"),
    *("Cargo.toml", "Cargo.lock", ".ci", "Makefile", "LICENSE", "CHANGELOG.md", "README.md"),
)
BUNDLES = {"FABRICLAB_PAGE": "page", "FABRICLAB_CHARTS": "charts"}
TAG = "py3-none-manylinux_2_17_x86_64"
"""All that runs on the host is linked statically; the oldest C library is that which the wheels of
Polars and NumPy want."""


class WheelContents(BuildHookInterface[Any]):
    """Adds files to wheels. An editable install has them in the checkout already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say where each file comes from, and for which machines the wheel is."""
        if version == "editable":
            return
        for name in files_of(Path(self.root)):
            build_data["force_include"][name] = f"fabriclab/shipped/{name}"
        for variable, name in BUNDLES.items():
            if os.environ.get(variable):
                build_data["force_include"][os.environ[variable]] = f"fabriclab/shipped/{name}"
        if bill := os.environ.get("FABRICLAB_SBOM"):
            build_data["sbom_files"].append(bill)
        machine = os.environ.get("FABRICLAB_MACHINE")
        if machine:
            build_data["force_include"][machine] = "fabriclab/shipped/machine"
            build_data["pure_python"] = False
            build_data["tag"] = TAG


def files_of(root: Path) -> Iterator[str]:
    """Yield what is shipped, as paths from the root: in a checkout what git knows,
    and not what somebody made beside it."""
    if (root / ".git").exists():
        command = ["git", "-C", root, "ls-files", "-z", "--", *SHIPPED]
        listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        yield from (name for name in listed.split("\0") if (root / name).is_file())
        return
    for name in SHIPPED:
        path = root / name
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (str(file.relative_to(root)) for file in found if file.is_file())
