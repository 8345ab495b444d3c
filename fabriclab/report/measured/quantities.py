"""Numbers for people: a metric's unit is the ending of its name, an axis shows one unit that fits all its values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from fabriclab.formats.metrics import BY_NAME
from fabriclab.units import UnitError, format_duration, format_rate, format_size, parse_duration, parse_rate, parse_size

Value = str | int | float | bool | None
_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "bps": ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1, "bps")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1, "B")),
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")),
}
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|(?:[kMGT]?bps|[KMG]?B|[num]?s)\b)|(?<=≥) ")


@dataclass(frozen=True)
class Axis:
    """One unit for all values of an axis: a value divided by `scale` is in `unit`."""

    scale: float
    unit: str


def metric_title(metric: str) -> str:
    """Return what a metric is called in a table or on an axis:
    `queue_max_bytes[s1:eth3]` is `Queue, longest (s1:eth3)`."""
    name, _, place = metric.partition("[")
    title = BY_NAME[name].title if name in BY_NAME else name.replace("_", " ")
    return f"{title} ({place[:-1]})" if place else title


def format_metric(metric: str, value: Value, digits: int = 4) -> str:
    """Return a measured number with its unit, to so many significant digits; a dash for what was not measured."""
    if value is None or isinstance(value, str):
        return "–" if value is None else value
    match metric_dimension(metric):
        case "bps":
            return format_rate(value, digits)
        case "bytes":
            return format_size(value, digits)
        case "ns":
            return format_duration(value * _to_base(metric), digits)
        case _:
            is_whole = isinstance(value, int) or abs(value) >= 10**digits
            return f"{value:,.0f}" if is_whole else f"{value:,.{digits}g}"


def metric_dimension(metric: str) -> str:
    """Return `bps`, `bytes`, `ns`, or `` for a plain number."""
    name = metric.partition("[")[0]
    ending = name.rpartition("_")[2]
    return {"bps": "bps", "bytes": "bytes", "ns": "ns", "us": "ns"}.get(ending, "")


def metric_axis(metric: str, values: Iterable[float]) -> Axis:
    """Return the axis unit that fits the largest value of a metric."""
    base = _to_base(metric)
    axis = axis_for(metric_dimension(metric), [value * base for value in values])
    return Axis(axis.scale / base, axis.unit)


def axis_for(dimension: str, values: Iterable[float]) -> Axis:
    """Return the unit (of `bps`, `bytes`, `ns`) that fits the largest value;
    1 Gbps is still 1000 Mbps, 4 MB 4000 KB."""
    largest = max((abs(value) for value in values), default=0.0)
    for scale, unit in _SCALES.get(dimension, ()):
        if largest >= scale * {"Gbps": 2, "MB": 10, "GB": 10}.get(unit, 1):
            return Axis(scale, unit)
    fallback = {"bps": Axis(1e6, "Mbps"), "bytes": Axis(1e3, "KB"), "ns": Axis(1e6, "ms")}
    return fallback.get(dimension, Axis(1, ""))


def setting_number(value: Value) -> float | None:
    """Return a setting as a number to order or plot by, None for one that is not a number.

    A count, a fraction such as `1/8` or per cent is as it is, `64 KB`, `10 Gbps` and `1 ms` are in base units.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    for parse in (parse_size, parse_rate, parse_duration):
        try:
            return float(parse(value))
        except UnitError:
            continue
    try:
        return float(Fraction(value.removesuffix("%")))
    except (ValueError, ZeroDivisionError):
        return None


def setting_axis(values: Iterable[Value]) -> tuple[str, Axis]:
    """Return dimension (`%` is one) and axis unit of a setting's values."""
    given = [value for value in values if value is not None]
    for dimension, parse in (("bytes", parse_size), ("bps", parse_rate), ("ns", parse_duration)):
        try:
            return dimension, axis_for(dimension, [float(parse(str(value))) for value in given])
        except UnitError:
            continue
    return ("%", Axis(1, "%")) if given and all(str(value).endswith("%") for value in given) else ("", Axis(1, ""))


def format_share(share: float) -> str:
    """Return a share as per cent, whole above 10 % and below 99 %."""
    percent = 100 * share
    if 10 <= percent <= 99 or percent == 0 or percent >= 99.95:
        return f"{percent:.0f} %"
    return f"{percent:.1f} %"


def keep_units(text: str) -> str:
    """Return text in which no line breaks between a number and its unit, or the sign that it is a lower bound."""
    return _BEFORE_UNIT.sub("\u00a0", text)


def _to_base(metric: str) -> float:
    """Return how many nanoseconds (or bytes, bps) one unit of the metric is."""
    return 1e3 if metric.partition("[")[0].endswith("_us") else 1.0
