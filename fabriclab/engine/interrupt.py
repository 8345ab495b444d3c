"""How a user's Ctrl-C reaches a running engine: first a request to stop in order, then to stop at once."""

from __future__ import annotations


class Interrupt:
    """Counts requests to stop. A signal handler raises it, engines look at it several times a second."""

    def __init__(self) -> None:
        self._requests = 0

    def request(self) -> None:
        """Ask to stop; a second time: at once."""
        self._requests += 1

    @property
    def requested(self) -> bool:
        """Whether to stop: end the traffic, collect, power off."""
        return self._requests > 0

    @property
    def at_once(self) -> bool:
        """Whether to stop without waiting for anything."""
        return self._requests > 1
