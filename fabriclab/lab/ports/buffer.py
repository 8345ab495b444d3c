"""The buffer of a port with a queue of its own, as written: its keys, their bounds, and how one layer of `switches`
overrides another.

Switches whose ports share a buffer are in `fabriclab.lab.switch`."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from fabriclab.formats import ranges
from fabriclab.lab.ports.aqm import WrittenAqm, override_aqm, read_aqm
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.or_none import NONE
from fabriclab.lab.reading.problems import shown
from fabriclab.lab.reading.section import Section, Written
from fabriclab.units import parse_size

PORT_BUFFER_KEYS = ("buffer", "ecn_threshold", "non_ect", "aqm")
NON_ECT_WORDS = ("drop", "queue")
LARGEST_BUFFER_BYTES = ranges.BUFFER_BYTES.most
"""Byte limits of qdiscs and sockets are signed 32-bit numbers."""


@dataclass(frozen=True)
class WrittenPortBuffer:
    """What an experiment says of a switch whose ports have a buffer each; None: nothing."""

    buffer: Written[int] | None = None
    ecn_threshold: Written[int | None] | None = None
    non_ect: Written[str] | None = None
    aqm: WrittenAqm | None = None


def read_port_buffer(section: Section, names: Names) -> WrittenPortBuffer:
    """Return what stands below `default` or a switch's name."""

    def threshold(text: str) -> int | None:
        return None if text == NONE else _size(text)

    return WrittenPortBuffer(
        buffer=section.size("buffer", 1, LARGEST_BUFFER_BYTES),
        ecn_threshold=section.read("ecn_threshold", f"a size such as '30 KB', or '{NONE}'", threshold),
        non_ect=section.choice("non_ect", NON_ECT_WORDS),
        aqm=read_aqm(section, names),
    )


def _size(text: str) -> int:
    size = parse_size(text)
    if size == 0:
        raise ValueError(f"{shown(text)} would mark every packet or none; write a size such as '30 KB', or '{NONE}'")
    return size


def override_port_buffer(base: WrittenPortBuffer, over: WrittenPortBuffer) -> WrittenPortBuffer:
    """Return `base` overridden key by key."""
    written = {field.name: value for field in fields(over) if (value := getattr(over, field.name)) is not None}
    return replace(base, **{**written, "aqm": override_aqm(base.aqm, over.aqm)})
