"""A user's own algorithms: the C files, or directories of them, that an experiment names, and what they register
themselves as.

They are found before anything else is read, wherever a congestion control or a qdisc may be written, so that every
reader knows the name that stands for a file. Whether they compile is seen when a machine is started, or checked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from fabriclab.constraints import ALGORITHM_NAME
from fabriclab.formats import names
from fabriclab.formats.plan.algorithm import AlgorithmKind, OwnAlgorithm, SourceFile, sha256_of, text_of_files
from fabriclab.keys.wording import did_you_mean, listed, shown
from fabriclab.lab.reading.document import MappingValue, ScalarValue, SequenceValue, Value
from fabriclab.lab.reading.files import (
    MissingError,
    UnreadableError,
    is_lab_directory,
    list_lab_directory,
    own_name,
    read_lab_file,
)
from fabriclab.lab.reading.problems import Problems

LARGEST_SOURCE_BYTES = 2**20
"""The largest file of an own algorithm that is read; Linux's longest, sch_cake.c, has a twelfth of that."""

MOST_FILES = 200
"""The most files of a directory that are read; Homa's module has 40."""

_STRUCTS: Mapping[AlgorithmKind, tuple[str, str, str]] = {
    "congestion_control": ("tcp_congestion_ops", "name", "tcp_register_congestion_control"),
    "qdisc": ("Qdisc_ops", "id", "register_qdisc"),
    "roce_control": ("roce_control", "name", "roce_control_register"),
    "sharing": ("switch_sharing_ops", "name", "register_switch_sharing"),
    "transport": ("proto", "name", "proto_register"),
}
"""By kind: the struct that describes it, the field that has its name, and what registers it."""
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)

OwnAlgorithms = Mapping[tuple[AlgorithmKind, str], OwnAlgorithm]
"""By kind and by the file as it was written."""


def is_file(text: str) -> bool:
    """Return whether a word names a file, and no algorithm that the kernel has."""
    return "/" in text or text.endswith(".c")


def read_own_algorithms(
    document: MappingValue, directory: Path, taken: Mapping[AlgorithmKind, Collection[str]], problems: Problems
) -> OwnAlgorithms:
    """Return the algorithms that an experiment's sections name as files; what is wrong with one is recorded.

    `taken` are the names that the kernel has already. A wrong one is returned as well, so that no reader complains of
    it again.
    """
    found: dict[tuple[AlgorithmKind, str], OwnAlgorithm] = {}
    for section in ("hosts", "switches", "traffic"):
        value = document.entries.get(section)
        for key, kind, written in _written_files(value, section) if value is not None else ():
            text = written.text.strip()
            if (kind, text) in found:
                continue
            try:
                found[kind, text] = _read(directory, text, kind, taken[kind])
            except ValueError as error:
                problems.add(written.place, key, str(error), text)
                found[kind, text] = _unusable(kind, text)
                continue
            for (other_kind, other), algorithm in found.items():
                if (other_kind, algorithm.name) == (kind, found[kind, text].name) and other != text:
                    problems.add(
                        *(written.place, key),
                        f"{shown(text)} registers {shown(algorithm.name)}, and so does {shown(other)}; give one of "
                        "them another name",
                        text,
                    )
    return found


def _written_files(value: Value, key: str) -> Iterator[tuple[str, AlgorithmKind, ScalarValue]]:
    if isinstance(value, SequenceValue):
        for index, item in enumerate(value.items):
            yield from _written_files(item, f"{key}[{index}]")
    if not isinstance(value, MappingValue):
        return
    for name, entry in value.entries.items():
        kind = _kind_of(key, name)
        if isinstance(entry, ScalarValue) and kind is not None and not entry.is_null:
            if is_file(entry.text.strip()) or kind in ("qdisc", "transport"):
                yield f"{key}.{name}", kind, entry
        else:
            yield from _written_files(entry, f"{key}.{name}")


def _kind_of(key: str, name: str) -> AlgorithmKind | None:
    if name == "source":
        return "qdisc" if key.endswith(".aqm") else None
    if name == "congestion_control":
        return "roce_control" if key.endswith(".roce") else "congestion_control"
    if name == "module":
        return "transport"
    return "sharing" if name == "sharing" else None


def _unusable(kind: AlgorithmKind, text: str) -> OwnAlgorithm:
    return OwnAlgorithm(kind=kind, name="", file=text, sha256="")


