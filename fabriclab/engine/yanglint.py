"""Validation of data by YANG models (RFC 7950): libyang's program yanglint."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.yang_models import models

PROGRAM = "yanglint"
_LONGEST_S = 120
_NOISE = "libyang warn:"
"""libyang 2.1 finds strings that it did not free itself."""


def validate(xml: str, modules: Sequence[str], directory: Path) -> tuple[str, ...]:
    """Return what is wrong with data (configuration, as XML) by the modules of that name in `directory`; nothing if it
    is valid.

    `directory`: SONiC's src/sonic-yang-models, whose templates are rendered, or one with models. Raises EngineError
    where the program or a module is missing.
    """
    if shutil.which(PROGRAM) is None:
        raise EngineError(f"{PROGRAM} is missing; it validates by YANG models (Debian: apt-get install libyang-tools)")
    with models(directory) as whole:
        return _validate(xml, modules, whole, directory)


def _validate(xml: str, modules: Sequence[str], directory: Path, given: Path) -> tuple[str, ...]:
    schemas = [directory / f"{module}.yang" for module in modules]
    absent = [schema.name for schema in schemas if not schema.is_file()]
    if absent:
        raise EngineError(
            f"{given}: {', '.join(absent)} is missing; SONiC's models are src/sonic-yang-models of sonic-buildimage"
        )
    with tempfile.TemporaryDirectory(prefix="fabriclab-yang-") as name:
        data = Path(name) / "config.xml"
        data.write_text(xml, encoding="utf-8")
        argv = [PROGRAM, "-p", str(directory), "-D", "-t", "config", *map(str, schemas), str(data)]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=_LONGEST_S)
    said = tuple(
        line.replace(f"{data}", "config")
        for line in done.stderr.splitlines()
        if line.strip() and not line.startswith(_NOISE)
    )
    return said or (f"{PROGRAM} ended with status {done.returncode}",) if done.returncode else ()
