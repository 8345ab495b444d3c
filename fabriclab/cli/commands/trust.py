"""`fabriclab trust`."""

from __future__ import annotations

from pathlib import Path

from fabriclab.api import trusting
from fabriclab.cli.host.failure import BAD_INPUT, OK, BadInputError, say
from fabriclab.errors import printable


def trust(path: Path | None, forget: bool) -> int:
    """Trust a lab or code, take that back, or list what is trusted; returns the exit status."""
    if path is None:
        if forget:
            raise BadInputError("--forget: name a lab, such as `fabriclab trust mylab --forget`")
        for subject in trusting.trusted():
            print(f"{subject.kind}  {printable(subject.name)}")
        return OK
    if forget:
        if not trusting.forget(path):
            say(f"{printable(str(path))}: was not trusted; `fabriclab trust` lists everything that is")
            return BAD_INPUT
        print(f"no longer trusted: {printable(str(path))}")
        return OK
    subject = trusting.trust(path)
    print(f"trusted from now on: {subject.kind} {printable(subject.name)}")
    return OK
