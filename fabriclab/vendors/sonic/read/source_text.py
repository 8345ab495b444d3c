"""The text of a configuration in what operators have at hand: the file, what `show runningconfiguration all` printed in
a terminal, an archive of `show techsupport`, a directory such as /etc/sonic."""

from __future__ import annotations

import io
import re
import tarfile
from pathlib import Path, PurePosixPath

from fabriclab.lab.reading.problems import LabError, Mistake
from fabriclab.vendors.sonic.read.json_text import LARGEST_BYTES, Json

FILE_NAME = "config_db.json"
LARGEST_ARCHIVE_BYTES = 2**30
"""An archive of `show techsupport` has a few hundred megabytes at most."""
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
_IN_ARCHIVE = ("etc", "sonic", FILE_NAME)
"""Where sonic-utilities' scripts/generate_dump puts the saved configuration, below a directory of the dump's name."""
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
    each; else every file *.json. Raises LabError without one."""
    if (directory / FILE_NAME).is_file():
        return (directory / FILE_NAME,)
    below = [path for path in directory.glob(f"*/{FILE_NAME}") if path.is_file()]
    found = below or [path for path in directory.glob("*.json") if path.is_file()]
    if not found:
        raise _error(
            str(directory),
            f"a directory without {FILE_NAME}, without */{FILE_NAME} and without *.json; give the configurations of "
            "switches",
        )
    return tuple(sorted(found))


def files_of_chips(directory: Path) -> tuple[Path, ...]:
    """Return the files of a switch of several chips, config_db0.json first; none of a switch of one."""
    found = {int(match[1]): path for path in directory.iterdir() if (match := _OF_CHIP.fullmatch(path.name))}
    return tuple(found[number] for number in sorted(found))


def archived(data: bytes, file: str) -> bytes:
    """Return the saved configuration in an archive of `show techsupport`. Raises LabError."""
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive:
                if PurePosixPath(member.name).parts[-3:] != _IN_ARCHIVE or member.size > LARGEST_BYTES:
                    continue
                found = archive.extractfile(member)
                if found is not None:
                    return found.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise _error(file, f"is not a readable archive ({error}); give a tar of `show techsupport`") from error
    raise _error(file, f"is an archive without {'/'.join(_IN_ARCHIVE)}; give a tar of `show techsupport`")


def as_json(data: bytes, file: str) -> bytes:
    """Return the JSON of a text: what a terminal has before and after it is taken off, its lines kept as empty ones.

    Raises LabError for a minigraph.
    """
    start = data.lstrip()[:1]
    if start == b"<":
        raise _error(
            file,
            "is XML, perhaps a minigraph; turn it into a config_db.json on the switch, or where sonic-config-engine "
            "is installed: sonic-cfggen -m minigraph.xml -p port_config.ini --print-data",
        )
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
