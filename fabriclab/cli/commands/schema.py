"""`fabriclab schema`: the JSON schema of a lab's file, for editors."""

from __future__ import annotations

import json
from pathlib import Path

from fabriclab.cli.host.output import write_output
from fabriclab.language.document import schema_file, schema_of


def schema(name: str, path: bool, out: Path | None) -> None:
    """Write the schema of a file, or where it lies, to a file or to the output. Raises OSError."""
    write_output([f"{schema_file(name)}\n" if path else f"{json.dumps(schema_of(name), indent=1)}\n"], out)
