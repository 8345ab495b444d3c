"""The ten numbers of the calibration protocol, with their units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PHASES = ("idle", "one", "eight", "dctcp")
"""The phases of the protocol, in its order: nothing is sent, one CUBIC flow, eight of them, one DCTCP flow."""
FLOWS = {"one": 1, "eight": 8, "dctcp": 1}
"""The number of flows of each phase that sends."""


@dataclass(frozen=True)
class Number:
    """One number of the protocol."""

    name: str
    """Its name in files, with the unit."""
    title: str
    phase: str
    unit: Literal["us", "Mbps", "%", ""]
    by: Literal["share", "difference"] = "share"
    """How its error is given: as a share of the hardware's value, or as the difference of two shares."""


NUMBERS = (
    Number("idle_rtt_us", "round trip on the idle path, median", "idle", "us"),
    Number("goodput_one_mbps", "goodput of one CUBIC flow", "one", "Mbps"),
    Number("segments_per_ack", "segments for each acknowledgement", "one", ""),
    Number("goodput_eight_mbps", "goodput of eight CUBIC flows", "eight", "Mbps"),
    Number("fairness_eight", "Jain's index of the eight", "eight", ""),
    Number("rtt_eight_median_us", "round trip beside the eight, median", "eight", "us"),
    Number("rtt_eight_p99_us", "round trip beside the eight, 99th percentile", "eight", "us"),
    Number("retransmitted_eight_percent", "data that the eight sent again", "eight", "%", by="difference"),
    Number("rtt_dctcp_median_us", "round trip beside one DCTCP flow, median", "dctcp", "us"),
    Number("marked_dctcp_percent", "deliveries of the DCTCP flow with an ECN mark", "dctcp", "%", by="difference"),
)
"""All of them, in the order of the table."""


def error_of(number: Number, hardware: float, model: float) -> float | None:
    """Return the model's error: a share of the hardware's value in percent, or a difference in percentage points.

    None if the hardware's value is 0 and the error would be a share of it.
    """
    if number.by == "difference":
        return model - hardware
    return None if hardware == 0 else (model / hardware - 1) * 100
