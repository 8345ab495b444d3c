"""Congestion controls that the machine's kernel has beyond those that fabriclab lists: a kernel of the user's own may
have any.

Whoever reads a lab can't ask: what starts processes stands above. So it is told here whom to ask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Question = Callable[[], Sequence[str]]
_asked: list[Question] = []


def ask_kernel_by(question: Question) -> None:
    """Ask by this from now on for the congestion controls of the machine's kernel; none where there is no kernel."""
    _asked[:] = [question]


def kernel_congestion_controls() -> tuple[str, ...]:
    """Return the congestion controls of the machine's kernel; none where nobody can tell."""
    return tuple(name for question in _asked for name in question())
