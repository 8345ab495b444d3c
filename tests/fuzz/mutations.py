"""Files as a user, a broken editor or a careless script might have left them: seeded changes of YAML,
JSON, and lines of words."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

NUMBERS = (
    "0",
    "-1",
    "1",
    "1e999",
    "NaN",
    "-0",
    "99999999999999999999",
    "9" * 400,
    "0x10",
    "1_000",
    "٣",
    "1/0",
    "0/1",
    "-1/2",
    "1.5",
    "65536",
)
QUANTITIES = (
    *(
        "0 B",
        "-64 KB",
        "1e30 GB",
        "64 kb",
        "64",
        "9999999999 GB",
        "1.5 B",
        "0.0000001 us",
        "25 us us",
        "25",
        "24 h",
        "1441 min",
    ),
    *(
        "0 bps",
        "1 bps",
        "1 Gbps",
        "100 Tbps",
        "1 Mbps",
        "-1 %",
        "0 %",
        "100 %",
        "101 %",
        "0.00001 %",
        "1 us .. 2 us",
        "9 KB .. 2 KB",
    ),
)
WORDS = (
    *(
        "",
        "~",
        "null",
        "true",
        "none",
        "all",
        "default",
        "on",
        "h1",
        "h1..h3",
        "h3..h1",
        "h1..h99999999999",
        "0..7",
        "7..0",
        "1..",
        "..",
    ),
    *(
        "a" * 300,
        "ä",
        "\U0001f980",
        "\u200b",
        "a b",
        "a,b",
        ",",
        "/etc/hostname",
        "../x",
        "*",
        "<<",
        "fabriclab.role",
        "h1:eth1",
        ":",
        "::",
    ),
)
VALUES = (*NUMBERS, *QUANTITIES, *WORDS)
JSON_VALUES: tuple[Any, ...] = (
    *VALUES,
    None,
    True,
    False,
    0,
    -1,
    10**30,
    1.5,
    [],
    {},
    [[]],
    [""],
    {"": ""},
    "\0",
    "\ud800",
    "a|b|c",
    "|",
    "3-4",
    "0-99",
)
BYTES = (
    b"\0",
    b"\xff",
    b"\xc3",
    b"\r",
    b"\t",
    b"\xef\xbb\xbf",
    b"\x1b[31m",
    b"\n\n",
    b"{",
    b"]",
    b'"',
    b"'",
    b"#",
    b":",
    b"- ",
    b"\xe2\x80\xa8",
)


def mistyped(word: str, rng: random.Random) -> str:
    """Return a word with a letter gone, doubled, changed or swapped."""
    if not word:
        return "x"
    at = rng.randrange(len(word))
    return rng.choice(
        (
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + rng.choice("abcxyz019-_. ") + word[at + 1 :],
            word[:at] + word[at : at + 2][::-1] + word[at + 2 :],
            word.upper() if word.islower() else word.lower(),
        )
    )


def other_number(text: str, rng: random.Random) -> str:
    """Return a text with a number in it changed; without one, with a number behind it."""
    numbers = list(re.finditer(r"[0-9]+", text))
    if not numbers:
        return f"{text} {rng.choice(NUMBERS)}"
    found = rng.choice(numbers)
    value = int(found[0][:30])
    new = rng.choice(
        (
            str(value * 10**9),
            f"-{value}",
            "0",
            str(value + 1),
            f"{value}.5",
            str(max(0, value - 1)),
            rng.choice(NUMBERS),
        )
    )
    return text[: found.start()] + new + text[found.end() :]


def mutated_json(text: str, rng: random.Random) -> bytes:
    """Return a JSON text with one to three changes."""
    data = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _change_json(data, rng)
    return perhaps_torn(json.dumps(data, indent=1).encode(), rng)


def _change_json(data: Any, rng: random.Random) -> None:
    holders = [one for one in _holders(data) if one]
    if not holders:
        return
    holder = rng.choice(holders)
    # Tables have few entries in many holders: a change near the top now and then.
    if rng.randrange(4) == 0:
        holder = data
    names = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    if not names:
        return
    name: Any = rng.choice(names)
    change = rng.randrange(6)
    if change == 0:
        del holder[name]
    elif change == 1 and isinstance(holder, dict):
        other = rng.choice((mistyped(name, rng), rng.choice(names), rng.choice(VALUES), other_number(name, rng)))
        holder[other] = holder.pop(name)
    elif change == 2:
        holder[name] = json.loads(json.dumps(rng.choice(list(_all_values(data)))))
    elif change == 3:
        holder[name] = type(holder[name])() if isinstance(holder[name], dict | list | str) else None
    elif isinstance(holder[name], str) and change == 4:
        holder[name] = rng.choice((mistyped, other_number))(holder[name], rng)
    else:
        holder[name] = rng.choice(JSON_VALUES)


def _holders(data: Any) -> Iterator[Any]:
    if isinstance(data, dict | list):
        yield data
        for value in data.values() if isinstance(data, dict) else data:
            yield from _holders(value)


def _all_values(data: Any) -> Iterator[Any]:
    for holder in _holders(data):
        yield from holder.values() if isinstance(holder, dict) else holder


def mutated_lines(text: str, rng: random.Random) -> bytes:
    """Return lines of words (a configuration, a CSV, a table of numbers) with one to three changes."""
    lines = text.splitlines(keepends=True)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if lines:
            rng.choice(_LINE_CHANGES)(lines, rng)
    return perhaps_torn("".join(lines).encode(errors="surrogatepass"), rng)


def _drop_line(lines: list[str], rng: random.Random) -> None:
    del lines[rng.randrange(len(lines))]


def _double_line(lines: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(lines))
    lines.insert(at, lines[at])


def _swap_lines(lines: list[str], rng: random.Random) -> None:
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]


def _indent(lines: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(lines))
    lines[at] = rng.choice(("", " ", "      ", "\t")) + lines[at].lstrip(" ")


def _change_word(lines: list[str], rng: random.Random) -> None:
    at = rng.randrange(len(lines))
    words = list(re.finditer(r"[^\s,]+", lines[at]))
    if not words:
        return
    word = rng.choice(words)
    others = re.findall(r"[^\s,]+", rng.choice(lines)) or [""]
    new = rng.choice((mistyped(word[0], rng), other_number(word[0], rng), rng.choice(others), rng.choice(VALUES), ""))
    lines[at] = lines[at][: word.start()] + new + lines[at][word.end() :]


_LINE_CHANGES: tuple[Callable[[list[str], random.Random], None], ...] = (
    *(_drop_line, _double_line, _swap_lines, _indent),
    *(_change_word,) * 5,
)


def perhaps_torn(data: bytes, rng: random.Random) -> bytes:
    """Return bytes of which, now and then, some are lost or strange."""
    change = rng.randrange(40)
    at = rng.randrange(len(data) + 1)
    if change == 0:
        return data[:at]
    if change == 1:
        return data[:at] + rng.choice(BYTES) + data[at:]
    if change == 2:
        return data[:at] + data[at + rng.randrange(100) :]
    if change == 3:
        return data.replace(b"\n", b"\r\n")
    return data
