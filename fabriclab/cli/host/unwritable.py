"""Whose a directory is that can't be written, and the line that mends it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path


def cure(filename: str) -> str:
    """Return what keeps a path from being made or changed, and the command that mends it; nothing where that is no
    directory's rights.

    `docker compose run lab` meets this where Docker made `./runs`, as root.
    """
    directory = _nearest_directory(Path(filename))
    if directory is None or os.access(directory, os.W_OK | os.X_OK):
        return ""
    owner, user = directory.stat().st_uid, os.geteuid()
    shown = shlex.quote(str(directory))
    if owner == user:
        return f"; {directory} is yours, and not writable: chmod u+rwx {shown}"
    mend = f"sudo chown {user}:{os.getegid()} {shown}"
    mounted = " (in a container: on the host, with the directory that is mounted there)"
    return (
        f"; {directory} belongs to user {owner}, you are user {user}: {mend}{mounted}, or name a directory of your own"
    )


def _nearest_directory(path: Path) -> Path | None:
    """Return the directory itself, else the nearest one above that is there; None where a file is there,
    which has rights of its own."""
    try:
        if path.exists() and not path.is_dir():
            return None
        return next((each for each in (path, *path.absolute().parents) if each.is_dir()), None)
    except OSError:
        return None
