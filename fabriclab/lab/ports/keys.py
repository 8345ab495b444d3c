"""The keys of a port's own queue: its buffer, its marking threshold, its queue management."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import fields
from itertools import pairwise
from typing import Any

from fabriclab.formats import ranges
from fabriclab.keys.mappings import Key, Keys, Kinds, MadeWhenAsked
from fabriclab.keys.quantities import Quantity
from fabriclab.keys.values import NONE_WORD, Either, Text, Word, or_none
from fabriclab.qdiscs import KINDS
from fabriclab.units import SIZE

BUFFER_BYTES = Quantity(SIZE, *ranges.BUFFER_BYTES)
"""Byte limits of qdiscs and sockets are signed 32-bit numbers."""
NON_ECT_WORDS: Word[str] = Word(("drop", "queue"))


def _keys_of(kind: str) -> Keys:
    """Return a qdisc's keys; what each means is the docstring of its field."""
    qdisc = KINDS[kind]
    values = {field.name: field.default for field in fields(qdisc)}
    about = _docstrings(qdisc)
    own: list[Key[Any]] = []
    for name, option in qdisc.keys().items():
        default = {"unset": "see the meaning"} if values[name] is None else {"default": values[name]}
        own.append(Key(option.name, option.value, f"{about[name]}.", **default))
    word = Key("kind", Word[str]((kind,)), f"The qdisc that manages the queue: {qdisc.name}.", required=True)
    return Keys(f"aqm-{kind}", kind, (word, *own))


def _docstrings(owner: type) -> Mapping[str, str]:
    """Return the docstrings below the fields of a class, each as one line without its last dot."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(definition, ast.ClassDef)
    found = {}
    for before, after in pairwise(definition.body):
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            target = getattr(before, "target", None)
            if isinstance(target, ast.Name):
                found[target.id] = " ".join(after.value.value.split()).removesuffix(".")
    return found


AQM = Kinds(
    "aqm",
    "Queue management",
    MadeWhenAsked(KINDS, _keys_of),
    "The stock qdisc of Linux that manages the queue.",
    always=False,
)

OWN_SOURCE = Key(
    "source",
    Text("a C file beside the lab, such as `./sch_mine.c`", r".+\.c", "Write the name of a C file."),
    "The qdisc that manages the queue: [one of your own](../your-own-algorithm.md).",
    required=True,
)
OWN_OPTIONS = Key(
    "options",
    Text("words and values", r"[A-Za-z0-9_.: +-]*", "Write words and values."),
    "The options that the qdisc gets, after `buffer` and the bytes of the port's buffer. Its file defines their "
    "meaning.",
    unset="nothing",
    examples=("limit 100 target 5ms",),
)
OWN_QDISC = Keys("aqm-own", "a qdisc of your own", (OWN_SOURCE, OWN_OPTIONS))

BUFFER = Key(
    "buffer",
    or_none(BUFFER_BYTES),
    "The buffer that each port of the switch has of its own. It must hold at least one frame. `none`: the ports share "
    "one, by `profile` or `pools`.",
    unset="`buffer` or `profile` is required",
    examples=("64 KB", "1 MB"),
)
ECN_THRESHOLD = Key(
    "ecn_threshold",
    or_none(Quantity(SIZE, 1, why="0 B would mark every packet or none")),
    "The length of a port's queue above which packets are marked with ECN, as DCTCP requires. It must be below the "
    "buffer.",
    default=None,
    examples=("30 KB",),
)
NON_ECT = Key(
    "non_ect",
    NON_ECT_WORDS,
    "What happens, above the threshold, to a packet that cannot be marked: it is dropped, or queued all the same.",
    default="drop",
    source="Above the threshold, RED hardware drops packets that it cannot mark (RFC 8257, section 4.4)",
)
PORT_AQM: Key[Any] = Key(
    "aqm",
    Either((AQM, OWN_QDISC, NONE_WORD)),
    "Active queue management instead of the threshold: a stock qdisc of Linux with its options. A switch's own "
    "`kind` takes from `default` those keys that it has too.",
    default=None,
)
PORT_BUFFER = Keys("port-buffer", "A switch whose ports each have a buffer", (BUFFER, ECN_THRESHOLD, NON_ECT, PORT_AQM))
