"""The SSH server of a lab that is up: whoever has the lab's key gets programs in its nodes, and nothing else.

No files, no forwarding, no way to the host: a session's streams are all that passes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

import asyncssh

from fabriclab.errors import FabriclabError
from fabriclab.formats.live import Output
from fabriclab.live.client import LiveError, exit_status
from fabriclab.live.terminal import PROMPT
from fabriclab.live.wire import window
from fabriclab.page.lab import Program, connected
from fabriclab.ssh.files import HOST, VTYSH, Keys

MOST_SESSIONS = 256
_SIGNALS = {"INT": 2, "QUIT": 3, "KILL": 9, "TERM": 15, "HUP": 1, "USR1": 10, "USR2": 12}
_READ_BYTES = 1 << 15
_BREAK = b"\x03"
_NOTHING_ELSE = "programs in nodes are all there is"
_REFUSED = 126
"""A shell's status of what cannot be executed."""


class SshError(FabriclabError):
    """The server can't listen; the text says why."""


class _Guard(asyncssh.SSHServer):
    """Lets in who has the key, as one of the nodes."""

    def __init__(self, nodes: Sequence[str], routers: Sequence[str], key: asyncssh.SSHKey) -> None:
        self._names = {*nodes, *(f"{router}{VTYSH}" for router in routers)}
        self._key = key.public_data

    def begin_auth(self, *_: object) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username in self._names and key.public_data == self._key

    def connection_requested(self, *_: object) -> NoReturn:
        raise asyncssh.ChannelOpenError(asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, _NOTHING_ELSE)

    def unix_connection_requested(self, *_: object) -> NoReturn:
        raise asyncssh.ChannelOpenError(asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, _NOTHING_ELSE)


class Nodes:
    """The server of one lab, at a port of loopback."""

    def __init__(self, lab: str, nodes: Sequence[str], routers: Sequence[str], keys: Keys) -> None:
        """Take the lab's name among those that are up, its nodes, those that run FRR, and both sides' keys."""
        self._lab = lab
        self._nodes = nodes
        self._routers = routers
        self._keys = keys
        self._sessions = 0

    async def start(self, port: int) -> tuple[asyncssh.SSHAcceptor, int]:
        """Listen, and return the server with its port; 0 is any that is free. Raises SshError."""
        try:
            server = await asyncssh.create_server(
                lambda: _Guard(self._nodes, self._routers, self._keys.client),
                HOST,
                port,
                server_host_keys=[self._keys.server],
                process_factory=self._run,
                encoding=None,
                agent_forwarding=False,
                x11_forwarding=False,
                allow_scp=False,
                sftp_factory=None,
                line_editor=False,
                reuse_address=True,
            )
        except OSError:
            raise SshError(f"--port {port}: the port is in use") from None
        return server, server.get_port()

    async def _run(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        """Run a session's program in its node, until either ends."""
        if self._sessions >= MOST_SESSIONS:
            _end(process, _REFUSED, f"{MOST_SESSIONS} sessions are open")
            return
        self._sessions += 1
        try:
            async with connected(self._lab) as line:
                program = Program(line)
                await program.open(_execution(process))
                _end(process, await _relay(program, process))
        except LiveError as error:
            _end(process, _REFUSED, str(error))
        except (BrokenPipeError, ConnectionError, asyncssh.Error):
            return  # It has gone: its program is hung up on with the connection to the lab.
        finally:
            self._sessions -= 1


def _execution(process: asyncssh.SSHServerProcess[bytes]) -> dict[str, Any]:
    """Return what PID 1 is asked for. Of the client's environment only the terminal's kind is taken."""
    user = str(process.get_extra_info("username"))
    node = user.removesuffix(VTYSH)
    command, term = process.command, process.term_type
    if user.endswith(VTYSH):
        argv = ["vtysh", *(["-c", command] if command is not None else [])]
    elif command is not None:
        argv = ["/bin/sh", "-c", command]
    else:
        argv = ["bash", "-l"] if term is not None else ["bash"]
    environment = {"LANG": "C.UTF-8", "HOME": "/root"}
    if term is not None:
        environment |= PROMPT | {"TERM": term}
    columns, rows, _, _ = process.term_size
    size = {"rows": rows or 24, "columns": columns or 80} if term is not None else None
    return {"node": node, "argv": argv, "environment": environment, "watches": False, "terminal": size}


async def _relay(program: Program, process: asyncssh.SSHServerProcess[bytes]) -> int:
    """Pass input and output on until the program has ended; return its exit status. Raises LiveError."""
    writing = asyncio.create_task(_pass_input(program, process))
    try:
        while True:
            kind, said = await program.read_frame()
            if isinstance(said, str):
                return exit_status(said)
            stream = process.stderr if kind == Output.STDERR else process.stdout
            stream.write(said)
            await stream.drain()
            await program.consumed(len(said))
    finally:
        writing.cancel()
        with suppress(asyncio.CancelledError, LiveError, asyncssh.Error, OSError):
            await writing


async def _pass_input(program: Program, process: asyncssh.SSHServerProcess[bytes]) -> None:
    while True:
        try:
            data = await process.stdin.read(_READ_BYTES)
        except asyncssh.TerminalSizeChanged as changed:
            await program.resize(window(changed.height or 24, changed.width or 80))
        except asyncssh.BreakReceived:
            await program.write(_BREAK)
        except asyncssh.SignalReceived as received:
            if number := _SIGNALS.get(received.signal):
                await program.signal(number)
        else:
            if not data:
                await program.finish()
                return
            await program.write(data)


def _end(process: asyncssh.SSHServerProcess[bytes], status: int, why: str = "") -> None:
    if why:
        process.stderr.write(f"{why}\n".encode())
    process.exit(status)
