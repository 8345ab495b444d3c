"""`fabriclab cp`: a file into a node, or out of one."""

from __future__ import annotations

import stat
from pathlib import Path

from fabriclab.errors import ArgumentError, FabriclabError
from fabriclab.files import naming, open_file, replacing
from fabriclab.live.node import split_node
from fabriclab.live.terminal import Streams, run_in_node

_LARGEST_BYTES = 1 << 34
_INTO = 'p=$0; [ -d "$p" ] && p="${p%/}/$1"; cat > "$p" && chmod "$2" "$p"'
"""Written whole or not at all it is not: a node's file system is nobody's but the lab's."""


class CopyFailed(FabriclabError):  # noqa: N818 - it says what happened
    """A file was not copied; the node has said why."""


def copy(source: str, target: str) -> None:
    """Copy a file: one of the two is `[NAME:]NODE:PATH`.

    Raises ArgumentError where none is, or both are; CopyFailed, OSError.
    """
    there, here = split_path(source), split_path(target)
    if (there is None) == (here is None):
        raise ArgumentError(
            "{0}, {1}: exactly one of the two must be a path in a node, [NAME:]NODE:PATH", source, target
        )
    if here is not None:
        _copy_into(Path(source), here)
    elif there is not None:
        _copy_out(there, Path(target))


def split_path(written: str) -> tuple[str, str] | None:
    """Return node (`[NAME:]NODE`) and path of a path in a node, None for one of this computer.

    What has a `/` before its first colon is this computer's: `./a:b`.
    """
    node, colon, path = written.rpartition(":")
    return (node, path or "/") if colon and node and "/" not in node else None


def _copy_into(file: Path, target: tuple[str, str]) -> None:
    node, path = target
    with open_file(file, _LARGEST_BYTES) as source:
        mode = f"{stat.S_IMODE(file.stat().st_mode) & 0o777:o}"
        argv = ["/bin/sh", "-c", _INTO, path, file.name, mode]
        _run(node, argv, Streams(source.fileno()), f"{file}: was not copied to {node}:{path}")


def _copy_out(source: tuple[str, str], target: Path) -> None:
    node, path = source
    if target.is_dir():
        target = target / Path(path).name
    with replacing(target) as part, naming(target), part.open("wb") as file:
        _run(node, ["cat", "--", path], Streams(None, file.fileno()), f"{node}:{path}: was not copied to {target}")


def _run(node: str, argv: list[str], streams: Streams, failure: str) -> None:
    lab, name = split_node(node)
    status = run_in_node(lab, name, argv, streams=streams)
    if status != 0:
        raise CopyFailed(f"{failure} (exit {status})")
