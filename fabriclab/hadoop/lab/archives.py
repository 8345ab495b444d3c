"""The Java archives of each version of Hadoop that the project knows: the files of `traffic/hadoop`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fabriclab.shipped import shipped

DIRECTORY = shipped("traffic/hadoop")
TEZ_DIRECTORY = DIRECTORY / "tez"
TEZ_VERSION = "0.10.4"
"""What Hadoop 3.4 runs."""


@cache
def versions() -> tuple[str, ...]:
    """Return the versions, the newest last."""
    return tuple(
        sorted((path.stem for path in DIRECTORY.glob("*.txt")), key=lambda name: list(map(int, name.split("."))))
    )


@cache
def archives(version: str) -> tuple[str, ...]:
    """Return a version's archives, each `GROUP:ARTIFACT:VERSION[:CLASSIFIER]=SHA256`."""
    return _listed(DIRECTORY / f"{version}.txt")


@cache
def tez_archives(version: str) -> tuple[str, ...]:
    """Return a version of Tez's archives, beside Hadoop's."""
    return _listed(TEZ_DIRECTORY / f"{version}.txt")


def _listed(file: Path) -> tuple[str, ...]:
    lines = file.read_text(encoding="utf-8").splitlines()
    return tuple("=".join(line.split()) for line in lines if line and not line.startswith("#"))
