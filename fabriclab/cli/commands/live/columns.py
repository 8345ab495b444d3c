"""Rows of text in columns, as wide as they need to be: what does not fit is the terminal's to wrap, never cut."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence


def write_columns(head: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[str]) -> None:
    """Print rows below their head. `left`: the columns that begin at the left; numbers end at the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = (
            cell.ljust(width) if name in left else cell.rjust(width)
            for name, cell, width in zip(head, row, widths, strict=True)
        )
        sys.stdout.write("  ".join(cells).rstrip() + "\n")
