"""What an engine in real time is to measure of a host before the traffic, `machine/real_time.json`, and what it found,
`calibration.json`.

`compile` writes the former, the container engine reads it and writes the latter, the report reads that.
"""

from __future__ import annotations

from typing import TypedDict

REAL_TIME_FILE = "machine/real_time.json"
REAL_TIME_FORMAT = "fabriclab-real-time-1"
CALIBRATION_FILE = "calibration.json"
CALIBRATION_FORMAT = "fabriclab-calibration-1"


class Line(TypedDict):
    """One direction of a link, as its sender's node keeps it busy."""

    node: str
    interface: str
    rate_bps: int
    frame_bytes: int
    """A full frame as the kernel counts it."""
    wire_bytes: int
    """Its room on the wire, which the rate is of."""
    window_bytes: int
    """How much may wait at once."""
    time_ns: int


class IdlePath(TypedDict):
    """Two hosts, and the round trip that the links between them make when nothing waits."""

    src: str
    dst: str
    address: str
    """The receiver's."""
    round_trip_ns: int


class RealTime(TypedDict):
    """All that is to be known. Times that a lab without switches does not have are null."""

    format: str
    stall_ns: int | None
    """The longest pause that the smallest buffer bridges."""
    standing_ns: int | None
    """The shortest wait in a queue that is let stand."""
    lines: list[Line]
    paths: list[IdlePath]
