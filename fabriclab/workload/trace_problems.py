"""What is wrong with traces: collected, and shown together by file and line."""

from __future__ import annotations

from fabriclab.workload.site import TraceError

MOST_SHOWN = 20


class TraceProblems:
    """Problems of one or several traces. Many more than are shown need not be recorded."""

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        self._found: dict[tuple[int, int, str], str] = {}

    @property
    def count(self) -> int:
        """Return how many problems have been recorded."""
        return len(self._found)

    @property
    def wanted(self) -> int:
        """How many problems of one kind are worth recording: one more than are shown,
        so that it can be said that there are more."""
        return MOST_SHOWN + 1

    def add(self, path: str, line: int, message: str) -> None:
        """Record a problem; one that is there already is kept once."""
        self._found[self._files.setdefault(path, len(self._files)), line, message] = path

    def raise_if_any(self) -> None:
        """Raise TraceError with the first problems by file and line."""
        if not self._found:
            return
        lines = [f"{path}:{line}: {message}" for (_, line, message), path in sorted(self._found.items())]
        if len(lines) > MOST_SHOWN:
            lines[MOST_SHOWN:] = [f"there are more; these are the first {MOST_SHOWN}"]
        raise TraceError("\n".join(lines))


def shown(text: str) -> str:
    """Return a value quoted for a message, a long one cut."""
    return repr(text if len(text) <= 60 else text[:60] + "...")
