"""What a user's C file may read while it is compiled: the kernel's headers, and nothing else of the host.

Three looks, none of which believes the one before it: at the text, whose lines an error can name; at the list of files
that gcc read (-MD), which knows of macros, too; at the list of files that the assembler read (--MD), which sees what
was put together in `asm`. What names another file does not become a module, and no message about it is shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

UNDEFINED = ("-U__has_include", "-U__has_include_next", "-U__has_embed")
"""Words for gcc: whether a file of the host is there is nothing that an algorithm asks."""
_SPLICE = "\x01"
_LITERAL_OR_COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|/\*.*?\*/|//[^\n]*""", re.DOTALL)
_DIRECTIVE = re.compile(r"\s*(?:#|%:)\s*(\w+)\s*(.*)", re.DOTALL)
_HEADER = re.compile(r'(?:<([^<>"]+)>|"([^<>"]+)")\s*')
_READING = ("include_next", "import", "embed")
_READING_PRAGMA = re.compile(r"GCC\s+(dependency|pch_preprocess)\b")
_ASKING = re.compile(r"\b__has_(?:include(?:_next)?(?:__)?|embed)\b")
_PRAGMA_OPERATOR = re.compile(r'\b_Pragma\s*\(\s*L?"([^"]*)')
_ASSEMBLER_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_ASSEMBLER_READING = re.compile(r"(?:^|[;:])\s*\.(incbin|include|mri)\b", re.IGNORECASE)
_ASSEMBLER_LINE = re.compile(r'# (\d+) "([^"]*)"')
_ONE_FILE = "an algorithm is one file, which may read only the kernel's headers"


class Complaint(NamedTuple):
    """What is wrong with a line of the user's file; None: with the file."""

    line: int | None
    message: str
    file: str = ""
    """Of a directory, the name of the file in it; empty: the file, or the directory, itself."""


def text_complaints(source: str) -> Iterator[Complaint]:
    """Yield what of a C file's text would read, or ask for, another file than a header of the kernel's."""
    text = re.sub(r"\\[ \t]*\r?\n", _SPLICE, source)
    text = _LITERAL_OR_COMMENT.sub(lambda match: match[1] or _blank(match[0]), text)
    number = 1
    for line in text.split("\n"):
        if (message := _reads(line.replace(_SPLICE, ""))) is not None:
            yield Complaint(number, message)
        number += 1 + line.count(_SPLICE)


def _blank(comment: str) -> str:
    """Return a comment as what it is to the compiler, a blank, also where it goes over lines: a directive goes on."""
    return re.sub(rf"[^{_SPLICE}]", " ", comment.replace("\n", _SPLICE))


def _reads(line: str) -> str | None:
    if asks := _ASKING.search(line):
        return f"`{asks[0]}` asks whether a file is there; {_ONE_FILE}"
    operators = _PRAGMA_OPERATOR.findall(line)
    directive = _DIRECTIVE.fullmatch(line)
    name, rest = (directive[1], directive[2]) if directive is not None else ("", "")
    pragmas = [*operators, *([rest] if name == "pragma" else [])]
    if any(_READING_PRAGMA.search(pragma) for pragma in pragmas):
        return f"this pragma reads another file; {_ONE_FILE}"
    if name in _READING:
        return f"`#{name}` reads another file; {_ONE_FILE}: write #include <net/tcp.h>, for example"
    if name != "include":
        return None
    header = _HEADER.fullmatch(rest)
    if header is None:
        return "`#include` names a macro; write the header's name, such as <net/tcp.h>"
    path = header[1] or header[2]
    if path.startswith("/") or ".." in path.split("/"):
        return f"`#include` names a file that is not a kernel header; {_ONE_FILE}: write <net/tcp.h>, for example"
    return None


def files_read(dependencies: Path) -> list[str]:
    """Return the files that a compiler or an assembler read, as it wrote them down (make's syntax)."""
    try:
        text = dependencies.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return []
    rule = text.replace("\\\n", " ").partition(":")[2]
    words = re.findall(r"(?:\\.|[^\s\\])+", rule)
    return [re.sub(r"\\(.)", r"\1", word).replace("$$", "$") for word in words]


def outside(files: list[str], headers: Path, directory: Path) -> list[str]:
    """Return those files, relative to a working directory, that lie outside of a directory of headers."""
    root = os.path.realpath(headers)
    return [name for name in files if not os.path.realpath(directory / name).startswith(f"{root}/")]


def reading_complaint(names: list[str]) -> Complaint:
    """Return what is wrong with a file that reads others; their names are its own words."""
    return Complaint(None, f"it reads {', '.join(map(repr, names))}, which is not a kernel header; {_ONE_FILE}")


def assembly_complaints(text: str, file: str, source: str) -> Iterator[Complaint]:
    """Yield what of the assembly of a C file, called `file` there, would read another file."""
    line: int | None = None
    for written in text.splitlines():
        if marker := _ASSEMBLER_LINE.match(written):
            line = int(marker[1]) if marker[2] == file else None
        elif directive := _ASSEMBLER_READING.search(_ASSEMBLER_STRING.sub('""', written)):
            # Assembly outside of functions has no lines.
            yield Complaint(
                line or line_of(source, directive[1]), f"`.{directive[1]}` in assembly reads another file; {_ONE_FILE}"
            )


def line_of(source: str, name: str) -> int | None:
    """Return the first line on which a name stands as a word, outside comments; None where it does not."""
    blank = re.sub(r"/\*.*?\*/|//[^\n]*", lambda match: re.sub(r"[^\n]", " ", match[0]), source, flags=re.DOTALL)
    found = re.search(rf"\b{re.escape(name)}\b", blank)
    return None if found is None else source.count("\n", 0, found.start()) + 1
