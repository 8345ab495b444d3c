"""What a user said yes to, in a file of their own: folders of labs, and code of bundles by its hash.

`${XDG_STATE_HOME:-~/.local/state}/fabriclab/trust.json`. It is written whole or not at all, mode 0600; a file that
others own, or could write, is not believed.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fabriclab.consent.request import Subject
from fabriclab.errors import FabriclabError

FORMAT = "fabriclab-trust-1"
FILE = "trust.json"
_LARGEST_BYTES = 16 << 20
_KINDS = ("lab", "code")
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class TrustStateError(FabriclabError):
    """What was answered can't be read or kept; the text says why, and what mends it."""


@dataclass(frozen=True)
class Trusted:
    """One answer that is remembered."""

    subject: Subject
    owner: int | None = None
    """Who owned a lab's folder, or file, then: what somebody else puts in its place later is not trusted."""

    def holds(self, subject: Subject) -> bool:
        """Return whether it is an answer about a subject as that is now."""
        return subject == self.subject and (subject.kind == "code" or self.owner == owner_of(subject))


def owner_of(subject: Subject) -> int | None:
    """Return who owns a lab's folder or file; None of code, and of what is not there."""
    try:
        return None if subject.kind == "code" else Path(subject.name).stat().st_uid
    except OSError:
        return None


def state_file() -> Path:
    """Return where answers are kept. Raises TrustStateError where there is no place for it."""
    named = os.environ.get("XDG_STATE_HOME", "")
    home = os.environ.get("HOME", "")
    base = named if named.startswith("/") else f"{home}/.local/state" if home.startswith("/") else ""
    if not base:
        raise TrustStateError(
            "HOME is not set, so there is no directory for answers about what may run; set HOME, or XDG_STATE_HOME to "
            "a directory "
            "of your own"
        )
    return Path(base) / "fabriclab" / FILE


def read_trusted() -> list[Trusted]:
    """Return what is trusted, in the order in which it came to be; nothing where there is no place for it.

    Raises TrustStateError.
    """
    try:
        path = state_file()
    except TrustStateError:
        return []
    return _read(path)


def remember(subject: Subject) -> None:
    """Trust a subject from now on. Raises TrustStateError."""
    with _changing() as entries:
        entries[:] = [*(entry for entry in entries if entry.subject != subject), Trusted(subject, owner_of(subject))]


def forget(subject: Subject) -> bool:
    """Trust a subject no longer; return whether it was trusted. Raises TrustStateError."""
    with _changing() as entries:
        kept = [entry for entry in entries if entry.subject != subject]
        found = len(kept) < len(entries)
        entries[:] = kept
    return found


def _read(path: Path) -> list[Trusted]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise TrustStateError(f"{path}: {error.strerror}; this file lists what may run without a question") from error
    with os.fdopen(handle, "rb") as file:
        _check(os.fstat(handle), path, "file", stat.S_ISREG)
        try:
            data = file.read(_LARGEST_BYTES)
        except OSError as error:
            raise TrustStateError(f"{path}: {error.strerror}") from error
    try:
        return [_entry(each) for each in _entries(json.loads(data))]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TrustStateError(
            f"{path}: is not of the format {FORMAT} ({type(error).__name__}); remove it and answer again"
        ) from error


def _entries(data: Any) -> list[Any]:
    if not isinstance(data, dict) or data.get("format") != FORMAT or not isinstance(data.get("trusted"), list):
        raise ValueError(FORMAT)
    return list(data["trusted"])


def _entry(data: Any) -> Trusted:
    subject = Subject(**data["subject"])
    owner = data["owner"]
    if subject.kind not in _KINDS or not isinstance(subject.name, str) or not isinstance(owner, int | None):
        raise ValueError(data)
    return Trusted(subject, owner)


def _check(state: os.stat_result, path: Path, what: str, is_one: Any) -> None:
    if not is_one(state.st_mode) or state.st_uid != os.geteuid() or state.st_mode & _OTHERS_WRITE:
        raise TrustStateError(
            f"{path}: must be a {what} that you own (user {os.geteuid()}) and that no one else can write, because it "
            f"says what may run; it has owner {state.st_uid}, mode {stat.S_IMODE(state.st_mode):04o}: repair or "
            "remove it"
        )


@contextmanager
def _changing() -> Iterator[list[Trusted]]:
    """Give what is trusted, and write what the block makes of it; who else wants to waits."""
    path = state_file()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _check(os.fstat(directory), path.parent, "directory", stat.S_ISDIR)
            with suppress(OSError):  # a file system without locks: the last one to write wins
                fcntl.flock(directory, fcntl.LOCK_EX)
            entries = _read(path)
            yield entries
            _write(path, entries)
        finally:
            os.close(directory)
    except OSError as error:
        where = error.filename or path
        raise TrustStateError(f"{where}: {error.strerror}: your answer can't be kept") from error


def _write(path: Path, entries: list[Trusted]) -> None:
    data = {"format": FORMAT, "trusted": [asdict(entry) for entry in entries]}
    text = json.dumps(data, indent=1) + "\n"
    part = path.with_name(f"{path.name}.part")
    with suppress(FileNotFoundError):
        part.unlink()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(part, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
