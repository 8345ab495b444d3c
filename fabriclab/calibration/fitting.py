"""The fit: which number of the hardware says what a parameter of the model is.

Each parameter has one number: the link delay the idle round trip, the interrupt delay the segments for each
acknowledgement, the buffer the longest round trips beside CUBIC, the ECN threshold the round trip beside DCTCP.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from fabriclab.calibration.description import Description
from fabriclab.calibration.model import Parameters
from fabriclab.formats import ranges

NUMBER_OF = {
    "delay": "idle_rtt_us",
    "interrupt_delay": "segments_per_ack",
    "buffer": "rtt_eight_p99_us",
    "ecn_threshold": "rtt_dctcp_median_us",
}
"""The number that each parameter is fitted to. `non_ect` compares the last two."""
INTERRUPT_DELAYS: tuple[int | Literal["adaptive"], ...] = ("adaptive", 0, 5_000, 10_000, 20_000, 50_000, 100_000)
"""The candidates, in nanoseconds: what drivers of common NICs have as defaults."""
_PASSES = 4
"""A round trip passes this many links."""
_ENOUGH_PER_ACK = 0.05
_DIFFERENT_QUEUES = 1.5
_PING_US = 1
"""The resolution of ping."""
Values = Mapping[str, float]


def queue_bytes(description: Description, values: Values, number: str) -> float | None:
    """Return the queue that a round trip stands for, at the rate of server B's port; None if a number is absent."""
    if number not in values or "idle_rtt_us" not in values:
        return None
    waiting_us = max(0.0, values[number] - values["idle_rtt_us"])
    return waiting_us * description.receiver_rate_bps / 8e6


def first_guess(description: Description, hardware: Values) -> Parameters:
    """Return the parameters that the reader described; those left out follow from the measurement by arithmetic."""
    longest = queue_bytes(description, hardware, "rtt_eight_p99_us")
    marked = queue_bytes(description, hardware, "rtt_dctcp_median_us")
    least = 4 * (description.mtu_bytes + 38)
    threshold = description.threshold_bytes
    if threshold is None:
        threshold = "none" if marked is None or not hardware.get("marked_dctcp_percent") else max(least, round(marked))
    buffer = description.buffer_bytes or max(least, round(longest or 1_000_000))
    if threshold != "none" and description.buffer_bytes is None:
        buffer = max(buffer, 2 * threshold)
    if threshold != "none" and threshold >= buffer:
        threshold = buffer // 2
    found = description.non_ect
    if found is None or "non_ect" in description.fit:
        found = _non_ect(longest, marked) or found or "drop"
    return Parameters(
        description.delay_ns, description.nic.interrupt_delay, buffer, None if threshold == "none" else threshold, found
    )


def _non_ect(longest: float | None, marked: float | None) -> str | None:
    """Return whether packets without ECN may fill the buffer beyond the threshold; None: it cannot be seen."""
    if not longest or not marked:
        return None
    return "queue" if longest > _DIFFERENT_QUEUES * marked else "drop"


def unfitted(description: Description, hardware: Values, parameters: Parameters) -> dict[str, str]:
    """Return the parameters that are not fitted, and the reason for each."""
    found: dict[str, str] = {}
    for name, number in NUMBER_OF.items():
        if name not in description.fit:
            found[name] = "not in `fit`"
        elif number not in hardware or "idle_rtt_us" not in hardware:
            found[name] = "its number is absent"
    if "interrupt_delay" not in found and not description.nic.gro:
        found["interrupt_delay"] = "gro is off"
    if "buffer" not in found and not hardware.get("retransmitted_eight_percent"):
        found["buffer"] = "the eight flows lost nothing, so they did not fill it: it is at least this large"
    if "buffer" not in found and parameters.threshold_bytes is not None and parameters.non_ect == "drop":
        found["buffer"] = "CUBIC's packets are dropped above the ECN threshold, so they never fill it"
    if "ecn_threshold" not in found and not hardware.get("marked_dctcp_percent"):
        found["ecn_threshold"] = "the switch marked nothing"
    return found


