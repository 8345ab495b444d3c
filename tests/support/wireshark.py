"""Wireshark's decoder on the command line, for tests of captured packets."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from patience import patient


def decoded(capture: Path, *fields: str) -> list[list[str]]:
    """Return fields of each packet as tshark tells them; without tshark the calling test is skipped, for no run of
    fabriclab's needs it."""
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not installed: sudo apt-get install tshark")
    command = [tshark, "-r", str(capture), "-T", "fields", *(word for name in fields for word in ("-e", name))]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=patient(60)).stdout
    return [line.split("\t") for line in told.splitlines()]
