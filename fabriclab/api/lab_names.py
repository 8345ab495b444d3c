"""Which lab is meant: by its directory, or by its name alone; and what helps where it is neither."""

from __future__ import annotations

import os
from pathlib import Path

from fabriclab.api.other_programs import is_netlab, other_program
from fabriclab.errors import ArgumentError
from fabriclab.files import NotReadableError, check_regular
from fabriclab.formats.run_directory import MANIFEST, SWEEP
from fabriclab.keys.wording import nearest
from fabriclab.lab import experiment
from fabriclab.lab.lab_list import is_lab, labs_in
from fabriclab.lab.network import topology
from fabriclab.other_labs.kathara import FILE_NAME as LAB_CONF
from fabriclab.other_labs.kathara import is_lab_conf
from fabriclab.shipped import shipped

LABS = "labs"
"""Where labs lie: here, and in the project's directory or the installed package."""
STARTERS = ("star", "dumbbell", "fat-tree")
"""Topologies of `fabriclab generate` with which a new lab can be begun; where a lab has the name, that is meant."""
_RUN_MARKS = (MANIFEST, SWEEP)
_MOST_NAMED = 8
_CONTAINERLAB = (".yml", ".yaml", ".gotmpl")
_HELP = "`fabriclab labs` lists those there are"


def known_labs() -> list[Path]:
    """Return the labs below `labs` here, then the project's own, each name once; paths are as short as they can be."""
    found: dict[str, Path] = {}
    for shelf in (Path(LABS), shipped(LABS)):
        for lab in labs_in(shelf):
            found.setdefault(lab.name, lab)
    return [short(lab) for _, lab in sorted(found.items())]


def short(path: Path) -> Path:
    """Return a path as seen from here, if it lies below."""
    try:
        return path.resolve().relative_to(Path.cwd())
    except (ValueError, OSError):
        return path


def find_lab(written: Path) -> Path:
    """Return the directory of the lab that was named: a path, or the name of a lab in `labs`.

    Raises ArgumentError with what was meant.
    """
    if _is_there(written) and (written / experiment.FILE_NAME).is_file():
        return written
    if _is_there(written) and is_lab(written):
        return written
    by_name = [lab for lab in known_labs() if len(written.parts) == 1 and lab.name == written.name]
    if by_name:
        return by_name[0]
    raise ArgumentError("{0}: {1}", written, _why_not(written))


def find_lab_or_file(written: Path) -> Path:
    """Return what `find_lab` does, or a file as it is, for commands that take a topology alone."""
    if (conf := _kathara(written)) is not None:
        return conf
    if (made := _netlab(written)) is not None:
        return made
    if (below := _alone_below(written)) is not None:
        return below
    is_file = _is_there(written) and not written.is_dir()
    if is_file and (said := other_program(written)) is not None:
        raise ArgumentError("{0}: {1}", written, said)
    return written if is_file and written.name != experiment.FILE_NAME else find_lab(written)


def find_lab_or_own_file(written: Path) -> Path:
    """Return what `find_lab` does, or a topology that is not part of a lab's directory: a lab by itself."""
    if (made := _netlab(written)) is not None:
        return made
    is_file = _kathara(written) is not None or (written.suffix in _CONTAINERLAB and not is_part_of_lab(written))
    return find_lab_or_file(written) if is_file or _alone_below(written) is not None else find_lab(written)


def directory_of(file: Path, written: Path) -> Path:
    """Return the directory of the lab that a topology file is by itself: the one that was `written`, if the file was
    found in it. All files of the lab lie there. Of a lab's own directory return that."""
    if file.is_dir():
        return file
    return written if written.is_dir() and file.is_relative_to(written) else file.parent


def _alone_below(written: Path) -> Path | None:
    """Return the only Containerlab file in a directory that is no lab of ours, or in a directory directly below, as
    people keep `topology/` beside `configs/`.

    Containerlab finds such a file in the working directory, too. A home directory, or one above it, is no lab's: a
    stranger's file in it would be given all that lies there. Raises ArgumentError where there are several.
    """
    if not (_is_there(written) and written.is_dir()) or _is_ours(written):
        return None
    own = written.resolve()
    for pattern in ("*.clab.y*ml",) if Path.home().resolve().is_relative_to(own) else ("*.clab.y*ml", "*/*.clab.y*ml"):
        files = [file for file in written.glob(pattern) if file.is_file() and file.resolve().is_relative_to(own)]
        found = sorted(file for file in files if not is_part_of_lab(file))
        if len(found) > 1:
            raise ArgumentError("{0}: holds several Containerlab files; name one of them: {1}", written, _named(found))
        if found:
            return found[0]
    return None


def _is_ours(directory: Path) -> bool:
    return is_lab(directory) or (directory / experiment.FILE_NAME).is_file()


def _netlab(written: Path) -> Path | None:
    """Return the Containerlab file that netlab makes of a topology of its own."""
    if not (_is_there(written) and written.is_file() and is_netlab(written)):
        return None
    from fabriclab.api.netlab_lab import netlab_lab

    return netlab_lab(written)


def _kathara(written: Path) -> Path | None:
    """Return the lab.conf that is meant, as a file or by its directory, of a lab of Kathará's."""
    if not _is_there(written):
        return None
    if written.is_dir():
        return None if _is_ours(written) or not is_lab_conf(written / LAB_CONF) else written / LAB_CONF
    return written if is_lab_conf(written) else None


def is_part_of_lab(file: Path) -> bool:
    """Return whether a file is the topology of a lab that has its experiment, too."""
    return file.name == topology.FILE_NAME and _is_there(file.parent / experiment.FILE_NAME)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        return False


def _kind(written: Path) -> str:
    try:
        check_regular(written)
    except NotReadableError as error:
        return str(error.strerror).partition(",")[0]
    return "is a file"


def _why_not(written: Path) -> str:
    if not _is_there(written):
        return f"no such {'file' if written.suffix == '.yml' else 'directory'}; {_meant(written)}"
    if not written.is_dir():
        if written.name in (experiment.FILE_NAME, topology.FILE_NAME):
            return f"is a file of a lab; name its directory, {written.parent}"
        if (said := other_program(written)) is not None:
            return said
        return f"{_kind(written)}; a lab is a directory with {topology.FILE_NAME} and {experiment.FILE_NAME}"
    below = labs_in(written)
    if below:
        return f"holds labs; name one of them: {_named(below)}"
    if any((written / mark).is_file() for mark in _RUN_MARKS):
        return f"holds the results of a run, not a lab; `fabriclab report {written}` shows them"
    if (said := other_program(written)) is not None:
        return said
    return f"has no {topology.FILE_NAME}; a lab is a directory with that and {experiment.FILE_NAME}; {_HELP}"


def _meant(written: Path) -> str:
    """Return what a path that is not there may have meant: a lab beside it, or one of those known."""
    beside = labs_in(written.parent) if len(written.parts) > 1 else []
    for candidates in (beside, known_labs()):
        names = [lab.name for lab in candidates]
        near = nearest(written.name, names) or next(
            (name for name in names if written.name and written.name in name), None
        )
        if near is not None:
            return f"did you mean {os.fspath(next(lab for lab in candidates if lab.name == near))}?"
    return f"a lab is a directory with {topology.FILE_NAME} and {experiment.FILE_NAME}; {_HELP}"


def _named(labs: list[Path]) -> str:
    names = [os.fspath(lab) for lab in labs[:_MOST_NAMED]]
    return ", ".join(names) + (f" and {len(labs) - len(names)} more ({_HELP})" if len(labs) > len(names) else "")
