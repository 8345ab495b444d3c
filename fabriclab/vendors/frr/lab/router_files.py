"""Which files are a network's routers: one each, or several by daemon, as FRR's daemons read their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from fabriclab.lab.network import topology
from fabriclab.lab.reading.problems import Place, Problems
from fabriclab.lab.setup.frr import ORDER

FRR_CONF = "frr.conf"
LINKS = "links.txt"
SUFFIXES = (".conf", ".cfg", ".txt")
_LLDP = re.compile(r"(^|[._-])lldp[._-]?(neighbors)?\.(json|txt)$")
_OTHER_FILES = ("daemons", "vtysh.conf", "support_bundle_commands.conf", "hosts", LINKS)
_EXABGP = "exabgp.cfg"
"""The configuration of ExaBGP, by which FRR's own topology tests have neighbours without a router."""
DAEMONS = ("zebra", *(name for name in ORDER if name != "zebra"))
"""In the order in which their files are joined: interfaces and VRFs come first."""
_DAEMON = "|".join(DAEMONS)
_OF_DAEMON = re.compile(rf"(?P<before>.*?)(?:^|[-_.])(?P<daemon>{_DAEMON})(?:[-_.](?P<after>.+))?")


class RouterFiles(NamedTuple):
    """What is one router's configuration."""

    name: str
    """What it is called where it does not say so."""
    paths: tuple[Path, ...]
    """One, or several of which each is a daemon's."""


def router_files(paths: Sequence[Path], notes: dict[str, None], problems: Problems) -> Iterator[RouterFiles]:
    """Yield the routers of files, and of those in directories."""
    single = [path for path in paths if not path.is_dir()]
    if single:
        yield from _grouped(single, "router")
    for path in (path for path in paths if path.is_dir()):
        found = list(_in_directory(path, notes))
        if not found:
            problems.add(
                Place(str(path)),
                "",
                "has no router's configuration; for each router it needs NAME.conf or NAME/frr.conf with the output "
                "of `vtysh -c 'show running-config'`, or the daemons' files NAME/zebra.conf, NAME/bgpd.conf and so on",
            )
        yield from found


def _in_directory(directory: Path, notes: dict[str, None]) -> Iterator[RouterFiles]:
    if (directory / FRR_CONF).is_file():
        yield RouterFiles(directory.resolve().name, (directory / FRR_CONF,))
    paths = [path for path in sorted(directory.iterdir()) if not path.name.startswith(".") and path.name != FRR_CONF]
    flat = {
        one.paths[0]: one
        for one in _grouped([path for path in paths if _is_configuration(path)], directory.resolve().name)
    }
    for path in paths:
        if path in flat:
            yield flat[path]
        elif path.is_dir() and not (path / topology.FILE_NAME).exists():  # a lab may be made there
            yield from _in_folder(path, notes)


def _in_folder(folder: Path, notes: dict[str, None]) -> Iterator[RouterFiles]:
    """Yield the router of a folder; several of one whose daemons' files name theirs."""
    if (folder / FRR_CONF).is_file():
        yield RouterFiles(folder.name, (folder / FRR_CONF,))
        return
    found = [path for path in sorted(folder.iterdir()) if _is_configuration(path)]
    of_daemons = [one for one in _grouped(found, folder.name) if _daemon(one.paths[0]) is not None]
    yield from of_daemons
    if found and not of_daemons:
        yield RouterFiles(folder.name, (found[0],))
    elif not found and (folder / _EXABGP).is_file():
        notes[f"{folder / _EXABGP}: {folder.name} runs ExaBGP and is left out"] = None


def _grouped(paths: Sequence[Path], directory: str) -> Iterator[RouterFiles]:
    """Yield files as routers, those of one router's daemons together, where its first file stands."""
    by_router: dict[tuple[Path, str], list[Path]] = {}
    for path in paths:
        daemon, router = _daemon(path), _router_of(path)
        key = router if daemon is not None else f"{path.name} alone"
        by_router.setdefault((path.parent, key), []).append(path)
    for (parent, _), files in by_router.items():
        files.sort(key=lambda path: DAEMONS.index(_daemon(path) or DAEMONS[0]))
        own = _router_of(files[0]) if _daemon(files[0]) is not None else files[0].stem
        by_folder = parent.name or directory
        yield RouterFiles(by_folder if files[0].name == FRR_CONF else own or by_folder, tuple(files))


def _daemon(path: Path) -> str | None:
    """Return the daemon whose own file a path is; None for any other configuration."""
    match = _OF_DAEMON.fullmatch(path.stem)
    return None if match is None else match["daemon"]


def _router_of(path: Path) -> str:
    """Return the router that a daemon's file names beside its daemon (`r1-bgpd.conf`, `bgpd_r1.conf`)."""
    match = _OF_DAEMON.fullmatch(path.stem)
    return "" if match is None else match["before"] or match["after"] or ""


def _is_configuration(path: Path) -> bool:
    is_other = path.name in (*_OTHER_FILES, _EXABGP) or _LLDP.search(path.name) is not None
    return path.suffix in SUFFIXES and not is_other and path.is_file()


def files_of_links(paths: Sequence[Path]) -> list[Path]:
    """Return the files of directories that say links: links.txt, and what LLDP saw (NAME.lldp.json, NAME/lldp.txt)."""
    found = []
    for path in paths:
        if path.is_dir():
            found += [path / LINKS] if (path / LINKS).is_file() else []
            inner = [
                *path.iterdir(),
                *(one for folder in path.iterdir() if folder.is_dir() for one in folder.iterdir()),
            ]
            found += sorted(one for one in inner if _LLDP.search(one.name) is not None and one.is_file())
    return found
