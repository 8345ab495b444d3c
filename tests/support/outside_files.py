"""What others publish and tests compare with: it lies beside the repository, not in it. Where it is missing, tests are
skipped and say how to get it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fabriclab.engine.yanglint import PROGRAM

_ROOT = Path(__file__).parents[2]
_DATA = _ROOT.parent / "shared" / "data"
MODELS = _DATA / "sonic-yang-models"
"""SONiC's YANG models."""
_SCHEMA = _DATA / "clab.schema.json"

needs_yang_models = pytest.mark.skipif(
    not MODELS.is_dir(),
    reason=f"no {MODELS.relative_to(_ROOT.parent)} beside the repository: copy there "
    "src/sonic-yang-models/yang-models of sonic-net/sonic-buildimage",
)
needs_yanglint = pytest.mark.skipif(
    shutil.which(PROGRAM) is None, reason=f"no {PROGRAM}: make deps installs it (Debian: libyang-tools)"
)


def needs_yang(test: Any) -> Any:
    """Mark a test that puts files to SONiC's YANG models."""
    return needs_yang_models(needs_yanglint(test))


def containerlab_schema() -> dict[str, Any]:
    """Return Containerlab's JSON schema of a topology file; the test is skipped where it is missing."""
    if not _SCHEMA.is_file():
        place = _SCHEMA.relative_to(_ROOT.parent)
        pytest.skip(f"no {place} beside the repository: copy there schemas/clab.schema.json of srl-labs/containerlab")
    # Its patterns name Unicode classes that Python's regular expressions do not have.
    loaded = json.loads(_SCHEMA.read_text(encoding="utf-8").replace(r"\\p{N}\\p{L}", r"\\w"))
    assert isinstance(loaded, dict)
    return loaded
