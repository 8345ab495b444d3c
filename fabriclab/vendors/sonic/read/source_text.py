"""The text of a configuration in what operators have at hand: the file, what `show runningconfiguration all` printed in
a terminal, an archive of `show techsupport`, a directory such as /etc/sonic."""

from __future__ import annotations

import io
import lzma
import re
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from fabriclab.engine.sonic_cfggen import MinigraphError, config_of_minigraph
from fabriclab.lab.reading.problems import LabError, Mistake
from fabriclab.vendors.sonic.read.json_text import LARGEST_BYTES, Json

FILE_NAME = "config_db.json"
LARGEST_ARCHIVE_BYTES = 2**30
"""An archive of `show techsupport` has a few hundred megabytes at most."""
LARGEST_UNPACKED_BYTES = 2**34
"""Logs compress ten times."""
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
_IN_ARCHIVE = ("etc", "sonic", FILE_NAME)
"""Where sonic-utilities' scripts/generate_dump puts the saved configuration, below a directory of the dump's name."""
_LLDP = (("dump", "lldpctl"), ("dump", "lldp.table"))
"""What lldpctl printed, as generate_dump saves it; or what somebody added of `show lldp table`."""
_OF_CHIP = re.compile(r"config_db([0-9]+)\.json")
_CHIP = re.compile(r"asic[0-9]+")
_FRR = "bgpraw"
"""What FRR is told, as text beside the tables: sonic-utilities' show/main.py adds it to the running configuration."""


def is_archive(path: Path) -> bool:
    """Return whether a file's name is that of an archive."""
    return path.name.lower().endswith(_ARCHIVES)


def file_in(directory: Path) -> Path:
    """Return the configuration in a directory. Raises LabError without one, and where each of several chips has one."""
    chips = files_of_chips(directory)
    if chips:
        raise _error(
            str(directory),
            f"a switch of {len(chips)} chips, each with a file of its own; import one of them: {chips[0]}",
        )
    if not (directory / FILE_NAME).is_file():
        raise _error(str(directory), f"a directory without {FILE_NAME}; give a switch's configuration")
    return directory / FILE_NAME


def files_of_switches(directory: Path) -> tuple[Path, ...]:
    """Return the configurations in a directory: its own config_db.json; else those of the directories in it, a switch
    each; else every file *.json; else archives; else minigraphs, *.xml. Raises LabError without one."""
    if (directory / FILE_NAME).is_file():
        return (directory / FILE_NAME,)
    below = [path for path in directory.glob(f"*/{FILE_NAME}") if path.is_file()]
    every = [path for path in directory.iterdir() if path.is_file()]
    found = below or [path for path in every if path.suffix == ".json"]
    found = found or [path for path in every if is_archive(path)] or [path for path in every if path.suffix == ".xml"]
    if not found:
        raise _error(
            str(directory),
            f"a directory without {FILE_NAME}, without */{FILE_NAME}, *.json, archives and *.xml; give the "
            "configurations of switches",
        )
    return tuple(sorted(found))


def files_of_chips(directory: Path) -> tuple[Path, ...]:
    """Return the files of a switch of several chips, config_db0.json first; none of a switch of one."""
    found = {int(match[1]): path for path in directory.iterdir() if (match := _OF_CHIP.fullmatch(path.name))}
    return tuple(found[number] for number in sorted(found))


def archived(data: bytes, file: str) -> bytes:
    """Return the saved configuration in an archive of `show techsupport`. Raises LabError."""
    try:
        found = _member(data, _IN_ARCHIVE)
    except (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise _error(file, f"is not a readable archive ({error}); give a tar of `show techsupport`") from error
    if found is None:
        raise _error(file, f"is an archive without {'/'.join(_IN_ARCHIVE)}; give a tar of `show techsupport`")
    return found


def archived_lldp(data: bytes) -> bytes | None:
    """Return the text of LLDP in an archive whose configuration was read already; None without one."""
    return next((found for path in _LLDP if (found := _member(data, path)) is not None), None)


def _member(data: bytes, path: tuple[str, ...]) -> bytes | None:
    """Return a file whose name ends in a path, if it is not too large. Nothing is written, and no link is followed out
    of the archive."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if member.offset_data + member.size > LARGEST_UNPACKED_BYTES:
                raise tarfile.ReadError(f"more than {LARGEST_UNPACKED_BYTES} bytes in it")
            if member.isfile() and PurePosixPath(member.name).parts[-len(path) :] == path:
                found = archive.extractfile(member) if member.size <= LARGEST_BYTES else None
                if found is not None:
                    return found.read()
    return None


def as_json(data: bytes, file: str) -> bytes:
    """Return the JSON of a text: what a terminal has before and after it is taken off, its lines kept as empty ones.

    A minigraph becomes what sonic-cfggen makes of it. Raises LabError.
    """
    start = data.lstrip()[:1]
    if start == b"<":
        try:
            return config_of_minigraph(data, Path(file).parent)
        except MinigraphError as error:
            raise LabError([Mistake(file, error.line, "", "", str(error))]) from error
    first = re.search(rb"^\{[ \t\r]*$", data, re.MULTILINE)
    if start in (b"{", b"[", b'"', b"") or first is None:
        return data
    last = data.rfind(b"\n}")
    before = b"\n" * data.count(b"\n", 0, first.start())
    return before + data[first.start() : last + 2 if last > first.start() else len(data)] + b"\n"


def without_frr(value: Json, file: str) -> bool:
    """Take off what `show runningconfiguration all` has beside the tables; return whether there was anything.

    Raises LabError for the configuration of several chips.
    """
    if not isinstance(value, dict):
        return False
    chips = [name for name in value if _CHIP.fullmatch(name)]
    if chips:
        raise _error(
            file,
            f"the configuration of {len(chips)} chips; write what is below one of them, such as {chips[0]}, to a file",
        )
    return isinstance(value.get(_FRR), str) and value.pop(_FRR) is not None


def _error(file: str, message: str) -> LabError:
    return LabError([Mistake(file, None, "", "", message)])
