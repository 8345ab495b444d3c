"""Starting docker-sonic-vs in a container whose links are there: it is looked at, given its files, started, and seen
to start."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriclab.engine.containers.command import CommandError
from fabriclab.engine.containers.docker import Container, copy_in, run_in, start_in
from fabriclab.vendors.sonic.image.files import SonicError, link_of_port, port_lists, tables_for_image
from fabriclab.vendors.sonic.image.releases import RELEASES, SUPERVISORD_CONF, Release, release_of

GUIDE = "images/sonic/README.md"
_CONFIG = "/etc/sonic/config_db.json"
_HERE = Path(__file__).parent
_RUNS, _ENDED = "RUNNING", ("EXITED", "FATAL")
_LOG = "grep -hE ' (ERR|CRIT|ALERT|EMERG) |start\\.sh' /var/log/syslog 2>/dev/null | tail -n 6"


@dataclass(frozen=True)
class Image:
    """What a container's image is."""

    release: Release
    version: str
    """As sonic_version.yml says it; empty where that is not there."""
    hwsku: str
    """The directory with the lists of ports."""
    lacks: frozenset[str]

    def require(self, node: str, wanted: Iterable[str]) -> None:
        """Raise SonicError, with all that the image lacks of `wanted`."""
        missing = [name for name in wanted if name in self.lacks]
        if missing:
            version = f" of version {self.version}" if self.version else ""
            raise SonicError(
                f"{node}: its image{version} is not a docker-sonic-vs that a lab can start: it lacks "
                f"{', '.join(missing)} ({GUIDE}, 'Nodes of kind sonic-vs')"
            )


def examine(container: Container) -> Image:
    """Look at a container's image. Raises SonicError, which names what it lacks of what every release has."""
    asked = list(dict.fromkeys(name for release in RELEASES for name in (*release.files, "frrcfgd")))
    try:
        said = run_in(container, ["sh", "-c", (_HERE / "probe.sh").read_text(), "probe.sh", *asked]).decode()
    except CommandError as error:
        raise SonicError(f"{container.node}: its image cannot be looked at: {error.said or error}") from error
    found: dict[str, list[str]] = {}
    for line in said.splitlines():
        name, _, value = line.partition("=")
        found.setdefault(name, []).append(value)
    words = [word for name in ("release", "branch", "build_version") for word in found.get(name, ())]
    image = Image(
        release=release_of(" ".join(words), frozenset(found.get("program", ()))),
        version=found.get("build_version", [""])[0],
        hwsku=found.get("hwsku", [""])[0],
        lacks=frozenset(found.get("lacks", ())),
    )
    image.require(container.node, [f"{image.hwsku}/sai.profile", *image.release.files])
    return image


def start(
    container: Container, image: Image, tables: Mapping[str, Any], ports: Sequence[str], routing: Mapping[str, Path]
) -> dict[str, Any]:
    """Give a switch its files, and start it; returns the tables that its CONFIG_DB will hold.

    `routing`: FRR's files by path, for an image that makes none itself. Raises SonicError, CommandError.
    """
    cut, _ = tables_for_image(tables, ports)
    lists = port_lists(container.node, cut, ports)
    # start.sh keeps what the image has of these as .orig, and cuts it down to the interfaces that are there.
    content: dict[str, Path | bytes] = {
        f"{image.hwsku}/{name}{suffix}": text for name, text in lists.items() for suffix in ("", ".orig")
    }
    content[_CONFIG] = (json.dumps(cut, indent=4) + "\n").encode()
    if not image.release.bgpcfgd:
        content |= routing
    elif uses_frrcfgd(tables):
        # The image's own template has either of them, but was filled in before there was a configuration.
        image.require(container.node, ["frrcfgd"])
        run_in(container, ["sed", "-i", "s,^command=/usr/local/bin/bgpcfgd$,command=frrcfgd,", SUPERVISORD_CONF])
    copy_in(container, content)
    links = [link for port in ports if (link := link_of_port(port)) is not None]
    run_in(container, ["sh", "-c", (_HERE / "links.sh").read_text(), "links.sh", *links])
    start_in(container, ["supervisord"])
    return cut


def uses_frrcfgd(tables: Mapping[str, Any]) -> bool:
    """Return whether a file is written for frrcfgd (`frr_mgmt_framework_config`), not for bgpcfgd."""
    metadata = tables.get("DEVICE_METADATA")
    local = metadata.get("localhost") if isinstance(metadata, Mapping) else None
    return isinstance(local, Mapping) and str(local.get("frr_mgmt_framework_config", "")).lower() == "true"


def states(container: Container) -> dict[str, str]:
    """Return the state of each of supervisord's programs (`RUNNING`, `EXITED` ...); none before it answers.

    Raises CommandError.
    """
    # Its exit status says whether all of them run, which they never do.
    listing = run_in(container, ["sh", "-c", "supervisorctl status || true"]).decode(errors="replace")
    words = [line.split() for line in listing.splitlines()]
    return {line[0]: line[1] for line in words if len(line) > 1 and line[1].isupper()}


def not_started(container: Container, release: Release) -> list[str]:
    """Return which programs of a switch do not run yet, in words.

    Raises SonicError, with the last of its log, as soon as it is known that one never will; CommandError.
    """
    found = states(container)
    if not found:
        return ["supervisord does not answer"]
    waiting = [name for name in release.programs if found.get(name) != _RUNS]
    never = [f"supervisord has no {name}" for name in waiting if name not in found]
    never += [f"{name} is {found[name]}" for name in waiting if found.get(name) in _ENDED]
    if not never and found.get("start.sh") in _ENDED:
        left = [name for name in release.by_start_sh if found.get(name) == "STOPPED"]
        never = [f"start.sh ended before it started {', '.join(left)}"] if left else []
    if never:
        said = "".join(f"\n  {line}" for line in _last_words(container))
        raise SonicError(f"{container.node}: SONiC did not start: {'; '.join(never)}{said}")
    return [f"{name} is {found[name].lower()}" for name in waiting]


def _last_words(container: Container) -> list[str]:
    try:
        return run_in(container, ["sh", "-c", _LOG]).decode(errors="replace").splitlines()
    except CommandError:
        return []
