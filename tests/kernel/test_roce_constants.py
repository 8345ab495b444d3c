"""Numbers of the RoCE transport that a lab's checks need are those of the kernel's headers."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

from conftest import HEADERS

from fabriclab.formats import framing, ranges
from fabriclab.resolve.roce import TELEMETRY_GBPS


def header(name: str) -> str:
    return Path(HEADERS, "roce", name).read_text(encoding="utf-8")


def defined(text: str, name: str) -> str:
    (value,) = re.findall(rf"^#define {name}\s+(.+?)\s*(?:/\*|$)", text, re.MULTILINE)
    return str(value)


def test_windows_are_as_long_as_the_transport_remembers() -> None:
    roce = header("roce.h")
    assert int(defined(roce, "ROCE_SELECTIVE_WINDOW")) == ranges.ROCE_SELECTIVE_WINDOW.most
    assert defined(roce, "ROCE_WINDOW_MAX") == f"(1U << {ranges.ROCE_WINDOW.most.bit_length() - 1})"


def test_switches_write_telemetry_at_the_rates_that_have_a_code() -> None:
    telemetry = header("telemetry.h")
    (table,) = re.findall(r"roce_telemetry_mbps\[ROCE_TELEMETRY_CODES\] = \{(.*?)\}", telemetry, re.DOTALL)
    not_a_rate, *mbps = (int(number) for number in re.findall(r"\d+", table))
    assert not_a_rate == 0
    assert [Fraction(rate, 1_000) for rate in mbps] == list(TELEMETRY_GBPS)


def test_a_packet_has_room_for_what_switches_write() -> None:
    telemetry = header("telemetry.h")
    hops = int(defined(telemetry, "ROCE_TELEMETRY_HOPS"))
    header_bytes, hop_bytes = (int(defined(telemetry, f"ROCE_TELEMETRY_{of}_BYTES")) for of in ("HEADER", "HOP"))
    assert header_bytes + hops * hop_bytes == framing.ROCE_TELEMETRY_BYTES
