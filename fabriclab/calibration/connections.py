"""The kernel's counters of the flows of a phase: two outputs of `ss`, one near its beginning and one near its end."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriclab.calibration.numbers import FLOWS
from fabriclab.calibration.sections import Line
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.problems import Place, Problems

_TIME = re.compile(r"time_us (\d{1,18})")
_CONNECTION = re.compile(r"\d+\s+\d+\s+\S+:(\d{1,5})\s+\S+:5201\s+(.*)")
_COUNTER = re.compile(
    r"(?:^| )(mss|bytes_sent|bytes_retrans|segs_in|data_segs_out|delivered|delivered_ce):(\d{1,18})(?= |$)"
)
_FELL_BACK = "dctcp:fallback_mode"


class AbsentError(Exception):
    """Why a phase has no numbers."""


@dataclass(frozen=True)
class Counted:
    """What the kernel counted between the two outputs, of all flows together."""

    flow_bytes: tuple[int, ...]
    """The bytes that were delivered, of each flow; a flow that stood still has 0. SACKed segments count, because
    cumulative acknowledgements stop while a loss is repaired and jump afterwards."""
    time_us: int
    sent_bytes: int
    """Bytes of data, those that were sent again included."""
    retransmitted_bytes: int
    segments_out: int
    """Segments with data."""
    segments_in: int
    """Nearly all of them are acknowledgements."""
    delivered: int
    """Segments."""
    delivered_marked: int

    @property
    def goodput_mbps(self) -> float:
        """Delivered bits per microsecond."""
        return 8 * sum(self.flow_bytes) / self.time_us


def counted(phase: str, before: Sequence[Line], after: Sequence[Line], file: Path, problems: Problems) -> Counted:
    """Return what a phase's flows did. Raises AbsentError if that is not known; wrong lines are recorded."""
    first_us, first = _snapshot(phase, before, file, problems)
    last_us, last = _snapshot(phase, after, file, problems)
    if first_us is None or last_us is None or last_us <= first_us:
        problems.add(_place(after, file), "", "time_us does not grow from `before` to `after`; run the protocol again")
        raise AbsentError("its times are wrong")
    changes = [_change(first[port], last[port]) for port in first if port in last]
    segment_bytes = max((each.get("mss", 0) for each in last.values()), default=0)
    flows = [change for change in changes if change.get("data_segs_out", 0) > 0]
    if any(value < 0 for change in changes for value in change.values()):
        problems.add(_place(after, file), "", "a counter is smaller than in `before`; run the protocol again")
        raise AbsentError("its counters are wrong")
    if not flows:
        raise AbsentError("no flow sent anything between the two outputs of ss")
    if len(flows) > FLOWS[phase]:
        raise AbsentError(f"{len(flows)} flows went to port 5201, not {FLOWS[phase]}; let nobody else use iperf3")

    def total(name: str) -> int:
        return sum(flow.get(name, 0) for flow in flows)

    still = (0,) * (FLOWS[phase] - len(flows))
    return Counted(
        flow_bytes=(*(segment_bytes * flow.get("delivered", 0) for flow in flows), *still),
        time_us=last_us - first_us,
        sent_bytes=total("bytes_sent"),
        retransmitted_bytes=total("bytes_retrans"),
        segments_out=total("data_segs_out"),
        segments_in=total("segs_in"),
        delivered=total("delivered"),
        delivered_marked=total("delivered_ce"),
    )


def _change(first: Mapping[str, int], last: Mapping[str, int]) -> dict[str, int]:
    return {name: last.get(name, 0) - first.get(name, 0) for name in {*first, *last} - {"mss"}}


def _snapshot(
    phase: str, lines: Sequence[Line], file: Path, problems: Problems
) -> tuple[int | None, dict[str, dict[str, int]]]:
    """Return the time and the counters of each connection by the sender's port. ss leaves out counters that are 0."""
    time_us: int | None = None
    found: dict[str, dict[str, int]] = {}
    for line in lines:
        time, connection = _TIME.fullmatch(line.text), _CONNECTION.fullmatch(line.text.strip())
        if time is not None:
            time_us = int(time[1])
        elif connection is not None:
            if phase == "dctcp" and _FELL_BACK in connection[2]:
                raise AbsentError(
                    "DCTCP got no ECN; net.ipv4.tcp_ecn must not be 0 on server B, and tcp_dctcp must be loaded there"
                )
            found[connection[1]] = {name: int(value) for name, value in _COUNTER.findall(connection[2])}
        elif line.text:
            message = f"{shown(line.text[:80])} is not a line of ss; install iproute2 and run protocol.sh measure again"
            problems.add(Place(str(file), line.number), "", message)
    return time_us, found


def _place(lines: Sequence[Line], file: Path) -> Place:
    return Place(str(file), lines[0].number if lines else None)
