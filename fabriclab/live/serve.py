"""The process of a live lab's server: `python -m fabriclab.live.serve`, which `launch` starts.

It finds a channel to who started it at a descriptor of its own, reads there what is wanted, and tells how it gets on,
a JSON object a line, until the lab is up. Then it stays, until the lab goes down.
"""

from __future__ import annotations

import asyncio
import faulthandler
import json
import os
import signal
import socket
import sys
import traceback
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from fabriclab.api.failures import FAILED
from fabriclab.api.progress import Progress
from fabriclab.api.run import new_run_directory
from fabriclab.consent.request import ConsentError
from fabriclab.engine.artefacts import EngineError, asked_ahead
from fabriclab.engine.detached import CHANNEL
from fabriclab.errors import ArgumentError, FabriclabError
from fabriclab.files import explain
from fabriclab.live.breaks import Breaks
from fabriclab.live.control import Control
from fabriclab.live.labs_up import Entry
from fabriclab.live.looking import Looking
from fabriclab.live.machine import MachineGone
from fabriclab.live.running import Running
from fabriclab.live.server import Server
from fabriclab.live.storytelling import Storytelling
from fabriclab.live.wanted import Wanted, wanted_lab
from fabriclab.runs import RunResult
from fabriclab.runs.claim import claimed
from fabriclab.runs.sweep import slug

_LONGEST_QUESTION = 1 << 26
LOG = "logs/server.log"
"""What the server itself says, in the run directory."""


