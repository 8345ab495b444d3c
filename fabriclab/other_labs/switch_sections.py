"""The `switches` section of a lab in which FRR stands in for switches: what their configurations say of buffers and
QoS, a buffer for the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from fabriclab.other_labs.made_up import BUFFER
from fabriclab.registry.vendors import StandIn

_HEAD = re.compile(r"#|(format|title|source|hardware|bandwidth|port_rate):|  - ")
"""What a profile's file has beyond a switch's own section."""


def switch_sections(switches: Sequence[str], stand_ins: Mapping[str, StandIn]) -> Iterator[str]:
    """Yield the section's lines; a blank line ends it. Nothing where there is no switch."""
    with_profile = [name for name in switches if name in stand_ins and stand_ins[name].profile]
    if not switches:
        return
    yield "switches:"
    if not with_profile:
        yield f"  default: {{buffer: {BUFFER}}}"
    for name in switches if with_profile else ():
        if name not in with_profile:
            yield f"  {name}: {{buffer: {BUFFER}}}"
            continue
        yield f"  {name}:"
        lines = stand_ins[name].profile.splitlines()
        yield from (f"    {line}" for line in lines if _HEAD.match(line) is None)
    yield ""
