"""Layers of the root file system: programs that a lab names and the root file system has not
(`images/machine/README.md`, "Layers")."""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from fabriclab.engine.artefacts import Artefacts, EngineError
from fabriclab.files import reason
from fabriclab.shipped import shipped

SCRIPT = shipped("images/machine/layer.sh")
_LINES_SHOWN = 12


def with_packages(artefacts: Artefacts, wanted: Iterable[tuple[str, ...]]) -> Artefacts:
    """Return artefacts with a layer for each of the sets of Debian packages; what is missing is built, which is said
    on standard error. Raises EngineError that says why one can't be built."""
    layers = dict(artefacts.layers)
    for packages in dict.fromkeys(wanted):
        if packages and packages not in layers:
            layers[packages] = find_layer(artefacts.rootfs, packages) or build_layer(artefacts.rootfs, packages)
    return replace(artefacts, layers=layers)


def find_layer(rootfs: Path, packages: Sequence[str]) -> Path | None:
    """Return the directory of a layer that is built, None where it is not. Raises EngineError where nobody can tell."""
    try:
        argv = [str(SCRIPT), "where", str(rootfs), *packages]
        found = subprocess.run(argv, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        raise EngineError(f"where the layer of {', '.join(packages)} is can't be told: {_said(error)}") from error
    path = found.stdout.strip()
    return Path(path) if path else None


def build_layer(rootfs: Path, packages: Sequence[str], say: Callable[[str], object] | None = None) -> Path:
    """Build a layer and return its directory; `say` gets the lines that the build has to say.

    Raises EngineError with the last of them.
    """
    say = say or (lambda line: print(line, file=sys.stderr, flush=True))
    argv = [str(SCRIPT), "build", str(rootfs), *packages]
    tail: deque[str] = deque(maxlen=_LINES_SHOWN)
    try:
        pipe = subprocess.PIPE
        with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, stdin=subprocess.DEVNULL) as build:
            assert build.stdout is not None and build.stderr is not None
            for line in build.stderr:
                tail.append(line.rstrip())
                if line.startswith(_TOLD):
                    say(line.rstrip().removeprefix(_TOLD))
            path = build.stdout.read().strip()
    except OSError as error:
        raise EngineError(f"the layer of {', '.join(packages)} can't be built: {SCRIPT}: {reason(error)}") from error
    if build.returncode != 0:
        lines = "\n".join(line.removeprefix(_TOLD) for line in tail if line)
        raise EngineError(f"the layer of {', '.join(packages)} can't be built:\n{lines}")
    return Path(path)


_TOLD = "layer: "
"""Begins the lines of the script that are for people; the others are apt's and tar's."""


def _said(error: OSError | subprocess.CalledProcessError) -> str:
    return str(error.stderr).strip() if isinstance(error, subprocess.CalledProcessError) else reason(error)
