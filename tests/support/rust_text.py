"""What the Rust sources and the kernel's headers say of formats, found in their text.

What is not found raises AssertionError.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
REPLAY, SAMPLER, INIT = (
    ROOT / path for path in ("traffic/replay/src", "probes/sampler/src", "images/machine/init/src")
)


def only(pattern: str, text: str) -> re.Match[str]:
    """Return the one place where a pattern stands."""
    found = list(re.finditer(pattern, text, re.DOTALL))
    assert len(found) == 1, f"{pattern} stands {len(found)} times"
    return found[0]


def string(literal: str) -> str:
    """Return what a string literal holds: a backslash at a line's end joins it with the next."""
    return re.sub(r"\\\n\s*", "", literal).replace("\\n", "\n")


def constant(name: str, text: str) -> str:
    """Return the value of a constant, as written."""
    return only(rf"const {name}: [^=;]+= (?P<value>.*?);", text)["value"].strip()


def string_constant(name: str, text: str) -> str:
    """Return the value of a constant that is a string."""
    return string(only(r'^"(?P<text>.*)"$', constant(name, text))["text"])


def names(text: str) -> tuple[list[str], int]:
    """Return the columns of a `Columns`, and how many of them must be there."""
    found = only(r"COLUMNS: Columns = Columns \{\s*names: &\[(?P<names>.*?)\],\s*required: (?P<required>\d+),", text)
    return re.findall(r'"(\w+)"', found["names"]), int(found["required"])


def series(text: str) -> dict[str, str]:
    """Return the header of each table that the sampler writes, by its format."""
    pairs = re.findall(r'"(fabriclab-[a-z-]+-\d+)",\s*"((?:[^"\\]|\\\n)*)"', text)
    assert pairs, "no table stands here"
    return {version: string(header) for version, header in pairs}


def words(function: str, text: str) -> list[str]:
    """Return the words that a function of row.rs matches, the default (empty) left out."""
    body = only(rf"fn {function}\(.*?\n\}}\n", text)[0]
    arms = re.findall(r'^\s*((?:"\w*"(?: \| )?)+) =>', body, re.MULTILINE)
    assert arms, f"{function} matches no words"
    return [word for arm in arms for word in re.findall(r'"(\w+)"', arm)]


def fields(struct: str, text: str) -> dict[str, bool]:
    """Return the fields of a struct that serde reads; with each, whether the JSON must have it."""
    body = only(rf"pub struct {struct} \{{(?P<body>.*?)\n\}}", text)["body"]
    found = re.findall(r"(#\[serde\(default\)\]\s*)?(?:pub )?(\w+): ([^\n]+),\n", body + "\n")
    return {name: not default and not kind.startswith("Option<") for default, name, kind in found}


def defined(name: str, header: str) -> int:
    """Return the number that a C header defines."""
    return int(only(rf"#define {name}\s+(?P<value>\d+)", header)["value"])


def enumerated(name: str, header: str) -> dict[str, int]:
    """Return the constants of a C header's enum."""
    body = only(rf"enum {name} \{{(?P<body>.*?)\n\}};", header)["body"]
    return {constant: int(value) for constant, value in re.findall(r"^\t(\w+) = (\d+),", body, re.MULTILINE)}
