"""Versions of FRR that nodes may run beside the virtual machine's own: to build one of its source, list, remove."""

from __future__ import annotations

from pathlib import Path

from fabriclab.consent.gate import require
from fabriclab.consent.request import ConsentRequest, Item, Subject
from fabriclab.engine.frr import BuiltFrr, FrrSource, build_frr, built_versions, own_rootfs, read_source
from fabriclab.engine.frr import remove_frr as _remove
from fabriclab.errors import ArgumentError
from fabriclab.keys.wording import did_you_mean
from fabriclab.lab.setup.frr_versions import VERSION as OWN_VERSION

_ROLE = "FRR's build scripts, which run on this host, confined: they read the source alone and have no network"


def add_frr(path: Path, *, trust: bool = False) -> BuiltFrr:
    """Build a version of FRR of its source, an archive or a directory, and return it; what is there is kept.

    The source's scripts run in namespaces where they find nothing else of this host. Raises ConsentError unless
    `trust`, FrrSourceError for what is no source of FRR's, EngineError if it cannot be built.
    """
    source = read_source(path)
    require(_request(path, source), trust)
    layer = build_frr(source)
    return next(one for one in built_versions(own_rootfs()).values() if one.layer == layer.resolve())


def _request(path: Path, source: FrrSource) -> ConsentRequest:
    item = Item(f"FRR {source.version}", _ROLE, sha256=source.sha256)
    return ConsentRequest(str(path), Subject("code", source.sha256), (item,))


def frr_versions() -> tuple[BuiltFrr, ...]:
    """Return the versions of FRR that were built for the virtual machine, beside its own."""
    return tuple(built_versions(own_rootfs()).values())


def remove_frr(version: str) -> BuiltFrr:
    """Remove a version of FRR that was built. Runs of it can't be repeated then, unless it is built again.

    Raises ArgumentError for one that is not there, EngineError if it can't be removed.
    """
    found = built_versions(own_rootfs())
    if version not in found:
        raise ArgumentError("version {0!r}: was not built here; {1}", version, did_you_mean(version, list(found)))
    _remove(found[version])
    return found[version]


__all__ = ["OWN_VERSION", "BuiltFrr", "add_frr", "frr_versions", "remove_frr"]
