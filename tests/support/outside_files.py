"""What others publish and tests compare with. SONiC's YANG models lie in the repository (Apache-2.0); what may not lie
there or is too large lies beside it, and where it is missing, tests are skipped and say how to get it."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from repository import GOLDEN, ROOT

from fabriclab.engine.yanglint import PROGRAM

MODELS = GOLDEN / "sonic-yang-models"
"""SONiC's YANG models."""
_SCHEMA = ROOT.parent / "shared" / "data" / "clab.schema.json"

needs_yanglint = pytest.mark.skipif(
    shutil.which(PROGRAM) is None, reason=f"no {PROGRAM}: make deps installs it (Debian: libyang-tools)"
)


def containerlab_schema() -> dict[str, Any]:
    """Return Containerlab's JSON schema of a topology file; the test is skipped where it is missing."""
    if not _SCHEMA.is_file():
        place = _SCHEMA.relative_to(ROOT.parent)
        pytest.skip(f"no {place} beside the repository: copy there schemas/clab.schema.json of srl-labs/containerlab")
    # Its patterns name Unicode classes that Python's regular expressions do not have.
    loaded = json.loads(_SCHEMA.read_text(encoding="utf-8").replace(r"\\p{N}\\p{L}", r"\\w"))
    assert isinstance(loaded, dict)
    return loaded
