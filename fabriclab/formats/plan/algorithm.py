"""A user's own algorithm: C, written like Linux's own, that becomes a module of the machine's kernel."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from fabriclab.constraints import ALGORITHM_NAME
from fabriclab.formats import names

AlgorithmKind = Literal["congestion_control", "qdisc", "roce_control", "sharing", "transport"]

HOMA = "HOMA"
"""What Homa's module registers its protocol as."""

MODULE_PREFIX = "own_"
_PREFIXES: Mapping[AlgorithmKind, str] = {
    "congestion_control": "",
    "qdisc": "sch_",
    "roce_control": "roce_",
    "sharing": "share_",
    "transport": "proto_",
}


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A file of a module that has several."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid"}

    name: Annotated[str, names.SOURCE_NAME]
    """Without its directory."""
    text: Annotated[str, names.CONTENT]


@dataclass(frozen=True, kw_only=True)
class OwnAlgorithm:
    """A file or directory beside the lab; its text is part of the plan, so that a run is a function of it."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid"}

    kind: AlgorithmKind
    name: Annotated[str, ALGORITHM_NAME]
    """What it registers itself as."""
    file: Annotated[str, names.LAB_PATH]
    """Relative to the lab's directory; a directory, if there are `files`."""
    sha256: Annotated[str, names.SHA256]
    """That of `text`."""
    source: Annotated[str, names.CONTENT] = ""
    """The file's text."""
    files: tuple[SourceFile, ...] = ()
    """The files of a directory, by their names: those that are compiled, and their headers."""

    @property
    def text(self) -> str:
        """All that it consists of."""
        return text_of_files(self.files) if self.files else self.source

    @property
    def compiled(self) -> tuple[SourceFile, ...]:
        """The files that are compiled, each by itself."""
        if not self.files:
            return (SourceFile(name=Path(self.file).name, text=self.source),)
        return tuple(one for one in self.files if one.name.endswith(".c"))

    @property
    def module(self) -> str:
        """The name of the kernel module: none of Linux's own begins so, and no two algorithms of a plan share it."""
        return MODULE_PREFIX + _PREFIXES[self.kind] + re.sub(r"[^A-Za-z0-9_]", "_", self.name)


def text_of_files(files: Iterable[SourceFile]) -> str:
    """Return the text of several files, each behind a line with its name."""
    return "".join(f"// {one.name}\n{one.text}\n" for one in files)


def sha256_of(source: str) -> str:
    """Return the SHA-256 of a file's text, as hexadecimal digits."""
    return hashlib.sha256(source.encode()).hexdigest()
