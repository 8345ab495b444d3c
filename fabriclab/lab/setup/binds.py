"""Containerlab's `binds`: files beside the topology that a node has somewhere in its own file system.

Source: containerlab.dev/manual/nodes, "binds": `HOST_PATH:NODE_PATH[:OPTIONS]`; binds of defaults, kind, group and node
are merged, the nearest one of a path in the node holds.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from fabriclab.formats.names import NODE_PATH
from fabriclab.formats.plan.setup import NodeFile
from fabriclab.keys.wording import shown
from fabriclab.lab.reading.document import ScalarValue, SequenceValue
from fabriclab.lab.reading.files import OutsideError, UnreadableError, read_lab_file
from fabriclab.lab.reading.problems import Problems
from fabriclab.lab.reading.section import Section, Written, as_words
from fabriclab.lab.setup.frr import DIRECTORY

LARGEST_FILE_BYTES = 4 << 20
MOST_FILES = 256
_HOSTS_OWN = ("/", "~", "__clabDir__", "__clabNodeDir__")
"""What begins a path that is the host's, not the lab's."""
_EXECUTABLE = 0o100
_NAME_BOTH = "; if the topology is a file by itself, you may name a directory that holds both instead"


@dataclass(frozen=True)
class Bind:
    """A bind as written."""

    source: str
    target: str
    written: Written[str]


def read_binds(layers: list[Section], problems: Problems) -> list[Bind]:
    """Return the binds of a node by their paths in it, what lies in another one after that, else the farthest layer's
    first; what is wrong is recorded."""
    found: dict[str, Bind] = {}
    for layer in reversed(layers):
        for word in _words(layer, "binds", problems):
            source, _, rest = word.value.partition(":")
            target = rest.partition(":")[0]
            if not target:
                continue  # an anonymous volume: an empty directory
            found.pop(target, None)
            found[target] = Bind(source, target, word)
    return sorted(found.values(), key=lambda bind: len(PurePosixPath(bind.target).parts))


def refuse_nested(binds: Sequence[tuple[Bind, Sequence[NodeFile]]], problems: Problems) -> None:
    """Record files that are bound to a place below another file."""
    paths = {file.path: bind for bind, files in binds for file in files}
    for path, bind in paths.items():
        above = next((str(parent) for parent in PurePosixPath(path).parents if str(parent) in paths), None)
        if above is not None:
            other = paths[above].written.place.line
            bind.written.complain(
                problems, f"{path} lies below {above}, which line {other} makes a file; bind one of them elsewhere"
            )


def _words(layer: Section, key: str, problems: Problems) -> list[Written[str]]:
    """Return the texts of a list, or of one text; none of a key without a value."""
    value = layer.get(key)
    if value is None or (isinstance(value, ScalarValue) and not value.text.strip()):
        return []
    if (isinstance(value, ScalarValue) and value.is_null) or (isinstance(value, SequenceValue) and not value.items):
        return []
    return as_words(value, layer.path(key), problems) or []


def is_of_lab(bind: Bind) -> bool:
    """Return whether a bind names a file of the lab, not one of the host that it runs on."""
    return is_of_lab_path(bind.source)


def is_of_lab_path(path: str) -> bool:
    """Return whether what a node names, as written, is a file of the lab."""
    return not path.startswith(_HOSTS_OWN)


def bound_files(bind: Bind, directory: Path, problems: Problems) -> list[NodeFile]:
    """Return the files that a bind brings into the node: one, or all below a directory; what is wrong is recorded."""
    source = directory / bind.source
    if not source.is_dir():
        return [file] if (file := _file(bind, directory, bind.source, bind.target, problems)) is not None else []
    names = sorted(str(path.relative_to(source)) for path in source.rglob("*") if path.is_file())
    if len(names) > MOST_FILES:
        bind.written.complain(
            problems, f"{shown(bind.source)} holds {len(names)} files; a bind has {MOST_FILES} at most"
        )
        return []
    files = (_file(bind, directory, f"{bind.source}/{name}", f"{bind.target}/{name}", problems) for name in names)
    return [file for file in files if file is not None]


def _file(bind: Bind, directory: Path, name: str, target: str, problems: Problems) -> NodeFile | None:
    path = PurePosixPath(target)
    if not path.is_absolute() or ".." in path.parts or not NODE_PATH.is_in(str(path)):
        bind.written.complain(
            problems, f"{shown(target)} is not an absolute path in the node, such as /etc/frr/frr.conf"
        )
        return None
    try:
        data = read_lab_file(directory, name, LARGEST_FILE_BYTES)
        executable = bool((directory / name).stat().st_mode & _EXECUTABLE)
    except (UnreadableError, OSError) as error:
        bind.written.complain(problems, _why_not(name, error, "; a bind names a file beside the topology"))
        return None
    text, base64 = _as_text(data)
    if base64 and str(path).startswith(f"{DIRECTORY}/"):
        bind.written.complain(problems, f"{shown(name)} is not text (UTF-8), but FRR reads it; save it as UTF-8")
        return None
    return NodeFile(path=str(path), text=text, source=name, executable=executable, base64=base64)


def _why_not(name: str, error: Exception, advice: str = "") -> str:
    """Return why a file is not read; `advice` where it is the lab's own."""
    return (
        f"{shown(name)} {error}{_NAME_BOTH}" if isinstance(error, OutsideError) else f"{shown(name)}: {error}{advice}"
    )


def _as_text(data: bytes) -> tuple[str, str]:
    """Return what a file holds as text and as base64, of which one is empty."""
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        return "", b64encode(data).decode()


def environment_of_files(layers: list[Section], directory: Path, problems: Problems) -> Iterator[tuple[str, str]]:
    """Yield the variables of `env-files`, a line `NAME=value` each, the farthest layer's first."""
    for layer in reversed(layers):
        for word in _words(layer, "env-files", problems):
            try:
                text = read_lab_file(directory, word.value, LARGEST_FILE_BYTES).decode()
            except (UnreadableError, UnicodeDecodeError) as error:
                word.complain(problems, _why_not(word.value, error))
                continue
            for line in text.splitlines():
                name, equals, variable = line.strip().removeprefix("export ").partition("=")
                if equals and not name.startswith("#"):
                    yield name.strip(), variable.strip()
