"""`priority_groups` of a switch: memory of the frames that came in at a port, lossy or lossless."""

from __future__ import annotations

from fabriclab.lab.reading.section import Section, Written
from fabriclab.lab.switch.account import ACCOUNT_KEYS, LARGEST_BYTES, read_account
from fabriclab.lab.switch.numbered_sections import read_numbered
from fabriclab.lab.switch.written import Numbered, WrittenGroup
from fabriclab.units import parse_size

AUTO = "auto"
GROUP_KEYS = (*ACCOUNT_KEYS, "lossless", "headroom", "xon", "xon_offset")


def read_groups(section: Section) -> Numbered[WrittenGroup]:
    """Return the groups by number."""

    def read(key: str) -> WrittenGroup | None:
        group = section.section(key, GROUP_KEYS)
        return None if group is None else _read_group(group)

    return read_numbered(section, "group", read)


def _read_group(section: Section) -> WrittenGroup:
    return WrittenGroup(
        account=read_account(section),
        lossless=section.flag("lossless"),
        headroom=_read_headroom(section),
        xon=section.size("xon", 0, LARGEST_BYTES),
        xon_offset=section.size("xon_offset", 0, LARGEST_BYTES),
    )


def _read_headroom(section: Section) -> Written[int | None] | None:
    def convert(text: str) -> int | None:
        if text == AUTO:
            return None
        size = parse_size(text)
        if not 1 <= size <= LARGEST_BYTES:
            raise ValueError(
                f"{text!r} is no headroom; a lossless group needs some: write a size from 1 B to 1000 GB, or '{AUTO}'"
            )
        return size

    return section.read("headroom", f"a size such as '40 KB', or '{AUTO}'", convert)
