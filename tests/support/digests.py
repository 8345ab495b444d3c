"""What a run's files are, in few words: two runs of one lab are compared by them."""

from __future__ import annotations

import hashlib
from pathlib import Path


def digests(directory: Path) -> dict[str, str]:
    """Return the hash of each table and capture of a run directory, by the file's name."""
    files = [*directory.glob("*.parquet"), *directory.glob("pcap/*.pcapng")]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files)}
