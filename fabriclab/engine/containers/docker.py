"""Docker's command line, as far as the engine needs it.

Everything is an argv; nothing goes through a shell of the host.
"""

from __future__ import annotations

import io
import json
import tarfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from fabriclab.engine.artefacts import EngineError
from fabriclab.engine.containers.command import CommandError, run_command

LAB_LABEL = "containerlab"
NODE_LABEL = "clab-node-name"
"""What Containerlab writes on its containers: the lab's name, the node's name."""

_QUICK_S = 30.0
_COPY_S = 120.0
_RETURN_S = 60.0
_ASK_AGAIN_S = 1.0


@dataclass(frozen=True)
class Container:
    """A running container that stands for a node."""

    node: str
    identity: str
    """Docker's full id: the name of its control group, too."""
    name: str


def containers_of(lab: str) -> list[str]:
    """Return the ids of all containers of a Containerlab lab, running or not."""
    listing = run_command(
        ["docker", "ps", "--all", "--quiet", "--no-trunc", "--filter", f"label={LAB_LABEL}={lab}"], timeout_s=_QUICK_S
    )
    return listing.decode().split()


def describe_containers(lab: str) -> dict[str, Container]:
    """Return the containers of a lab by node. Raises EngineError for one that does not run."""
    identities = containers_of(lab)
    if not identities:
        return {}
    found = json.loads(run_command(["docker", "inspect", *identities], timeout_s=_QUICK_S))
    containers = {}
    for entry in found:
        name, node = entry["Name"].lstrip("/"), entry["Config"]["Labels"].get(NODE_LABEL, "")
        if not entry["State"]["Running"]:
            raise EngineError(
                f"the container {name} of node {node} ended as soon as it was started: "
                "its image must keep a process running"
            )
        containers[node] = Container(node, entry["Id"], name)
    return containers


def remove_containers(identities: Iterable[str]) -> None:
    """Remove containers, running or not."""
    run_command(["docker", "rm", "--force", "--volumes", *identities], timeout_s=_COPY_S)


def image_identity(image: str) -> str | None:
    """Return the id of a local image (`sha256:...`), None when there is none of that name."""
    listing = run_command(["docker", "image", "ls", "--quiet", "--no-trunc", image], timeout_s=_QUICK_S)
    return next(iter(listing.decode().split()), None)


def exec_argv(container: Container, argv: Sequence[str], *, interactive: bool = False) -> list[str]:
    """Return the command that runs `argv` in a container as root; `interactive`: with our standard input."""
    return ["docker", "exec", *(["--interactive"] if interactive else []), "--user", "0", container.identity, *argv]


def run_in(container: Container, argv: Sequence[str], *, timeout_s: float = _QUICK_S) -> bytes:
    """Run a command in a container to its end; returns its standard output. Raises CommandError."""
    return run_command(exec_argv(container, argv), timeout_s=timeout_s)


def start_in(container: Container, argv: Sequence[str]) -> None:
    """Start a command in a container, and let it run there. Raises CommandError."""
    run_command(["docker", "exec", "--detach", "--user", "0", container.identity, *argv], timeout_s=_QUICK_S)


def copy_in(container: Container, files: dict[str, Path | bytes]) -> None:
    """Write files into a container, by absolute path: a host's file with its permissions, or a text.

    Directories come by themselves.
    """
    run_command(["docker", "cp", "-", f"{container.identity}:/"], data=pack(files), timeout_s=_COPY_S)


def copy_out(container: Container, path: str, target: Path) -> None:
    """Copy a container's file to the host; it belongs to us, whoever wrote it.

    Raises CommandError when there is none.
    """
    stream = run_command(["docker", "cp", f"{container.identity}:{path}", "-"], timeout_s=_COPY_S)
    with tarfile.open(fileobj=io.BytesIO(stream)) as archive:
        member = archive.next()
        content = None if member is None else archive.extractfile(member)
        if content is None:
            raise EngineError(f"{container.name}: {path} is not a file")
        target.write_bytes(content.read())


def pack(files: dict[str, Path | bytes]) -> bytes:
    """Return a tar archive of the files.

    It holds no directories: those of the container keep their owners and permissions.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, source in files.items():
            member = tarfile.TarInfo(str(PurePosixPath(name).relative_to("/")))
            content = source if isinstance(source, bytes) else source.read_bytes()
            member.mode = 0o644 if isinstance(source, bytes) else source.stat().st_mode & 0o777
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def server() -> dict[str, Any]:
    """Return what the daemon says of itself. Raises CommandError when it can't be reached."""
    found = json.loads(run_command(["docker", "version", "--format", "{{json .}}"], timeout_s=_QUICK_S))
    return dict(found.get("Server") or {})


def is_reachable() -> bool:
    """Return whether the daemon answers."""
    try:
        server()
    except CommandError:
        return False
    return True


def await_daemon() -> bool:
    """Return whether the daemon answers, if need be after up to a minute: service managers restart one that died."""
    deadline = time.monotonic() + _RETURN_S
    while not is_reachable():
        if time.monotonic() > deadline:
            return False
        time.sleep(_ASK_AGAIN_S)
    return True