def _read(directory: Path, text: str, kind: AlgorithmKind, taken: Collection[str]) -> OwnAlgorithm:
    """Return the algorithm of a file or a directory. Raises ValueError that says what is wrong with it."""
    try:
        is_directory = is_lab_directory(directory, text)
    except UnreadableError as error:
        raise ValueError(f"{shown(text)}: {error}") from None
    if not is_directory and not text.endswith(".c"):
        raise ValueError(
            f"{shown(text)} is not a C file; write the name of one, such as ./mine.c, or of a directory that has some"
        )
    files = _read_directory(directory, text) if is_directory else ()
    source = "" if is_directory else _read_file(directory, text)
    whole = text_of_files(files) if is_directory else source
    name = _checked_name(text, whole, kind, taken)
    file = own_name(directory, text)
    return OwnAlgorithm(kind=kind, name=name, file=file, sha256=sha256_of(whole), source=source, files=files)


def _read_file(directory: Path, text: str) -> str:
    """Return the text of a C file or a header. Raises ValueError that says why it can't be read."""
    try:
        return read_lab_file(directory, text, LARGEST_SOURCE_BYTES).decode()
    except UnreadableError as error:
        files = [f"./{entry.name}" for entry in sorted(directory.glob("*.c"))]
        hint = f"; {did_you_mean(text, files)}" if isinstance(error, MissingError) and files else ""
        raise ValueError(f"{shown(text)}: {error}{hint}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{shown(text)} is not text in UTF-8") from None


def _read_directory(directory: Path, text: str) -> tuple[SourceFile, ...]:
    """Return the C files and headers that lie in a directory of the lab; what else lies there does not matter.

    Raises ValueError that says what is wrong with it.
    """
    place = text.rstrip("/")
    try:
        found = [name for name in list_lab_directory(directory, text) if name.endswith((".c", ".h"))]
    except UnreadableError as error:
        raise ValueError(f"{shown(text)}: {error}") from None
    if not any(name.endswith(".c") for name in found):
        raise ValueError(f"{shown(text)} has no C file; a module's files lie in the directory itself, and end with .c")
    if len(found) > MOST_FILES:
        raise ValueError(
            f"{shown(text)} has {len(found)} C files and headers; at most {MOST_FILES} can become a module"
        )
    if strange := next((name for name in found if not names.SOURCE_NAME.is_in(name)), None):
        raise ValueError(f"{shown(text)} has {shown(strange)}; a file's name has letters, digits, -, _ and .")
    return tuple(SourceFile(name=name, text=_read_file(directory, f"{place}/{name}")) for name in found)


def _checked_name(text: str, source: str, kind: AlgorithmKind, taken: Collection[str]) -> str:
    """Return what a text registers itself as. Raises ValueError where it is no name, or is taken."""
    name = registered_name(source, kind)
    if name is None:
        struct, field, registers = _STRUCTS[kind]
        wanted = f'write a `struct {struct}` with `.{field} = "..."`, and pass it to {registers}()'
        raise ValueError(f"{shown(text)} registers no {_in_words(kind)}; {wanted}")
    if not ALGORITHM_NAME.is_in(name):
        raise ValueError(f"{shown(text)} registers {shown(name)}; a name has 1 to 15 letters, digits, - or _")
    if name in taken:
        raise ValueError(
            f"{shown(text)} registers {shown(name)}, which the kernel already has; choose another name than "
            f"{listed(sorted(taken))}"
        )
    return name


def _in_words(kind: AlgorithmKind) -> str:
    return "congestion control of RoCE" if kind == "roce_control" else kind.replace("_", " ")


def asks_for_telemetry(source: str) -> bool:
    """Return whether a congestion control of RoCE asks switches for telemetry, by its text."""
    return re.search(r"\.wants_telemetry\s*=\s*(?:true|1)\b", _COMMENT.sub(" ", source)) is not None


def registered_name(source: str, kind: AlgorithmKind) -> str | None:
    """Return what C code registers an algorithm as; None where that can't be read from its text.

    Of several structs it is the first one that is registered.
    """
    struct, field, registers = _STRUCTS[kind]
    text = _COMMENT.sub(" ", source)
    structs: dict[str, str] = {}
    for match in re.finditer(rf"struct\s+{struct}\s+(\w+)[^;={{}}]*=\s*{{(.*?)\n\s*}}\s*;", text, re.DOTALL):
        if name := re.search(rf'\.{field}\s*=\s*"([^"]*)"', match[2]):
            structs.setdefault(match[1], name[1])
    registered = re.findall(rf"\b{registers}\s*\(\s*&\s*(\w+)\s*[,)]", text)
    return next((structs[variable] for variable in registered if variable in structs), None)
