"""`fabriclab gnmi`."""

from __future__ import annotations

import asyncio
import secrets
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fabriclab.cli.commands.live.ui import write_token
from fabriclab.cli.host.failure import say
from fabriclab.errors import FabriclabError
from fabriclab.live.labs_up import chosen, labs

if TYPE_CHECKING:
    from fabriclab.gnmi.server import Gnmi

MISSING = "libraries of gNMI are missing; this installs them: pip install 'fabriclab[gnmi]'"
_LOOK_S = 1.0
_GRACE_S = 1.0


def gnmi(lab: str | None, port: int, token_file: Path | None) -> None:
    """Serve gNMI of a lab's nodes until Ctrl-C, or until the lab has gone down.

    Raises LabsUpError, ArgumentError, GnmiError, FabriclabError where the libraries are missing.
    """
    name = chosen(lab)
    try:
        from fabriclab.gnmi.server import Gnmi
    except ModuleNotFoundError:
        raise FabriclabError(MISSING) from None
    token = secrets.token_urlsafe(32)
    if token_file is not None:
        write_token(token_file, token)
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(Gnmi(name, labs()[name]["nodes"], token), name, port, token))


async def _serve(gnmi: Gnmi, lab: str, port: int, token: str) -> None:
    server, found = await gnmi.start(port)
    sys.stdout.write(f"127.0.0.1:{found}\n{token}\n")
    sys.stdout.flush()
    say(f"gNMI of {lab}'s nodes, each a target; the second line is the token, for any user's password; Ctrl-C ends it")
    try:
        while lab in labs():
            await asyncio.sleep(_LOOK_S)
        say(f"{lab}: the lab has gone down")
    finally:
        await server.stop(_GRACE_S)
