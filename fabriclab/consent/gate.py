"""The one gate: what a person should know about runs when it was said that it may, and not before."""

from __future__ import annotations

from pathlib import Path

from fabriclab.consent.request import ConsentError, ConsentRequest, Subject
from fabriclab.consent.shipped_labs import is_shipped
from fabriclab.consent.store import read_trusted


def require(request: ConsentRequest, given: bool) -> None:
    """Return where all of a request may run: nothing in it needs consent, it is `given`, or it is trusted already.

    Raises ConsentError, TrustStateError.
    """
    if request.items and not given and not is_trusted(request.subject):
        raise ConsentError(request)


def is_trusted(subject: Subject) -> bool:
    """Return whether a lab is shipped or was said to be trusted, or code was. Raises TrustStateError."""
    if subject.kind == "lab" and is_shipped(Path(subject.name)):
        return True
    return any(entry.holds(subject) for entry in read_trusted())
