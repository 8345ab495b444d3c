"""A user's own algorithm: one C file, written like Linux's own, that becomes a module of the machine's kernel."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from fabriclab.constraints import ALGORITHM_NAME
from fabriclab.formats import names

AlgorithmKind = Literal["congestion_control", "qdisc", "roce_control", "sharing"]

MODULE_PREFIX = "own_"
_PREFIXES: Mapping[AlgorithmKind, str] = {
    "congestion_control": "",
    "qdisc": "sch_",
    "roce_control": "roce_",
    "sharing": "share_",
}


@dataclass(frozen=True, kw_only=True)
class OwnAlgorithm:
    """A file beside the lab; its text is part of the plan, so that a run is a function of it."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = {"extra": "forbid"}

    kind: AlgorithmKind
    name: Annotated[str, ALGORITHM_NAME]
    """What it registers itself as."""
    file: Annotated[str, names.LAB_PATH]
    """Relative to the lab's directory."""
    sha256: Annotated[str, names.SHA256]
    source: Annotated[str, names.CONTENT]
    """The file's text."""

    @property
    def module(self) -> str:
        """The name of the kernel module: none of Linux's own begins so, and no two algorithms of a plan share it."""
        return MODULE_PREFIX + _PREFIXES[self.kind] + re.sub(r"[^A-Za-z0-9_]", "_", self.name)


def sha256_of(source: str) -> str:
    """Return the SHA-256 of a file's text, as hexadecimal digits."""
    return hashlib.sha256(source.encode()).hexdigest()
