"""The ten numbers out of the protocol's output, and the reason for each number that is absent."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from fabriclab.calibration.connections import AbsentError, Counted, counted
from fabriclab.calibration.numbers import FLOWS, NUMBERS, PHASES
from fabriclab.calibration.sections import LARGEST_BYTES, MEASURED, Line, Sections, read_sections
from fabriclab.errors import printable
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.files import UnreadableError, read_lab_file, text_of
from fabriclab.lab.reading.problems import Place, Problems

_ANSWER = re.compile(r"\d+ bytes from \S+: icmp_seq=\d+ ttl=\d+ time=(\d{1,6}(?:\.\d{1,3})?) ms")
_STATISTICS = re.compile(r"(\d{1,6}) packets transmitted, (\d{1,6}) received,.*")
_LEAST_ANSWERS = {"idle": 0.9, **dict.fromkeys(FLOWS, 0.5)}
"""The share of pings that must be answered. Beside flows a full buffer may drop some."""


@dataclass(frozen=True)
class Measured:
    """What one run of the protocol found."""

    seconds: int
    """How long each phase sent."""
    kernel: str
    """The release of server A's kernel."""
    values: Mapping[str, float]
    """The numbers by name, each in the unit of its name."""
    absent: Mapping[str, str]
    """The reason for each number that is not there, by name."""


def read_measured(directory: Path, problems: Problems, name: str = MEASURED) -> Measured | None:
    """Return what a file of the protocol in a directory says; None after recording what is wrong with the file."""
    file = directory / name
    try:
        text = text_of(read_lab_file(directory, name, LARGEST_BYTES))
    except UnreadableError as error:
        problems.add(Place(str(file)), "", f"{error}; write the output of `protocol.sh measure ADDRESS` there")
        return None
    except UnicodeDecodeError:
        problems.add(Place(str(file)), "", "is not UTF-8; write the output of `protocol.sh measure ADDRESS` there")
        return None
    sections = read_sections(text, file, problems)
    return None if sections is None else _numbers(sections, file, problems)


def _numbers(sections: Sections, file: Path, problems: Problems) -> Measured | None:
    values: dict[str, float] = {}
    absent: dict[str, str] = {}
    for phase in PHASES:
        names = [number.name for number in NUMBERS if number.phase == phase]
        try:
            found = _phase(phase, sections, file, problems)
        except AbsentError as error:
            absent |= dict.fromkeys(names, printable(str(error))[:300])
        else:
            values |= {name: found[name] for name in names if name in found}
            absent |= dict.fromkeys((name for name in names if name not in found), "nothing was counted")
    return None if problems else Measured(sections.seconds, sections.kernel, values, absent)


def _phase(phase: str, sections: Sections, file: Path, problems: Problems) -> dict[str, float]:
    """Return the numbers of a phase. Raises AbsentError with the reason if it has none."""
    if (phase, "absent") in sections.lines:
        reason = " ".join(line.text.strip() for line in sections.lines[phase, "absent"]).strip()
        raise AbsentError(reason or "the protocol does not say why")
    wanted = ("ping",) if phase == "idle" else ("before", "after", "ping")
    missing = [kind for kind in wanted if (phase, kind) not in sections.lines]
    if missing:
        raise AbsentError(f"the file has no section `== {phase} {missing[0]}`")
    if phase == "idle":
        return {"idle_rtt_us": median(_round_trips_us(phase, sections.lines[phase, "ping"], file, problems))}
    # Read before the pings: the reason why nothing flowed says more than pings do.
    flows = counted(phase, sections.lines[phase, "before"], sections.lines[phase, "after"], file, problems)
    pings = sections.lines[phase, "ping"]
    if phase == "one":
        return _of_one(flows)
    trips = _round_trips_us(phase, pings, file, problems)
    return _of_eight(flows, trips) if phase == "eight" else _of_dctcp(flows, trips)


def _of_one(flows: Counted) -> dict[str, float]:
    found = {"goodput_one_mbps": flows.goodput_mbps}
    if flows.segments_in:
        found["segments_per_ack"] = flows.segments_out / flows.segments_in
    return found


def _of_eight(flows: Counted, trips_us: Sequence[float]) -> dict[str, float]:
    total, squares = sum(flows.flow_bytes), sum(each**2 for each in flows.flow_bytes)
    found = {
        "goodput_eight_mbps": flows.goodput_mbps,
        "rtt_eight_median_us": median(trips_us),
        "rtt_eight_p99_us": sorted(trips_us)[math.ceil(0.99 * len(trips_us)) - 1],
    }
    if squares:
        found["fairness_eight"] = total**2 / (FLOWS["eight"] * squares)
    if flows.sent_bytes:
        found["retransmitted_eight_percent"] = 100 * flows.retransmitted_bytes / flows.sent_bytes
    return found


def _of_dctcp(flows: Counted, trips_us: Sequence[float]) -> dict[str, float]:
    found = {"rtt_dctcp_median_us": median(trips_us)}
    if flows.delivered:
        found["marked_dctcp_percent"] = 100 * flows.delivered_marked / flows.delivered
    return found


def _round_trips_us(phase: str, lines: Sequence[Line], file: Path, problems: Problems) -> list[float]:
    """Return the round trips of a phase's pings. Raises AbsentError if too few of them were answered."""
    found: list[float] = []
    sent = received = 0
    for line in lines:
        answer = _ANSWER.fullmatch(line.text)
        statistics = _STATISTICS.fullmatch(line.text)
        if answer is not None:
            found.append(float(answer[1]) * 1000)
        elif " time=" in line.text and "(DUP!)" not in line.text:
            message = f"{shown(line.text[:80])} is not a line of ping (iputils); run protocol.sh measure again"
            problems.add(Place(str(file), line.number), "", message)
        elif statistics is not None:
            sent, received = sent + int(statistics[1]), received + int(statistics[2])
    if sent == 0:
        said = next((line.text for line in lines if line.text.startswith("ping:")), "ping says nothing")
        raise AbsentError(f"there are no answers to pings: {said}")
    if len(found) != received or received > sent:
        message = f"{len(found)} answers to pings in `== {phase} ping`, but ping counts {received} of {sent}"
        problems.add(Place(str(file), lines[0].number), "", f"{message}; the file was changed or cut")
    if received < _LEAST_ANSWERS[phase] * sent or not found:
        least = round(100 * _LEAST_ANSWERS[phase])
        raise AbsentError(f"only {received} of {sent} pings were answered; at least {least} % are needed")
    return found
