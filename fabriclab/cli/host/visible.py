"""What reaches a terminal: text, and nothing that a terminal would obey.

Titles, names and messages come from labs and bundles of strangers, and an escape sequence in one of them could clear
the screen, rename the window or hide what was said. So the standard streams show a control character as the picture
that Unicode has of it. Colours and bars are Rich's, which writes to the stream below (`rich_proxied_file`), and
`fabriclab.cli.host.console` makes visible what it is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TextIO

_KEPT = "\t\n"
_CR_LF = "\N{SYMBOL FOR CARRIAGE RETURN}\n"
_NO_PICTURE = "\N{REPLACEMENT CHARACTER}"
_DIRECTIONS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029"
"""Marks that turn the direction of the text around them, with which a name reads as another one, and Unicode's own ends
of lines."""
_PICTURES = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in _KEPT},
    0x7F: "\N{SYMBOL FOR DELETE}",
    **dict.fromkeys(range(0x80, 0xA0), _NO_PICTURE),
    **dict.fromkeys(map(ord, _DIRECTIONS), _NO_PICTURE),
}


def visible(text: str) -> str:
    """Return a text with its control characters as pictures, one character for one; tabs and ends of lines stay."""
    return text if text.isprintable() else text.translate(_PICTURES).replace(_CR_LF, "\r\n")


class VisibleStream:
    """A standard stream that shows control characters."""

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream
        """What Rich writes to: what it has to say of colours and of the cursor."""

    def write(self, text: str) -> int:
        """Write a text, and return its length."""
        self.rich_proxied_file.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts, one after another."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)
