"""Exercises of a notebook: the reader fills in an answer, a cell says whether it is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

State = Literal["right", "not yet", "not answered yet"]
Expected = float | str | Collection[str] | Callable[[Any], bool]

_COLORS: dict[State, str] = {"right": "#009E73", "not yet": "#D55E00", "not answered yet": "#767676"}
"""Colours that are told apart by people who see few of them; the words say the same."""


@dataclass(frozen=True, repr=False)
class Verdict:
    """What is said of an answer; a notebook shows it."""

    number: int
    """The exercise's."""
    state: State
    said: str
    """What to do next."""

    def __repr__(self) -> str:
        return f"Exercise {self.number}: {self.state}. {self.said}".rstrip()

    def _repr_html_(self) -> str:
        # Only the bar has a colour of its own: the words have the notebook's, light or dark.
        return (
            f'<div role="status" style="border-left:6px solid {_COLORS[self.state]};padding:.3em .8em">'
            f"<b>Exercise {self.number}: {self.state}.</b> {escape(self.said)}</div>"
        )


def check_answer(number: int, answer: Any, expected: Expected, *, hint: str, within: float = 0.05) -> Verdict:
    """Return whether the answer of exercise `number` is right, and the hint where it is not.

    `answer` is `...` as long as the reader has not filled it in. `expected` is taken from the run that the notebook has
    made: a number, from which the answer may differ by the part `within` of it (a number that is 0 only by 0); a word,
    whose capitals do not matter; several words in any order; or a function that takes the answer and returns whether it
    is right. What such a function raises is shown with the verdict "not yet": an answer that can't be tried is wrong,
    and no mistake of the notebook. Raises ValueError where nothing was measured to check the answer by.
    """
    if expected is None or (isinstance(expected, float) and math.isnan(expected)):
        raise ValueError(f"exercise {number}: the run did not measure what the answer is checked by")
    if answer is ...:
        return Verdict(
            number, "not answered yet", f"Replace the dots of answer_{number}, run that cell and then this one."
        )
    if callable(expected):
        try:
            right = bool(expected(answer))
        except Exception as error:  # the answer is code of the reader's: whatever it does, the reader is told
            return Verdict(number, "not yet", f"This answer could not be tried: {error}. Hint: {hint}")
        return _verdict(number, right, "", hint)
    if isinstance(expected, str):
        return _of_word(number, answer, expected, hint)
    if isinstance(expected, int | float):
        return _of_number(number, answer, float(expected), hint, within)
    return _of_words(number, answer, expected, hint)


def _of_number(number: int, answer: Any, expected: float, hint: str, within: float) -> Verdict:
    # NumPy's and Polars' numbers have __float__, too; a bool is not a number that somebody means.
    if isinstance(answer, str | bool) or not hasattr(answer, "__float__"):
        return Verdict(number, "not yet", f"Write a number, without quotes and without a unit. Hint: {hint}")
    given = float(answer)
    if math.isclose(given, expected, rel_tol=within):
        return _verdict(number, True, f"These runs say {expected:.4g}.", hint)
    ratio = given / expected if expected else math.inf
    # A factor of a thousand is a mistake of units.
    slip = any(math.isclose(ratio, 1000.0**power, rel_tol=within) for power in (-3, -2, -1, 1, 2, 3))
    slip_of_bits = any(math.isclose(ratio, factor, rel_tol=within) for factor in (8, 1 / 8))
    said = "The digits are right, the unit is not." if slip else "Bits or bytes?" if slip_of_bits else ""
    return _verdict(number, False, said, hint)


def _of_word(number: int, answer: Any, expected: str, hint: str) -> Verdict:
    if not isinstance(answer, str):
        return Verdict(number, "not yet", f"Write a word in quotes. Hint: {hint}")
    return _verdict(number, answer.strip().casefold() == expected.casefold(), "", hint)


def _of_words(number: int, answer: Any, expected: Collection[str], hint: str) -> Verdict:
    if isinstance(answer, str) or not isinstance(answer, Collection):
        return Verdict(number, "not yet", f'Write several words, such as {{"one", "two"}}. Hint: {hint}')
    given = {str(word).strip().casefold() for word in answer}
    wanted = {word.casefold() for word in expected}
    said = f"{len(given & wanted)} of these {len(given)} are right." if given & wanted else ""
    return _verdict(number, given == wanted, "" if given == wanted else said, hint)


def _verdict(number: int, right: bool, said: str, hint: str) -> Verdict:
    return Verdict(number, "right", said) if right else Verdict(number, "not yet", f"{said} Hint: {hint}".strip())
