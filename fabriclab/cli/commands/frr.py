"""`fabriclab frr`."""

from __future__ import annotations

from pathlib import Path

from fabriclab.api.frr import OWN_VERSION, BuiltFrr, add_frr, frr_versions, remove_frr
from fabriclab.cli.host.consent import with_consent
from fabriclab.cli.host.failure import say

_BYTES_PER_MB = 1_000_000


def add(source: Path, trust: bool) -> None:
    """Build a version of FRR, with consent, and say how labs get it."""
    built = with_consent(lambda given: add_frr(source, trust=given), trust)
    print(f"FRR {built.version} is here, {_size(built)}: {built.layer}")
    say(f'nodes whose image\'s tag or configuration names it run it; switches.NAME.frr: "{built.version}" chooses it')


def list_() -> None:
    """List the versions that nodes can run."""
    print(f"{OWN_VERSION}  the virtual machine's own")
    for built in frr_versions():
        print(f"{built.version}  {_size(built)}  {built.layer}")


def remove(version: str) -> None:
    """Remove a version that was built."""
    built = remove_frr(version)
    print(f"FRR {built.version} is removed, {_size(built)}")


def _size(built: BuiltFrr) -> str:
    return f"{built.size_bytes / _BYTES_PER_MB:.0f} MB"
