"""Commands below `tx-queue N` and `uc-tx-queue N`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, cast

from fabriclab.keys.wording import did_you_mean, shown
from fabriclab.vendors.arista.profile.config_text import ConfigText
from fabriclab.vendors.arista.profile.qos import Ledger, RandomDetect, Rate, TxQueue
from fabriclab.vendors.common.command_text import Command

UNITS = ("segments", "bytes", "kbytes", "mbytes", "microseconds", "milliseconds")
_PROBABILITY = {"ecn": "max-mark-probability", "drop": "drop-probability"}
_LARGEST_THRESHOLD = 256_000_000
_LARGEST_KBPS = 1_600_000_000


def number(config: ConfigText, command: Command, text: str | None, what: str, low: int, high: int) -> int | None:
    """Return a whole number of a command; None after recording what is wrong with it."""
    if text is None:
        config.complain(command, f"ends before {what}; write a whole number from {low} to {high}")
    elif not (text.isascii() and text.isdigit() and len(text) <= 12 and low <= int(text) <= high):
        config.complain(command, f"{what} {shown(text)}: must be a whole number from {low} to {high}", text)
    else:
        return int(text)
    return None


def read_tx_queue(config: ConfigText, section: Command, known: TxQueue, ledger: Ledger) -> TxQueue:
    """Return what a queue's section says over what is known of the queue."""
    for command in section.below:
        known = _read(config, command, known, ledger)
    return known


def _read(config: ConfigText, command: Command, known: TxQueue, ledger: Ledger) -> TxQueue:
    words = command.words
    if words == ("no", "priority"):
        return replace(known, round_robin=command, strict=None)
    if words == ("priority", "strict"):
        return replace(known, strict=command, round_robin=None)
    if words[:2] == ("bandwidth", "percent"):
        percent = number(config, command, _word(words, 2), "percent", 1, 100)
        return replace(known, percent=percent, percent_command=command)
    if words[:2] == ("bandwidth", "guaranteed"):
        return replace(known, guaranteed=_rate(config, command, words[2:]))
    if words[:2] == ("shape", "rate"):
        return replace(known, shape=_rate(config, command, words[2:]))
    if words[:2] == ("random-detect", "ecn") and words[2:] == ("count",):
        ledger.add("random-detect ecn count", "the sampler counts all marks")
    elif words[0] == "random-detect" and _word(words, 1) in _PROBABILITY:
        return replace(known, random_detect=_random_detect(config, command))
    else:
        ledger.add(f"tx-queue: {' '.join(words[:2])}", "no word for it in a profile")
    return known


def _word(words: Sequence[str], index: int) -> str | None:
    return words[index] if index < len(words) else None


def _rate(config: ConfigText, command: Command, words: Sequence[str]) -> Rate | None:
    """Return `100000 [kbps]`, `40 percent` or `percent 40`."""
    if words[:1] == ("percent",):
        words = (*words[1:2], "percent")
    unit = _word(words, 1) or "kbps"
    if unit not in ("kbps", "percent"):
        config.complain(command, f"{shown(unit)}: a profile's rates are in kbps or percent", unit)
        return None
    high = 100 if unit == "percent" else _LARGEST_KBPS
    value = number(config, command, _word(words, 0), "the rate", 1, high)
    return None if value is None else Rate(value, cast(Literal["kbps", "percent"], unit), command)


def _random_detect(config: ConfigText, command: Command) -> RandomDetect | None:
    """Return `random-detect ecn minimum-threshold 128 kbytes maximum-threshold 1280 kbytes
    max-mark-probability 100 [weight 0]`."""
    kind = cast(Literal["ecn", "drop"], command.words[1])
    values = _named(config, command, kind)
    if values is None:
        return None
    low, high = (
        _threshold(config, command, name, values.get(name)) for name in ("minimum-threshold", "maximum-threshold")
    )
    probability_words = values.get(_PROBABILITY[kind], ("100",))
    probability = number(config, command, _word(probability_words, 0), _PROBABILITY[kind], 1, 100)
    weight = number(config, command, _word(values["weight"], 0), "weight", 0, 15) if "weight" in values else None
    if low is None or high is None or probability is None:
        return None
    if low[1] != high[1]:
        config.complain(command, f"thresholds in {low[1]} and in {high[1]}; write both in one unit")
        return None
    if low[0] > high[0]:
        config.complain(
            command,
            f"minimum-threshold {low[0]} is above maximum-threshold {high[0]}; write the smaller one first",
            str(low[0]),
        )
        return None
    unit = cast(Literal["segments", "bytes", "kbytes", "mbytes", "microseconds", "milliseconds"], low[1])
    return RandomDetect(kind, low[0], high[0], unit, probability, weight, command)


def _named(config: ConfigText, command: Command, kind: str) -> dict[str, tuple[str, ...]] | None:
    """Return the words after each name."""
    names = ("minimum-threshold", "maximum-threshold", _PROBABILITY[kind], "weight", "drop-precedence")
    found: dict[str, tuple[str, ...]] = {}
    name = ""
    for word in command.words[2:]:
        if word in names:
            name = word
            found[name] = ()
        elif name and len(found[name]) < (2 if name.endswith("threshold") else 1):
            found[name] = (*found[name], word)
        else:
            config.complain(command, f"{shown(word)} is unknown; {did_you_mean(word, names)}", word)
            return None
    return found


def _threshold(
    config: ConfigText, command: Command, name: str, words: tuple[str, ...] | None
) -> tuple[int, str] | None:
    if words is None:
        config.complain(command, f"no {name}; write it with its unit, such as {name} 128 kbytes")
        return None
    value = number(config, command, _word(words, 0), name, 0, _LARGEST_THRESHOLD)
    unit = _word(words, 1)
    if unit not in UNITS:
        message = (
            f"no unit after {name}; write one of {', '.join(UNITS)}"
            if unit is None
            else f"{shown(unit)}: {did_you_mean(unit, UNITS)}"
        )
        config.complain(command, message, unit or "")
        return None
    return None if value is None else (value, unit)
