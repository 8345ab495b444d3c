"""Go templates, rendered by Go itself: `go_template/main.go`, which fetches nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabriclab.errors import FabriclabError

_PROGRAM = Path(__file__).parent / "go_template" / "main.go"
_LONGEST_S = 120
"""The first time Go compiles the program and what it imports."""
_LARGEST_BYTES = 16 * 2**20


class TemplateError(FabriclabError):
    """A template that cannot be rendered; what Go says of it."""


def has_go() -> bool:
    """Return whether there is a Go toolchain."""
    return shutil.which("go") is not None


def render_go_template(name: str, text: str, includes: Mapping[str, str], variables: Any) -> str:
    """Return the text that a template makes of variables, as Containerlab does; `includes` it may name.

    Raises TemplateError.
    """
    job = json.dumps({"name": name, "text": text, "includes": dict(includes), "vars": variables})
    # No module is needed, so none is looked for, neither above this directory nor anywhere else.
    environment = {**os.environ, "GO111MODULE": "off", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": ""}
    try:
        done = subprocess.run(
            ["go", "run", str(_PROGRAM)],
            input=job,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=_LONGEST_S,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise TemplateError(f"was not rendered within {_LONGEST_S} s; it may contain an endless loop") from error
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if not line.startswith("exit status")]
        raise TemplateError(said[0] if said else f"go run ended with status {done.returncode}")
    if len(done.stdout) > _LARGEST_BYTES:
        raise TemplateError(f"makes more than {_LARGEST_BYTES >> 20} MiB")
    return done.stdout