def per_ack_error(hardware: Values, model: Values) -> float:
    """Return how far the segments for each acknowledgement are apart: the logarithm of their quotient."""
    number = NUMBER_OF["interrupt_delay"]
    if not model.get(number) or not hardware.get(number):
        return math.inf
    return abs(math.log(model[number] / hardware[number]))


def has_room(parameters: Parameters, hardware: Values, model: Values) -> bool:
    """Return whether some link delay gives the model the hardware's idle round trip.

    A fixed interrupt delay holds a lone frame back at both ends, which may take longer than the whole round trip.
    """
    if "idle_rtt_us" not in model or "idle_rtt_us" not in hardware:
        return True
    return model["idle_rtt_us"] - _PASSES * parameters.delay_ns / 1000 <= hardware["idle_rtt_us"] + _PING_US


def interrupt_candidates(parameters: Parameters, hardware: Values, model: Values) -> list[int | Literal["adaptive"]]:
    """Return the interrupt delays to try; none if the model with the described delay is close already."""
    if per_ack_error(hardware, model) <= _ENOUGH_PER_ACK and has_room(parameters, hardware, model):
        return []
    longest_ns = hardware["idle_rtt_us"] * 1000 / 2
    return [
        each
        for each in INTERRUPT_DELAYS
        if each != parameters.interrupt_delay and (each == "adaptive" or each <= longest_ns)
    ]


def best_interrupts(trials: Sequence[tuple[Parameters, Values]], hardware: Values) -> tuple[Parameters, Values]:
    """Return the trial that fits best. Of trials that fit alike, the first: on slow ports they hardly differ."""
    possible = [trial for trial in trials if has_room(trial[0], hardware, trial[1])] or list(trials)
    least = min(per_ack_error(hardware, model) for _, model in possible)
    return next(trial for trial in possible if per_ack_error(hardware, trial[1]) <= least + _ENOUGH_PER_ACK)


def corrected(
    description: Description, parameters: Parameters, hardware: Values, model: Values, fixed: Mapping[str, str]
) -> Parameters:
    """Return parameters with which the model should have the hardware's round trips; `fixed` are not changed.

    Round trips grow with the delay of four links, and with the bytes that wait at server B's port.
    """
    found = parameters
    if "delay" not in fixed:
        missing_us = hardware["idle_rtt_us"] - model["idle_rtt_us"]
        if abs(missing_us) >= _PING_US:
            delay_ns = round(parameters.delay_ns + 1000 * missing_us / _PASSES)
            found = replace(found, delay_ns=min(max(0, delay_ns), ranges.DELAY.most))
    frame = description.mtu_bytes + 38
    if "buffer" not in fixed:
        missing = _missing(description, hardware, model, NUMBER_OF["buffer"])
        if abs(missing) > max(frame, 0.02 * parameters.buffer_bytes):
            found = replace(found, buffer_bytes=max(4 * frame, round(parameters.buffer_bytes + missing)))
    if "ecn_threshold" not in fixed:
        missing = _missing(description, hardware, model, NUMBER_OF["ecn_threshold"])
        before = parameters.threshold_bytes
        if before is None:
            marked = queue_bytes(description, hardware, NUMBER_OF["ecn_threshold"])
            found = replace(found, threshold_bytes=max(2 * frame, round(marked or 0)))
        elif abs(missing) > max(frame, 0.02 * before):
            found = replace(found, threshold_bytes=max(2 * frame, round(before + missing)))
    if found.threshold_bytes is not None and found.threshold_bytes >= found.buffer_bytes:
        if "ecn_threshold" in fixed:
            return replace(found, buffer_bytes=found.threshold_bytes + frame)
        return replace(found, threshold_bytes=max(1, found.buffer_bytes - frame))
    return found


def _missing(description: Description, hardware: Values, model: Values, number: str) -> float:
    """Return how many bytes the model's queue is too short."""
    wanted, found = queue_bytes(description, hardware, number), queue_bytes(description, model, number)
    return 0.0 if wanted is None or found is None else wanted - found
