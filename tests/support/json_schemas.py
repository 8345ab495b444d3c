"""jsonschema without its check of IRIs, which no test asks for: their grammar takes a second of each process."""

from __future__ import annotations

import sys

_GRAMMAR = "rfc3987_syntax"

if "jsonschema" in sys.modules or _GRAMMAR in sys.modules:
    from jsonschema import Draft7Validator, ValidationError
else:
    sys.modules[_GRAMMAR] = None  # type: ignore[assignment]  # An import of it fails, and jsonschema does without it.
    try:
        from jsonschema import Draft7Validator, ValidationError
    finally:
        del sys.modules[_GRAMMAR]

__all__ = ["Draft7Validator", "ValidationError"]
