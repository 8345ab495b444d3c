"""A terminal of the page: a program in a node, its bytes in a WebSocket's binary messages.

Texts are, to us, the terminal's size (`24x80`), from us, how the program ended.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from fabriclab.errors import ArgumentError
from fabriclab.live.capture import as_text, find_port
from fabriclab.live.client import LiveError
from fabriclab.live.terminal import PROMPT
from fabriclab.live.wire import window
from fabriclab.page.connections import within_reason
from fabriclab.page.lab import Program, connected

_PROGRAMS = {"shell": ["bash", "-l"], "vtysh": ["vtysh"]}
_CAPTURE = "capture"
_LARGEST = 1000
_ENVIRONMENT = {**PROMPT, "TERM": "xterm-256color", "LANG": "C.UTF-8", "COLORTERM": "truecolor"}


async def serve_terminal(socket: WebSocket) -> None:
    """Run a program in a node until it ends, or the browser goes."""
    asked = socket.query_params
    await socket.accept()
    rows, columns = (_size(asked.get(name)) for name in ("rows", "columns"))
    lab, node, what = asked.get("lab", ""), asked.get("node", ""), asked.get("program", "")
    execution: dict[str, Any] = {
        "node": node,
        "argv": _PROGRAMS.get(what, _PROGRAMS["shell"]),
        "environment": _ENVIRONMENT,
        "watches": False,
        "terminal": {"rows": rows, "columns": columns},
    }
    try:
        if what == _CAPTURE:
            execution["argv"] = as_text(find_port(f"{lab}:{node}:{asked.get('port', '')}")[2])
        async with connected(lab) as line:
            program = Program(line)
            await program.open(execution)
            reading = asyncio.create_task(_pass_output(program, socket))
            writing = asyncio.create_task(_pass_input(program, socket))
            done, waiting = await asyncio.wait((reading, writing), return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            for task in done:
                task.result()
    except (LiveError, ArgumentError) as error:
        with suppress(WebSocketDisconnect, RuntimeError):
            await within_reason(socket.send_text(json.dumps({"ended": str(error)})))
    except (WebSocketDisconnect, RuntimeError, TimeoutError):
        return  # It has gone, or does not read: its program is hung up on.
    with suppress(WebSocketDisconnect, RuntimeError):
        await socket.close()


async def _pass_output(program: Program, socket: WebSocket) -> None:
    while True:
        said = await program.read()
        if isinstance(said, str):
            await within_reason(socket.send_text(json.dumps({"ended": said})))
            return
        # A terminal that is slow makes its program wait, the lab goes on.
        await within_reason(socket.send_bytes(said))
        await program.consumed(len(said))


async def _pass_input(program: Program, socket: WebSocket) -> None:
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        if message.get("bytes"):
            await program.write(message["bytes"])
        elif message.get("text"):
            rows, _, columns = message["text"].partition("x")
            await program.resize(window(_size(rows), _size(columns)))


def _size(value: object) -> int:
    """Return a terminal's rows or columns, of what a browser says."""
    try:
        return min(max(1, int(str(value))), _LARGEST)
    except ValueError:
        return 24
