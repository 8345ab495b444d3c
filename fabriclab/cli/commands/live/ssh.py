"""`fabriclab ssh`, and `up --ssh`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from fabriclab.cli.host.failure import say
from fabriclab.errors import FabriclabError
from fabriclab.files import explain
from fabriclab.live.labs_up import chosen, labs

MISSING = "the library of SSH is missing; this installs it: pip install 'fabriclab[sshd]'"


def ssh(lab: str | None, port: int, directory: Path | None) -> None:
    """Serve SSH to a lab's nodes until Ctrl-C, or until the lab has gone down.

    Raises LabsUpError, SshError, FabriclabError where the library is missing.
    """
    name = chosen(lab)
    try:
        from fabriclab.ssh.serve import directory_of, serve
    except ModuleNotFoundError:
        raise FabriclabError(MISSING) from None
    place = directory or directory_of(name)

    def started(found: int) -> None:
        sys.stdout.write("".join(f"{line}\n" for line in _commands(name, place)))
        sys.stdout.flush()
        say(f"SSH to {name}'s nodes on 127.0.0.1:{found}, for who can read {place}; Ctrl-C ends it")

    if asyncio.run(serve(name, port, place, started)):
        say(f"{name}: the lab has gone down")


def start(lab: str) -> None:
    """Serve it in the background for a lab that came up, and say how to get there; what fails is said."""
    try:
        from fabriclab.ssh.serve import directory_of
        from fabriclab.ssh.serve import start as start_server
    except ModuleNotFoundError:
        say(f"no SSH: {MISSING}")
        return
    try:
        start_server(lab, directory_of(lab))
    except FabriclabError as error:
        say(f"no SSH: {error}")
    except OSError as error:
        say(f"no SSH: {explain(error)}")
    else:
        sys.stdout.write("".join(f"  {line}\n" for line in _commands(lab, directory_of(lab))))


def _commands(lab: str, directory: Path) -> tuple[str, str]:
    """Return what to type next."""
    from fabriclab.ssh.files import CONFIG, INVENTORY

    facts = labs()[lab]
    first = (facts["routers"] or facts["nodes"])[0]
    return f"ssh -F {directory / CONFIG} {first}", f"ansible -i {directory / INVENTORY} all -m raw -a 'ip -br address'"
