"""What `--chip` names."""

from __future__ import annotations

from fabriclab.cli.host.failure import BadInputError
from fabriclab.keys.wording import did_you_mean
from fabriclab.vendors.sonic.read.chips import CHIPS, UNKNOWN, Chip, chip_named, word_of

_NONE = "none"


def parse_chip(text: str | None) -> Chip | None:
    """Return the chip of that name; None where nothing is said. Raises BadInputError."""
    if text is None:
        return None
    chip = UNKNOWN if text == _NONE else chip_named(text)
    if chip is None:
        raise BadInputError(f"--chip {text!r}: no such chip; {did_you_mean(text, [_NONE, *map(word_of, CHIPS)])}")
    return chip
