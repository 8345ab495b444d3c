"""The one form in which two values of a key are compared: `0.064 MB` is `64 KB`, `0.125` is `1/8`, `on` is true."""

from __future__ import annotations

from typing import Literal

from fabriclab.lab.reading.fraction import format_fraction, parse_fraction
from fabriclab.lab.reading.percent import format_percent, parse_percent
from fabriclab.lab.reading.section import FALSE_WORDS, TRUE_WORDS, WHOLE_NUMBER
from fabriclab.units import DURATION, RATE, SIZE, Dimension, UnitError, format_quantity, parse_quantity

Meaning = Literal["rate", "size", "duration", "threshold", "percent", "fraction", "count", "counts", "flag", "word"]
"""What a key's text is. `threshold`: a size or a duration; `counts`: whole numbers separated by commas."""

_DIMENSIONS: dict[Meaning, tuple[Dimension, ...]] = {
    "rate": (RATE,),
    "size": (SIZE,),
    "duration": (DURATION,),
    "threshold": (SIZE, DURATION),
}


def canonical(text: str, meaning: Meaning) -> str | int | bool:
    """Return a value as it is compared; a text that is no such value as it is:
    the reader of the key complains about it."""
    text = text.strip()
    if meaning == "count" and WHOLE_NUMBER.fullmatch(text):
        return int(text)
    if meaning == "counts" and all(WHOLE_NUMBER.fullmatch(part.strip()) for part in text.split(",")):
        return ", ".join(str(number) for number in sorted(int(part) for part in text.split(",")))
    if meaning == "flag" and text.lower() in TRUE_WORDS + FALSE_WORDS:
        return text.lower() in TRUE_WORDS
    if meaning == "percent" and (ppm := parse_percent(text)) is not None:
        return format_percent(ppm)
    if meaning == "fraction" and (number := parse_fraction(text)) is not None:
        return format_fraction(number)
    for dimension in _DIMENSIONS.get(meaning, ()):
        try:
            return format_quantity(parse_quantity(text, dimension), dimension)
        except UnitError:
            continue
    return text
