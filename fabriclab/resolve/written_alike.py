"""Nodes of which the same was written: it is resolved once, and they share what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

Written = TypeVar("Written")
Resolved = TypeVar("Resolved")


def resolve_once(written: Mapping[str, Written], resolve: Callable[[Written], Resolved]) -> dict[str, Resolved]:
    """Return what was written of each node, resolved. Readers give nodes without words of their own one record."""
    # By identity: to compare records takes as long as to resolve them.
    resolved = {key: resolve(one) for key, one in {id(one): one for one in written.values()}.items()}
    return {name: resolved[id(one)] for name, one in written.items()}
