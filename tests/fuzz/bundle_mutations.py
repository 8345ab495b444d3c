"""Bundles as a broken disk, another version, or somebody who means harm might have left them: seeded changes of the
archive's bytes, of its entries, of the JSON and of the tables in it, and of the plan field by field."""

from __future__ import annotations

import io
import json
import random
import stat
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
from mutations import JSON_VALUES, mutated_json
from watched_writes import CANARY

Entries = Mapping[str, bytes]
PATHS = (
    *(f"../{CANARY}", f"../../../{CANARY}", f"/tmp/{CANARY}", f"a/../../{CANARY}", f"x/../../../../{CANARY}", ".."),
    *(
        "/",
        ".",
        "",
        " ",
        "a b",
        "a\nb",
        "a\0b",
        "\x1b[2J\x1b[31mred",
        "\u202egnp.exe",
        "~/x",
        "$HOME",
        "-rf",
        "*",
        "a" * 5000,
    ),
    *(
        f"..\\{CANARY}",
        "con",
        "a/b/c",
        "h1",
        "s1:eth1",
        ":",
        "\x9b31m",
        "//x",
        "./x",
        "x/.",
        "x/",
        "|sh",
        ";id",
        "`id`",
    ),
)
NUMBERS: tuple[Any, ...] = (
    *(0, -1, 1, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63), 10**18, 10**30, 10**300, True, False, 0.5, -0.5, 1e308),
    *(float("inf"), float("-inf"), float("nan"), "1", "", None, [], {}, [1], {"a": 1}),
)
OTHERS: tuple[Any, ...] = (*JSON_VALUES, *PATHS, *NUMBERS, [None], [[1]], {"kind": "none"}, [{}] * 3, ["h1"] * 50)


def packed(entries: Entries) -> bytes:
    """Return an archive of these entries."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def mutant(entries: Entries, rng: random.Random) -> bytes:
    """Return a bundle with one kind of change."""
    kind = rng.choices(CHANGES, WEIGHTS)[0]
    return kind(entries, rng)


def torn(entries: Entries, rng: random.Random) -> bytes:
    """Change the archive's own bytes."""
    return _torn(packed(entries), rng)


def _torn(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 64)) if changed else 0):
        at = rng.randrange(len(changed))
        change = rng.randrange(4)
        if change == 0:
            changed[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            changed[at : at + rng.randrange(1, 9)] = rng.randbytes(rng.randrange(9))
        elif change == 2:
            changed[at : at + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"PK\1\2", b"PK\5\6"))
        else:
            changed[-rng.randrange(1, min(60, len(changed)) + 1)] ^= 0xFF  # the directory's end
        if len(changed) < 64:
            break
    return bytes(changed[: rng.randrange(len(changed) + 1)] if rng.randrange(8) == 0 else changed)


def other_entries(entries: Entries, rng: random.Random) -> bytes:
    """Rename, double or drop entries, or make one of another kind."""
    file = io.BytesIO()
    victims = set(rng.sample(list(entries), rng.choice((1, 1, 2))))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            entry = zipfile.ZipInfo(name)
            change = rng.randrange(6) if name in victims else -1
            if change == 0:
                entry = zipfile.ZipInfo(rng.choice(PATHS) or "x")
            elif change == 1:
                entry.external_attr = (
                    rng.choice((stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_ISUID)) << 16 | 0o777 << 16
                )
            elif change == 2:
                continue
            elif change == 3:
                data = rng.choice(
                    (b"", b"\0" * (24 << 20), rng.randbytes(100), b"[" * 100_000, b"{}", b"null", b"../../x")
                )
            elif change == 4:
                entry = zipfile.ZipInfo(f"{name}/below")
            method = rng.choice((zipfile.ZIP_BZIP2, zipfile.ZIP_STORED)) if change == 5 else zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, method)
            if change == 4:
                archive.writestr(zipfile.ZipInfo(name), data)
    return file.getvalue()


def other_json(entries: Entries, rng: random.Random) -> bytes:
    """Change a JSON file."""
    name = rng.choice([name for name in entries if name.endswith((".json", ".jsonl"))])
    data = entries[name]
    change = rng.randrange(5)
    if change == 0:
        deep = rng.choice((100, 1000, 100_000))
        new = rng.choice((b"[" * deep + b"]" * deep, b'{"a":' * deep + b"1" + b"}" * deep))
    elif change == 1:
        number = rng.choice((b"9" * 5000, b"1e999", b"NaN", b"-Infinity", b"1" + b"0" * 30, b"1.5"))
        new = _with_number(data, number, rng)
    elif change == 2 or not name.endswith(".json"):
        new = _torn(data, rng) if data else b"{"
    elif change == 3:
        new = mutated_json(data.decode(), rng)
    else:
        new = other_field(json.loads(data), rng)
    return packed({**entries, name: new})


