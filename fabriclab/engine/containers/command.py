"""One command of the host: an argv, its exit status looked at, its words kept for the message when it fails."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

from fabriclab.engine.artefacts import EngineError

_LINES_SHOWN = 6


class CommandError(EngineError):
    """A command ended with another status than 0, could not be started, or took too long."""

    def __init__(self, argv: Sequence[str], what: str, said: str = "") -> None:
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        self.said = "\n".join(lines)
        """What it wrote to standard error, else to standard output."""
        shown = "".join(f"\n  {line}" for line in lines[-_LINES_SHOWN:])
        super().__init__(f"`{' '.join(argv)}` {what}{':' if shown else ''}{shown}")


def run_command(
    argv: Sequence[str], *, timeout_s: float, data: bytes | None = None, environment: Mapping[str, str] | None = None
) -> bytes:
    """Run a command to its end; returns its standard output. Raises CommandError.

    It gets a session of its own: Ctrl-C is ours to handle, and what it does must not be cut off in the middle.
    """
    try:
        result = subprocess.run(
            argv,
            input=data if data is not None else b"",
            capture_output=True,
            timeout=timeout_s,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
            check=False,
        )
    except FileNotFoundError:
        raise CommandError(argv, "can't be started: the program is not on PATH") from None
    except OSError as error:
        raise CommandError(argv, f"can't be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise CommandError(
            argv, f"did not end within {timeout_s:g} s", (error.stderr or b"").decode(errors="replace")
        ) from None
    if result.returncode != 0:
        said = (result.stderr if result.stderr.strip() else result.stdout).decode(errors="replace")
        raise CommandError(argv, f"ended with status {result.returncode}", said)
    return result.stdout
