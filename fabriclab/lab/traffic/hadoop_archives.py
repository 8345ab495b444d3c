"""The Java archives of each version of Hadoop that the project knows: the files of `traffic/hadoop`."""

from __future__ import annotations

from functools import cache

from fabriclab.shipped import shipped

DIRECTORY = shipped("traffic/hadoop")


@cache
def versions() -> tuple[str, ...]:
    """Return the versions, the newest last."""
    return tuple(
        sorted((path.stem for path in DIRECTORY.glob("*.txt")), key=lambda name: list(map(int, name.split("."))))
    )


@cache
def archives(version: str) -> tuple[str, ...]:
    """Return a version's archives, each `GROUP:ARTIFACT:VERSION[:CLASSIFIER]=SHA256`."""
    lines = (DIRECTORY / f"{version}.txt").read_text(encoding="utf-8").splitlines()
    return tuple("=".join(line.split()) for line in lines if line and not line.startswith("#"))