def _with_number(data: bytes, number: bytes, rng: random.Random) -> bytes:
    import re

    found = list(re.finditer(rb"(?<=[:\[ ])[0-9]+(?=[,\n\]}])", data))
    if not found:
        return number
    match = rng.choice(found)
    return data[: match.start()] + number + data[match.end() :]


def other_plan(entries: Entries, rng: random.Random) -> bytes:
    """Put a hostile value into a field of the plan, in `plan.json` and in the manifest's copy alike."""
    name = rng.choice([name for name in entries if name.endswith("/plan.json")])
    plan = json.loads(entries[name])
    new = other_field(plan, rng)
    manifest = json.loads(entries[name.replace("plan.json", "manifest.json")])
    if rng.randrange(4) == 0:
        manifest["plan"] = json.loads(new)
        return packed(
            {
                **{key: data for key, data in entries.items() if key != name},
                name.replace("plan.json", "manifest.json"): json.dumps(manifest).encode(),
            }
        )
    return packed({**entries, name: new})


def other_field(data: Any, rng: random.Random) -> bytes:
    """Return a JSON text in which one to three leaves, or branches, are hostile."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = _places(data)
        if not places:
            break
        holder, key = rng.choice(places)
        value = holder[key]
        if rng.randrange(2) and (near := _near(value, places, rng)) is not None:
            holder[key] = near
        elif isinstance(value, str) and rng.randrange(4):
            holder[key] = rng.choice((*PATHS, value + rng.choice(("/../x", "\n", "\0", " ", "\x1b[2J", "/" * 300))))
        elif isinstance(value, int | float) and rng.randrange(4):
            holder[key] = rng.choice((*NUMBERS, value * 10**6, -value, value + 0.5))
        elif isinstance(value, list) and value and rng.randrange(2):
            holder[key] = value * rng.choice((0, 2, 100))
        elif isinstance(value, dict) and value and rng.randrange(2):
            old = rng.choice(list(value))
            value[rng.choice(PATHS)] = value.pop(old)
        else:
            holder[key] = rng.choice(OTHERS)
    return json.dumps(data).encode()


def _near(value: Any, places: list[tuple[Any, Any]], rng: random.Random) -> Any:
    """Return a value that may pass: another of the same kind, or a number not far off; None where there is none."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice((value + 1, max(0, value - 1), value * 2, value // 2, 1, 7))
    others = [
        holder[key] for holder, key in rng.sample(places, min(len(places), 200)) if type(holder[key]) is type(value)
    ]
    if isinstance(value, list) and rng.randrange(2):
        return rng.choice((value[::-1], value[:-1], value[1:], value + value[:1]))
    return json.loads(json.dumps(rng.choice(others))) if others and not isinstance(value, dict) else None


def _places(data: Any) -> list[tuple[Any, Any]]:
    """Return where each value of a JSON text stands, a branch before what is in it."""
    found: list[tuple[Any, Any]] = []
    _add_places(data, found)
    return found


def _add_places(data: Any, found: list[tuple[Any, Any]]) -> None:
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        found.append((data, key))
        if isinstance(value, dict | list):
            _add_places(value, found)


def other_table(entries: Entries, rng: random.Random) -> bytes:
    """Change a Parquet file: its bytes, or what it holds."""
    name = rng.choice([name for name in entries if name.endswith(".parquet")])
    if rng.randrange(2):
        return packed({**entries, name: _torn(entries[name], rng)})
    table = pl.read_parquet(entries[name])
    column = rng.choice(table.columns)
    change: Callable[[], pl.DataFrame] = rng.choice(
        (
            lambda: table.drop(column),
            lambda: table.with_columns(pl.col(column).cast(pl.String)),
            lambda: table.with_columns(pl.lit(None).alias(column)),
            lambda: table.with_columns(pl.lit(rng.choice((0, -1, 2**62, -(2**62)))).alias(column)),
            lambda: table.with_columns(pl.lit(rng.choice((float("nan"), float("inf"), -1.5))).alias(column)),
            lambda: table.with_columns(pl.lit(rng.choice(("", "\x1b[2J", "../../x", "s1:eth1"))).alias(column)),
            lambda: table.with_columns(pl.lit([1, 2]).alias(column)),
            lambda: table.rename({column: rng.choice(("x", "\x1b[31m", "run", "seed"))}),
            lambda: table.head(0),
            lambda: pl.concat([table] * 3),
            lambda: table.sample(fraction=1.0, shuffle=True, seed=1),
            pl.DataFrame,
        )
    )
    file = io.BytesIO()
    try:
        change().write_parquet(file)
    except pl.exceptions.PolarsError:
        return packed(entries)
    return packed({**entries, name: file.getvalue()})


CHANGES = (torn, other_entries, other_json, other_plan, other_table)
WEIGHTS = (2, 2, 4, 6, 3)
