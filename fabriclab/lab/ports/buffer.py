"""The buffer of a port with a queue of its own, as written, and how one layer of `switches`
overrides another.

Switches whose ports share a buffer are in `fabriclab.lab.switch`."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from fabriclab.lab.ports.aqm import WrittenAqm, override_aqm, read_aqm
from fabriclab.lab.ports.keys import PORT_BUFFER
from fabriclab.lab.reading.names import Names
from fabriclab.lab.reading.section import Section, Written


@dataclass(frozen=True)
class WrittenPortBuffer:
    """What an experiment says of a switch whose ports have a buffer each; None: nothing."""

    buffer: Written[int | None] | None = None
    ecn_threshold: Written[int | None] | None = None
    non_ect: Written[str] | None = None
    aqm: WrittenAqm | None = None


def read_port_buffer(section: Section, names: Names) -> WrittenPortBuffer:
    """Return what stands below `default` or a switch's name."""
    return section.fill(WrittenPortBuffer, PORT_BUFFER, aqm=read_aqm(section, names))


def override_port_buffer(base: WrittenPortBuffer, over: WrittenPortBuffer) -> WrittenPortBuffer:
    """Return `base` overridden key by key."""
    written = {field.name: value for field in fields(over) if (value := getattr(over, field.name)) is not None}
    return replace(base, **{**written, "aqm": override_aqm(base.aqm, over.aqm)})