class Front:
    """Whoever started the server, as long as the lab is not up."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self.is_open = True

    def question(self) -> dict[str, Any]:
        """Return what is wanted. Raises ValueError, OSError."""
        with self._channel.makefile("rb") as file:
            return dict(json.loads(file.readline(_LONGEST_QUESTION)))

    def say(self, **what: Any) -> None:
        """Tell how it gets on. Whoever has gone is not told."""
        with suppress(OSError):
            self._channel.sendall(json.dumps(what).encode(errors="backslashreplace") + b"\n")

    async def has_taken_it(self) -> bool:
        """Wait until it says that it knows of the lab; return False where it goes away before."""
        self._channel.setblocking(False)
        try:
            return bool(await asyncio.get_running_loop().sock_recv(self._channel, 1))
        except OSError:
            return False

    def close(self) -> None:
        """Let it go."""
        self._channel.close()


def main() -> None:
    """Bring a lab up, and serve it until it goes down: the whole of a process."""
    os.set_inheritable(CHANNEL, False)
    raise SystemExit(serve(Front(socket.socket(fileno=CHANNEL)), alone=True))


def serve(front: Front, *, alone: bool) -> int:
    """Bring up what `front` wants, and serve it until it goes down; returns the exit status.

    `alone`: signals take the lab down, and what is said goes to the run directory.
    """
    try:
        _bring_up(front, alone=alone)
    except ConsentError as error:
        front.say(asked=error.request.as_json())
    except ArgumentError as error:
        front.say(failed=error.spelled("--{}".format), status=2)
    except FabriclabError as error:
        front.say(failed=str(error), status=1 if isinstance(error, EngineError) else 2)
    except OSError as error:
        front.say(failed=explain(error), status=1)
    except Exception as error:
        traceback.print_exc()
        front.say(failed=f"the server failed: {type(error).__name__}: {error}", status=1)
        return 1
    finally:
        front.close()
    return 0


def _bring_up(front: Front, *, alone: bool) -> None:
    question = front.question()
    with asked_ahead():
        wanted = wanted_lab(question)
    for warning in wanted.warnings:
        front.say(warning=warning)
    out, plan = question["out"], wanted.plan
    directory = Path(out) if out else new_run_directory(plan.lab, f"{{time}}-up-{slug(plan.settings)}")
    with ExitStack() as stack:
        stack.enter_context(claimed(directory, ours=not out))
        if any(directory.iterdir()):
            raise ArgumentError("{out} {0} already exists; choose another one", directory)
        entry = Entry(question["name"] or plan.lab)
        stack.callback(entry.close)
        if alone:
            _log_to(directory)
        asyncio.run(_serve(wanted, directory.absolute(), entry, front, alone=alone))


async def _serve(wanted: Wanted, directory: Path, entry: Entry, front: Front, *, alone: bool) -> None:
    server = Server(entry)

    def progressed(event: Progress) -> None:
        server.progressed(event)
        loop.call_soon_threadsafe(_tell, front, event.stage)

    loop = asyncio.get_running_loop()
    running = Running(wanted, directory, server.heard, progressed, wanted.speed)
    server.running, server.result = running, running.begin()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP) if alone else ():
        loop.add_signal_handler(number, server.go_down)
    taken = asyncio.create_task(front.has_taken_it())
    listening: asyncio.Server | None = None
    try:
        if await _is_up(running, server.result, taken):
            listening = await _open(running, server, front)
            if wanted.story is None:
                running.machine.go_on()
        # Who started it and has gone does not know of it.
        if listening is None or not await taken:
            _stop_at_once(running)
    except MachineGone:
        pass  # The run's result says why.
    except BaseException:
        _stop_at_once(running)
        await asyncio.wait((server.result,))
        raise
    finally:
        taken.cancel()
        if not front.is_open:
            front.close()
    await asyncio.wait((server.result,))
    _conclude(server.result, front)
    # Before a client hears that the lab is down: what it types next must not find the lab.
    entry.withdraw()
    await server.drain()
    if listening is not None:
        listening.close()


def _tell(front: Front, stage: str) -> None:
    if front.is_open:
        front.say(stage=stage)


async def _is_up(running: Running, result: asyncio.Future[RunResult], taken: asyncio.Task[bool]) -> bool:
    """Wait until the lab is up; returns whether it is, and is wanted still."""
    up = asyncio.create_task(running.machine.is_up.wait())
    await asyncio.wait((up, result, taken), return_when=asyncio.FIRST_COMPLETED)
    up.cancel()
    return running.machine.is_up.is_set() and running.machine.gone is None and not (result.done() or taken.done())


def _stop_at_once(running: Running) -> None:
    running.interrupt.request()
    running.interrupt.request()


async def _open(running: Running, server: Server, front: Front) -> asyncio.Server:
    """Begin the recording, and let clients in."""
    await running.come_to_epoch()
    running.record()
    control = Control(server, running)
    Looking(server, running)
    breaks = Breaks(server, running)
    for condition in running.wanted.breaks:
        breaks.add(condition)
    Storytelling(server, running, breaks)
    if running.wanted.loop:
        await control.begin_loop()
    listening = await server.listen()
    facts = control.facts()
    server.entry.fill({**facts, "pid": os.getpid()})
    # Its channel does not wait for who reads it slowly: of what may be long it is told the least.
    front.say(up={"name": server.entry.name, **{name: fact for name, fact in facts.items() if name != "ports"}})
    front.is_open = False
    return listening


def _conclude(result: asyncio.Future[RunResult], front: Front) -> None:
    """Tell who started the lab how it failed, where it never came up; else the log."""
    error = result.exception()
    if error is not None:
        if front.is_open:
            raise error
        traceback.print_exception(error)
        return
    ended = result.result()
    if front.is_open:
        text = f"{ended.status}: {ended.message}" if ended.message else ended.status
        front.say(failed=text, status=1 if ended.status in FAILED else 130)


def _log_to(directory: Path) -> None:
    """Let what is said from now on go to the run directory; SIGUSR1 asks where all threads are."""
    path = directory / LOG
    path.parent.mkdir(exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    for number in (1, 2):
        os.dup2(handle, number)
    os.close(handle)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    faulthandler.register(signal.SIGUSR1)


if __name__ == "__main__":
    main()
