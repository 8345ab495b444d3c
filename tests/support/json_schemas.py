"""jsonschema without its check of IRIs, which no test asks for: their grammar takes a second of each process."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import cast

_GRAMMAR = "rfc3987_syntax"

if "jsonschema" in sys.modules or _GRAMMAR in sys.modules:
    from jsonschema import Draft7Validator, ValidationError
else:
    # An import of what is None fails, and jsonschema does without it.
    cast(dict[str, ModuleType | None], sys.modules)[_GRAMMAR] = None
    try:
        from jsonschema import Draft7Validator, ValidationError
    finally:
        del sys.modules[_GRAMMAR]

__all__ = ["Draft7Validator", "ValidationError"]
