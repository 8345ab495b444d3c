"""What a Containerlab file has no word for, and a lab that is made of one gets."""

from __future__ import annotations

from collections.abc import Iterator

RATE, DELAY = "10 Gbps", "5 us"
"""Of links that say nothing of it."""
BUFFER = "16 MB"
"""Of a switch."""


def ping_lines(senders: str) -> Iterator[str]:
    """Yield the traffic: round trips, to begin with."""
    yield "traffic:  # every host asks another one, which answers: round trips, to begin with"
    yield (
        f"  ping: {{kind: arrivals, senders: {senders}, pairs: permutation, mode: pull, size: 100 B, interval: 5 ms, "
        "stop: 50 ms}"
    )


def printable(text: str) -> str:
    """Return a text for a comment: names of a file may hold anything, a comment is one line."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
