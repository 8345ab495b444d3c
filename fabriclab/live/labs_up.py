"""Which labs are up: for each its socket, a file that says what it is, and a lock that its server holds as long as it
lives.

They lie in a directory of this user's alone. A server that was killed leaves files whose lock is free: they are
removed by who finds them. A process's number tells nothing, for numbers come again.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat

from fabriclab.errors import FabriclabError

TYPE_CHECKING = False  # `typing` takes as long to import as all else here
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_LONGEST_SOCKET = 107
"""Bytes of a socket's path (unix(7))."""
_GUARD = ".lock"
_MOST_LABS = 100
_LONGEST_FILE = 1 << 22
_ELSEWHERE = "set XDG_RUNTIME_DIR to a directory of your own on a local disk"


class LabsUpError(FabriclabError):
    """The labs that are up can't be listed, or none of the name is; the text says why."""


def directory() -> str:
    """Return the directory of the labs that are up; it is made. Raises LabsUpError where others could write there."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    path = f"{runtime}/fabriclab" if runtime.startswith("/") else f"/tmp/fabriclab-{os.getuid()}"
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError as error:
        raise LabsUpError(f"{path}: {error.strerror}; live labs need it for their sockets") from None
    state = os.lstat(path)
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid() or stat.S_IMODE(state.st_mode) & 0o077:
        raise LabsUpError(
            f"{path}: must be a directory that is yours alone (owner {os.geteuid()}, mode 0700); "
            f"it has owner {state.st_uid}, mode {stat.S_IMODE(state.st_mode):04o}"
        )
    return path


def socket_path(name: str) -> str:
    """Return the path of a lab's socket."""
    return f"{directory()}/{name}.sock"


class Entry:
    """A lab that is up, held by its server. `fill` says what it is; `close` takes it out again."""

    def __init__(self, wanted: str) -> None:
        """Take a name that no other lab has: `wanted`, or `wanted-2` and so on. Raises LabsUpError."""
        place = directory()
        with _Guard(place):
            _remove_stale(place)
            for number in range(1, _MOST_LABS + 1):
                name = wanted if number == 1 else f"{wanted}-{number}"
                try:
                    self._file = os.open(f"{place}/{name}.json", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                except FileExistsError:
                    continue
                except OSError as error:
                    raise LabsUpError(f"{place}/{name}.json: {error.strerror}") from None
                break
            else:
                raise LabsUpError(f"{_MOST_LABS} labs with the name {wanted} are up; take one down")
            _lock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, f"{place}/{name}.json")
        self.name = name
        self._is_listed = True
        self.socket = f"{place}/{name}.sock"
        self._path = f"{place}/{name}.json"
        if len(os.fsencode(self.socket)) > _LONGEST_SOCKET:
            self.close()
            raise LabsUpError(
                f"{self.socket}: the path of a socket can have at most {_LONGEST_SOCKET} bytes; give the lab a "
                "shorter name "
                "(--name), or set XDG_RUNTIME_DIR to a shorter directory"
            )

    def fill(self, facts: Mapping[str, Any]) -> None:
        """Say what the lab is, and that it is up."""
        data = json.dumps({"name": self.name, **facts}).encode(errors="surrogateescape")
        os.pwrite(self._file, data, 0)

    def withdraw(self) -> None:
        """Take the lab out. Its name is free from now on, and files of that name may be another lab's."""
        if self._is_listed:
            self._is_listed = False
            for path in (self.socket, self._path):
                _unlink(path)

    def close(self) -> None:
        """Take the lab out, unless that is done, and let it go."""
        self.withdraw()
        os.close(self._file)


def labs() -> dict[str, dict[str, Any]]:
    """Return what each lab that is up says of itself, by name. Those that still boot say nothing, and are left out."""
    place = directory()
    with _Guard(place):
        _remove_stale(place)
        found = {name: _facts(f"{place}/{name}.json") for name in _names(place)}
    return {name: facts for name, facts in found.items() if facts}


def chosen(name: str | None) -> str:
    """Return the name of the lab that is meant: the one named, or the only one. Raises LabsUpError."""
    up = sorted(labs())
    if name is not None and name not in up:
        raise LabsUpError(f"{name}: no lab of that name is up; {_listed(up)}")
    if name is None and len(up) != 1:
        raise LabsUpError(_listed(up) + ("; name one of them (NAME)" if up else ""))
    return up[0] if name is None else name


def _listed(up: list[str]) -> str:
    return f"these labs are up: {', '.join(up)}" if up else "no lab is up; `fabriclab up LAB` starts one"


class _Guard:
    """Holds the directory, so that nobody takes a name while another removes what is left of it."""

    def __init__(self, place: str) -> None:
        self._path = f"{place}/{_GUARD}"
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise LabsUpError(f"{self._path}: {error.strerror}; {_ELSEWHERE}") from None

    def __enter__(self) -> None:
        _lock(self._file, fcntl.LOCK_EX, self._path)

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def _lock(file: int, how: int, path: str) -> None:
    """Lock a file that was just made or is nobody's for long. Raises LabsUpError where its file system has no locks;
    the file is closed then."""
    try:
        fcntl.flock(file, how)
    except OSError as error:
        os.close(file)
        raise LabsUpError(
            f"{path}: can't be locked ({error.strerror}): locks tell which labs are up, but some network "
            f"file systems have none; {_ELSEWHERE}"
        ) from None


def _names(place: str) -> list[str]:
    return sorted(name.removesuffix(".json") for name in os.listdir(place) if name.endswith(".json"))


def _remove_stale(place: str) -> None:
    for name in _names(place):
        path = f"{place}/{name}.json"
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            _unlink(f"{place}/{name}.sock")
            _unlink(path)
        except OSError:
            pass  # Its server lives.
        finally:
            os.close(file)


def _facts(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(_LONGEST_FILE) or b"{}")
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
