"""A port's own queue: its buffer, its marking threshold, its queue management."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from fabriclab.lab.ports.buffer import LARGEST_BUFFER_BYTES, NON_ECT_WORDS
from fabriclab.language.keys import Key, Keys, Kinds
from fabriclab.language.sources import Default, constant, docstrings, plain, words
from fabriclab.language.values import NONE, Either, Flag, Number, Quantity, Text, Value, Word, or_none
from fabriclab.qdiscs import QDISCS, Qdisc
from fabriclab.qdiscs import Key as QdiscKey
from fabriclab.units import DURATION, SIZE, format_quantity


def _value(key: QdiscKey) -> Value:
    if key.meaning == "duration":
        return Quantity(DURATION, key.least, key.most)
    if key.meaning == "size":
        return Quantity(SIZE, key.least, key.most)
    if key.meaning == "count":
        return Number(key.least, key.most)
    return Flag() if key.meaning == "flag" else Word(key.words)


def _default(key: QdiscKey, value: Any) -> Default:
    if value is None:
        return words("see there")
    if key.meaning in ("duration", "size"):
        return plain(format_quantity(value, DURATION if key.meaning == "duration" else SIZE))
    return plain(value)


def _keys_of(qdisc: type[Qdisc]) -> Keys:
    """Return a kind's keys; what each means is the docstring of its field."""
    values = {field.name: field.default for field in fields(qdisc)}
    about = docstrings(qdisc)
    own = (
        Key(key.name, _value(key), f"{about[name]}.", _default(key, values[name])) for name, key in qdisc.keys().items()
    )
    kind = Key("kind", Word((qdisc.kind,)), f"The qdisc that manages the queue: {qdisc.name}.", required=True)
    return Keys(f"aqm-{qdisc.kind}", qdisc.kind, (kind, *own))


AQM = Kinds(
    "aqm",
    "Queue management",
    {qdisc.kind: _keys_of(qdisc) for qdisc in QDISCS},
    "The stock qdisc of Linux that manages the queue.",
    always=False,
)

OWN_QDISC = Keys(
    "aqm-own",
    "a qdisc of your own",
    (
        Key(
            "source",
            Text("a C file beside the lab, such as `./sch_mine.c`", r".+\.c", "A C file is wanted here."),
            "The qdisc that manages the queue: [one of your own](../your-own-algorithm.md).",
            required=True,
        ),
        Key(
            "options",
            Text("words and values", r"[A-Za-z0-9_.: +-]*", "Words and values are wanted here."),
            "What the qdisc is told, behind `buffer` and the bytes of the port's buffer. What they mean is for its "
            "file to say.",
            words("nothing"),
            ("limit 100 target 5ms",),
        ),
    ),
)

PORT_BUFFER = (
    Key(
        "buffer",
        Quantity(SIZE, 1, LARGEST_BUFFER_BYTES),
        "The buffer of each port of the switch, of its own. It must hold one frame at least.",
        words("this or a profile must be written"),
        ("64 KB", "1 MB"),
    ),
    Key(
        "ecn_threshold",
        or_none(Quantity(SIZE, 1)),
        "The length of a port's queue above which packets are marked with ECN, as DCTCP wants it. It lies below the "
        "buffer.",
        plain("none"),
        ("30 KB",),
    ),
    Key(
        "non_ect",
        Word(NON_ECT_WORDS),
        "What becomes, above the threshold, of a packet that cannot be marked: it is dropped, or queued all the same.",
        constant("NON_ECT"),
    ),
    Key(
        "aqm",
        Either((AQM, OWN_QDISC, NONE)),
        "Active queue management in place of the threshold: a stock qdisc of Linux with its options. A switch's own "
        "`kind` takes of `default` those keys that it has itself.",
        plain("none"),
    ),
)
