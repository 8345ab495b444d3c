"""`queues` of a switch: memory, scheduler, shaping, WRED and ECN, phantom queue, QCN, VOQ limit, congestion events."""

from __future__ import annotations

from fabriclab.formats import ranges
from fabriclab.lab.ports.buffer import NON_ECT_WORDS
from fabriclab.lab.reading.or_none import NONE, read_part
from fabriclab.lab.reading.percent import WHOLE_PPM
from fabriclab.lab.reading.problems import shown
from fabriclab.lab.reading.section import Section
from fabriclab.lab.switch.account import ACCOUNT_KEYS, read_account, read_optional_size
from fabriclab.lab.switch.numbered_sections import read_numbered
from fabriclab.lab.switch.written import (
    Numbered,
    Threshold,
    WrittenCongestionPoint,
    WrittenPhantom,
    WrittenQueue,
    WrittenWred,
)
from fabriclab.units import DURATION, SIZE, UnitError, parse_duration, parse_size

WRED_KEYS = ("min", "max", "probability", "weight", "ecn", "non_ect")
PHANTOM_KEYS = ("rate", "threshold")
CONGESTION_POINT_KEYS = ("set_point", "sample", "weight")
QUEUE_KEYS = (
    *(*ACCOUNT_KEYS, "scheduler", "weight", "cir", "cbs", "pir", "pbs"),
    *("wred", "phantom", "qcn", "voq_limit", "event"),
)
SCHEDULERS = ("strict", "dwrr", "wrr")
LARGEST_WEIGHT = ranges.WEIGHT.most
"""sonic-scheduler.yang."""
LARGEST_WEIGHT_LOG = ranges.WEIGHT_LOG.most
"""SAI_WRED_ATTR_WEIGHT; `wred.h` of the kernel's `switch_port`."""
SLOWEST_BPS, FASTEST_BPS = 8_000, ranges.SERVED_RATE.most
LARGEST_BURST_BYTES = ranges.BURST_BYTES.most
"""Bounds of the machine's qdisc (its `parse.c`)."""
LARGEST_SET_POINT_BYTES, LARGEST_QCN_WEIGHT = ranges.SET_POINT_BYTES.most, ranges.QCN_WEIGHT.most
LEAST_SAMPLE_BYTES, MOST_SAMPLE_BYTES = ranges.SAMPLE_BYTES
"""Bounds of its `qcn_point.c`; the least sample is ieee8021CnCpMinSampleBase's."""
LARGEST_LENGTH = ranges.LENGTH.most
"""The largest threshold that may be written, in bytes or nanoseconds."""


def read_queues(section: Section) -> Numbered[WrittenQueue]:
    """Return the queues by number."""

    def read(key: str) -> WrittenQueue | None:
        queue = section.section(key, QUEUE_KEYS)
        return None if queue is None else _read_queue(queue)

    return read_numbered(section, "queue", read)


def _read_queue(section: Section) -> WrittenQueue:
    return WrittenQueue(
        account=read_account(section),
        scheduler=section.choice("scheduler", SCHEDULERS),
        weight=section.count("weight", 1, LARGEST_WEIGHT, "a share of what the scheduler gives"),
        cir=section.rate("cir", SLOWEST_BPS, FASTEST_BPS),
        cbs=section.size("cbs", 1, LARGEST_BURST_BYTES),
        pir=section.rate("pir", SLOWEST_BPS, FASTEST_BPS),
        pbs=section.size("pbs", 1, LARGEST_BURST_BYTES),
        wred=read_part(section, "wred", WRED_KEYS, _read_wred, WrittenWred(is_none=True)),
        phantom=read_part(section, "phantom", PHANTOM_KEYS, _read_phantom, WrittenPhantom(is_none=True)),
        qcn=read_part(section, "qcn", CONGESTION_POINT_KEYS, _read_point, WrittenCongestionPoint(is_none=True)),
        voq_limit=section.read(
            "voq_limit", f"a size such as '12 MB', a duration such as '5 ms', or '{NONE}'", _optional_threshold
        ),
        event=read_optional_size(section, "event"),
    )


def _read_wred(section: Section) -> WrittenWred:
    return WrittenWred(
        min=section.read("min", "a size such as '30 KB', or a duration such as '50 us'", parse_threshold),
        max=section.read("max", "a size such as '90 KB', or a duration such as '150 us'", parse_threshold),
        probability_ppm=section.percent("probability", 0, WHOLE_PPM),
        weight_log=section.count(
            "weight", 0, LARGEST_WEIGHT_LOG, "the newest length weighs 2^-weight; 0 is the queue of the moment"
        ),
        ecn=section.flag("ecn"),
        non_ect=section.choice("non_ect", NON_ECT_WORDS),
    )


def _read_phantom(section: Section) -> WrittenPhantom:
    return WrittenPhantom(
        rate_ppm=section.percent("rate", 1, WHOLE_PPM, "of the line's rate"),
        threshold=section.size("threshold", 1, LARGEST_BURST_BYTES),
    )


def _read_point(section: Section) -> WrittenCongestionPoint:
    return WrittenCongestionPoint(
        set_point=section.size("set_point", 1, LARGEST_SET_POINT_BYTES),
        sample=section.size("sample", LEAST_SAMPLE_BYTES, MOST_SAMPLE_BYTES),
        weight=section.count("weight", 0, LARGEST_QCN_WEIGHT, "how much the queue's change counts"),
    )


def parse_threshold(text: str) -> Threshold:
    """Return bytes of a size or nanoseconds of a duration. Raises ValueError."""
    unit = text.strip().lstrip("+-.0123456789").strip()
    if DURATION.scale(unit) is not None:
        value = Threshold(parse_duration(text), "ns")
    elif SIZE.scale(unit) is not None:
        value = Threshold(parse_size(text), "bytes")
    else:
        raise UnitError(f"{shown(text)} is neither a size such as '30 KB' nor a duration such as '50 us'")
    if value.value > LARGEST_LENGTH:
        raise UnitError(f"{shown(text)} is out of range; write at most 1000 GB, or 1000 s")
    return value


def _optional_threshold(text: str) -> Threshold | None:
    if text == NONE:
        return None
    threshold = parse_threshold(text)
    if threshold.value == 0:
        raise ValueError(f"{shown(text)} would drop every frame; write a size or a duration, or '{NONE}'")
    return threshold
