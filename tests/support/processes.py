"""What tests ask of processes that come and go in real time."""

from __future__ import annotations

from pathlib import Path


def live_processes(mark: str) -> list[int]:
    """Return the processes whose command line holds `mark`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(entry.name))
    return found
