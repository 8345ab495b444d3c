"""Starts the server of a live lab, and follows it until the lab is up."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fabriclab.consent.request import ConsentError, ConsentRequest
from fabriclab.engine.detached import start_detached
from fabriclab.errors import FabriclabError

_MODULE = "fabriclab.live.serve"
TAKEN = b"+"
"""What a server is told when its lab is up and known: a lab of which nobody knows goes down again."""


class UpFailed(FabriclabError):  # noqa: N818 - it says what happened
    """A lab did not come up; the text says why."""

    def __init__(self, text: str, status: int) -> None:
        """Take the text, and the exit status that a command ends with."""
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class UpRequest:
    """What a server is to bring up, as `wanted.wanted_lab` reads it."""

    lab: str
    """A lab's directory or name; where there are texts, the directory of the files that they name."""
    texts: tuple[str, str] | None = None
    """The lab's two files, where it was made in Python."""
    settings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """What is set, each with its place for errors."""
    seed: int | None = None
    speed: str | None = None
    """None: as the story says, else 1."""
    idle: bool = False
    loop: bool = False
    """Whether its traffic starts again when it has ended."""
    breaks: tuple[str, ...] = ()
    """Conditions at which its time stops, from its beginning on."""
    story: str | None = None
    """The name or the file of a story: it comes up as that says, and stands still at its beginning."""
    probes: bool = False
    name: str | None = None
    out: str | None = None
    engine: str = "vm"
    trust: bool = False
    """Whether what the lab brings that runs outside of its nodes may run."""
    command: tuple[str, ...] = tuple(sys.argv)


@dataclass(frozen=True)
class Up:
    """A lab that came up."""

    name: str
    directory: Path
    nodes: tuple[str, ...]
    addresses: Mapping[str, str]
    """The address that the flows of each host use."""
    traffic: tuple[str, ...]
    idle: bool
    loop: bool
    speed: str
    pid: int
    """The server's process."""


def bring_up(request: UpRequest, on_stage: Callable[[str], None], on_warning: Callable[[str], None]) -> Up:
    """Start the server, wait until the lab is up, and return what there is.

    Raises UpFailed, ConsentError where the lab brings what nobody said may run, OSError.

    Whatever ends this before (KeyboardInterrupt) ends the server, too.
    """
    ours, theirs = socket.socketpair()
    with ours, ours.makefile("rwb") as channel:
        with theirs:
            pid = start_detached(_MODULE, (), theirs.fileno())
        try:
            channel.write(json.dumps(asdict(request)).encode() + b"\n")
            channel.flush()
            found = _follow(channel, on_stage, on_warning)
            channel.write(TAKEN)
            channel.flush()
        except BaseException:
            # It learns from the end of the channel that nobody wants it any more.
            ours.shutdown(socket.SHUT_RDWR)
            wait_for(pid)
            raise
    return Up(
        name=found["name"],
        directory=Path(found["directory"]),
        nodes=tuple(found["nodes"]),
        addresses=found["addresses"],
        traffic=tuple(found["traffic"]),
        idle=found["idle"],
        loop=found["loop"],
        speed=found["speed"],
        pid=pid,
    )


def _follow(channel: Any, on_stage: Callable[[str], None], on_warning: Callable[[str], None]) -> dict[str, Any]:
    # A server that is killed before it has read what was asked resets the channel; killed later it ends it.
    with suppress(ConnectionResetError):
        for line in channel:
            said = json.loads(line)
            if "stage" in said:
                on_stage(said["stage"])
            elif "warning" in said:
                on_warning(said["warning"])
            elif "asked" in said:
                raise ConsentError(ConsentRequest.from_json(said["asked"]))
            elif "failed" in said:
                raise UpFailed(said["failed"], said["status"])
            elif "up" in said:
                return dict(said["up"])
    raise UpFailed("the lab's server was killed before the lab was up", 1)


def wait_for(pid: int) -> None:
    """Wait until a server that this process started has ended."""
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
