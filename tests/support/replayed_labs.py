"""A live lab whose recorded changes are replayed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FABRICLAB = [sys.executable, "-m", "fabriclab"]


def replayed(directory: Path, speed: str) -> str:
    done = subprocess.run(
        [*FABRICLAB, "replay", str(directory), "--speed", speed], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
