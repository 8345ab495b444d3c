"""Serves SSH to a lab's nodes as long as the lab is up: in this process, or in one of its own in the background."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fabriclab.engine.detached import CHANNEL, start_and_hear
from fabriclab.errors import FabriclabError
from fabriclab.files import explain
from fabriclab.live.labs_up import labs
from fabriclab.ssh.files import new_keys, remove_files, write_files
from fabriclab.ssh.server import Nodes, SshError

_MODULE = "fabriclab.ssh.serve"
_LOOK_S = 1.0


def directory_of(lab: str) -> Path:
    """Return where keys and configuration of a lab are, unless somebody says otherwise."""
    return Path("runs") / f"{lab}.ssh"


async def serve(lab: str, port: int, directory: Path, started: Callable[[int], None]) -> bool:
    """Serve until SIGINT, SIGTERM, or until the lab has gone down; return whether it has. The files go when it ends.

    `started` is told the port. Raises SshError.
    """
    facts, keys = labs()[lab], new_keys()
    server, found = await Nodes(lab, facts["nodes"], facts["routers"], keys).start(port)
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    try:
        try:
            write_files(directory, keys, found, facts["nodes"], facts["routers"])
        except OSError as error:
            raise SshError(f"--directory {directory}: {explain(error)}") from None
        started(found)
        while lab in labs() and not ended.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(ended.wait(), _LOOK_S)
        return not ended.is_set()
    finally:
        server.close()
        remove_files(directory, found)


def start(lab: str, directory: Path) -> int:
    """Start a server in the background; it ends when the lab goes down. Return its port. Raises SshError, OSError."""
    said = start_and_hear(_MODULE, (lab, str(directory)))
    if "port" not in said:
        raise SshError(said.get("failed") or "the server of SSH did not start")
    return int(said["port"])


def main() -> None:
    """Serve a lab until it goes down: the whole of a process. It says its port on its channel."""
    os.set_inheritable(CHANNEL, False)
    with socket.socket(fileno=CHANNEL) as channel:

        def say(**said: object) -> None:
            with suppress(OSError):
                channel.sendall(json.dumps(said).encode())
                channel.shutdown(socket.SHUT_RDWR)

        try:
            asyncio.run(serve(sys.argv[1], 0, Path(sys.argv[2]), lambda port: say(port=port)))
        except FabriclabError as error:
            say(failed=str(error))


if __name__ == "__main__":
    main()
