"""Layers of the root file system: programs that a lab names and the root file system has not
(`images/machine/README.md`, "Layers")."""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.engine.frr import find_frr
from fabriclab.files import reason
from fabriclab.formats.job import FRR_LAYER
from fabriclab.shipped import shipped

SCRIPTS = {"packages": shipped("images/machine/layer.sh"), "jars": shipped("images/machine/jars.sh")}
"""What makes a layer of each kind: of Debian packages, of Java archives."""
_LINES_SHOWN = 12
_MOST_NAMED = 6


def with_layers(artefacts: Artefacts, wanted: Iterable[Mapping[str, tuple[str, ...]]]) -> Artefacts:
    """Return artefacts with a layer for each of what plans need, by its kind; what is missing is built, which is said
    on standard error. Raises EngineError that says why one can't be built, or how a version of FRR is brought."""
    missing = [
        layer for layer in wanted if any((kind, *items) not in artefacts.layers for kind, items in layer.items())
    ]
    return replace(artefacts, layers={**artefacts.layers, **ready_layers(artefacts.rootfs, missing)})


def ready_layers(rootfs: Path, wanted: Iterable[Mapping[str, tuple[str, ...]]]) -> dict[tuple[str, ...], Path]:
    """Return the directories of the layers that plans need, by kind and items; what is missing is built. Raises as
    `with_layers`."""
    every = dict.fromkeys(pair for layer in wanted for pair in layer.items())
    return {(kind, *items): _ready(rootfs, kind, items) for kind, items in every}


def _ready(rootfs: Path, kind: str, items: tuple[str, ...]) -> Path:
    if kind.startswith(FRR_LAYER):
        # Of a source that only the user has.
        return find_frr(rootfs, items[0])
    return find_layer(rootfs, kind, items) or build_layer(rootfs, kind, items)


def _argv(action: str, rootfs: Path, kind: str, items: Sequence[str]) -> list[str]:
    # Archives of Java's lie over any root file system; which packages are missing hangs on it.
    return [str(SCRIPTS[kind]), action, *([str(rootfs)] if kind == "packages" else []), *items]


def _named(items: Sequence[str]) -> str:
    shown = [item.partition("=")[0] for item in items[:_MOST_NAMED]]
    return ", ".join(shown) + (f" and {len(items) - _MOST_NAMED} more" if len(items) > _MOST_NAMED else "")


def find_layer(rootfs: Path, kind: str, items: Sequence[str]) -> Path | None:
    """Return the directory of a layer that is built, None where it is not. Raises EngineError where nobody can tell."""
    try:
        argv = _argv("where", rootfs, kind, items)
        found = subprocess.run(argv, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        raise EngineError(f"can't find the layer of {_named(items)}: {_said(error)}") from error
    path = found.stdout.strip()
    return Path(path) if path else None


def build_layer(rootfs: Path, kind: str, items: Sequence[str]) -> Path:
    """Build a layer and return its directory; what the build has to say goes to standard error.

    Raises EngineError with the last lines of it.
    """
    argv = _argv("build", rootfs, kind, items)
    tail: deque[str] = deque(maxlen=_LINES_SHOWN)
    try:
        pipe = subprocess.PIPE
        with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, stdin=subprocess.DEVNULL) as build:
            assert build.stdout is not None and build.stderr is not None
            for line in build.stderr:
                tail.append(line.rstrip())
                if line.startswith(_TOLD):
                    print(line.rstrip().removeprefix(_TOLD), file=sys.stderr, flush=True)
            path = build.stdout.read().strip()
    except OSError as error:
        raise EngineError(f"the layer of {_named(items)} can't be built: {argv[0]}: {reason(error)}") from error
    if build.returncode != 0:
        lines = "\n".join(line.removeprefix(_TOLD) for line in tail if line)
        raise EngineError(f"the layer of {_named(items)} can't be built:\n{lines}")
    return Path(path)


_TOLD = "layer: "
"""Begins the lines of the script that are for people; the others are apt's and tar's."""


def _said(error: OSError | subprocess.CalledProcessError) -> str:
    return str(error.stderr).strip() if isinstance(error, subprocess.CalledProcessError) else reason(error)
