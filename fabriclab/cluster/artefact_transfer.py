"""The transfer of kernel, root file system and tools to workers: archives by content hash, in pieces."""

from __future__ import annotations

import hashlib
import lzma
import os
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from fabriclab.cluster.messages import Artefact, UnfitError
from fabriclab.engine.artefacts import Artefacts, listed_packages
from fabriclab.engine.packed import Packed, UnusableError, cache_root, packed_machine, routing_rootfs
from fabriclab.files import explain

PIECE_BYTES = 8 << 20
"""The bytes of one message."""
_LEFT_OUT = ("licenses", "root/dev")
"""Licences stand in the wheel; device files no ordinary user can make, and PID 1 mounts its own."""
_NOBODYS = {"uid": 0, "gid": 0, "uname": "", "gname": "", "mtime": 0}


def needed_by_workers(artefacts: Artefacts) -> tuple[Artefact, ...]:
    """Return what workers need of these artefacts."""
    rootfs = artefacts.rootfs
    return (
        Artefact("kernel", artefacts.kernel.parent.name, artefacts.kernel.name),
        Artefact("rootfs", rootfs.parent.name, rootfs.name, _listing(rootfs.parent)),
        Artefact("tools", artefacts.tools.name, ""),
        *(
            Artefact(layer.parent.name, layer.name, "", _listing(layer), packages)
            for packages, layer in artefacts.layers.items()
        ),
    )


def _listing(directory: Path) -> str:
    return hashlib.sha256(" ".join(listed_packages(directory)).encode()).hexdigest()[:16]


def placed(artefacts: Iterable[Artefact]) -> Artefacts:
    """Return where artefacts lie in this process's cache. Raises UnfitError where there is no place for a cache."""
    places = {one: _packed(one).place() for one in artefacts}
    paths = {one.kind: place for one, place in places.items() if not one.packages}
    layers = {one.packages: place for one, place in places.items() if one.packages}
    return Artefacts(kernel=paths["kernel"], rootfs=paths["rootfs"], tools=paths["tools"], layers=layers)


def lacking(artefacts: Iterable[Artefact]) -> tuple[Artefact, ...]:
    """Return what the cache lacks, after what wheels of this process have brought along is unpacked.

    Raises UnfitError where there is no room or no place for a cache.
    """
    return tuple(one for one in artefacts if not _is_here(one))


def _is_here(wanted: Artefact) -> bool:
    packed = _packed(wanted)
    try:
        if packed.place().exists():
            _check_listing(wanted)
            return True
        brought = (*packed_machine().values(), routing_rootfs())
        for one in brought:
            if one is not None and (one.kind, one.key) == (wanted.kind, wanted.key):
                one.unpacked()
                _check_listing(wanted)
                return True
    except UnusableError as error:
        raise UnfitError(str(error)) from error
    return False


def _check_listing(artefact: Artefact) -> None:
    directory = cache_root() / artefact.kind / artefact.key
    if artefact.listing and _listing(directory) != artefact.listing:
        raise UnfitError(
            f"{directory} there was built at another time, with other versions of Debian's packages; remove it "
            "there, and it will be sent again"
        )


def _packed(artefact: Artefact, archive: Path = Path()) -> Packed:
    return Packed(artefact.kind, artefact.key, archive, artefact.inner, "")


def unpack(artefact: Artefact, pieces: Iterable[bytes], scratch: Path) -> None:
    """Put an artefact that came in pieces into the cache. Raises UnfitError that says why it can't be."""
    try:
        if _packed(artefact).place().exists():
            return
        with tempfile.NamedTemporaryFile(dir=scratch, suffix=".tar.xz") as archive:
            for piece in pieces:
                archive.write(piece)
            archive.flush()
            _packed(artefact, Path(archive.name)).unpacked()
    except UnusableError as error:
        raise UnfitError(str(error)) from error
    except OSError as error:
        raise UnfitError(f"{scratch}: {explain(error)}") from error


def in_pieces(artefact: Artefact) -> Iterator[bytes]:
    """Yield an artefact of this host as pieces of its archive, which is made unless it is there.

    Raises UnusableError, OSError.
    """
    with _archive(artefact).open("rb") as file:
        while piece := file.read(PIECE_BYTES):
            yield piece


def _archive(artefact: Artefact) -> Path:
    """Return the archive of an artefact: the wheel's, or that of an earlier time, or one that is made now."""
    for one in (*packed_machine().values(), routing_rootfs()):
        if one is not None and (one.kind, one.key) == (artefact.kind, artefact.key):
            return one.archive
    store = cache_root() / "packed"
    name = f"{artefact.kind}-{artefact.key}"
    # `make wheel` keeps its own there, by xz's levels.
    for there in (store / f"{name}-6.tar.xz", store / f"{name}-0.tar.xz", store / f"{name}-travels.tar.xz"):
        if there.is_file():
            return there
    store.mkdir(parents=True, exist_ok=True)
    final = store / f"{name}-travels.tar.xz"
    with tempfile.NamedTemporaryFile(dir=store, prefix=f"{final.name}.partial.") as partial:
        with lzma.open(partial, "wb", preset=0) as packing, tarfile.open(fileobj=packing, mode="w|") as archive:
            archive.add(cache_root() / artefact.kind / artefact.key, arcname=".", filter=_anonymous)
        partial.flush()
        Path(partial.name).chmod(0o644)
        with suppress(FileExistsError):
            os.link(partial.name, final)
    return final


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Return a member without what differs from host to host; None for what does not travel."""
    path = member.name.removeprefix("./")
    if path == "licenses" or path.startswith(tuple(f"{one}/" for one in _LEFT_OUT)):
        return None
    for name, nobody in _NOBODYS.items():
        setattr(member, name, nobody)
    return member
