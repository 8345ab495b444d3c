"""Who may come in: a card for each seat, with a name and a password, and one for the trainer.

The passwords come from a secret that is made once and kept in the workshop's volume, so cards that were printed hold
until the volume is removed.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyterhub.auth import Authenticator

_SECRET_BYTES = 32
_PASSWORD_CHARACTERS = 12


def read_secret(path: Path) -> bytes:
    """Return the workshop's secret; it is made where there is none. Raises OSError."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    try:
        os.write(file, secrets.token_bytes(_SECRET_BYTES))
    finally:
        os.close(file)
    return path.read_bytes()


def password(secret: bytes, name: str) -> str:
    """Return the password of a seat: 60 bits, in letters and digits that are read aloud without mistakes."""
    digest = hmac.digest(secret, name.encode(), hashlib.sha256)
    return base64.b32encode(digest).decode().lower()[:_PASSWORD_CHARACTERS]


def cards(secret: bytes, names: list[str]) -> dict[str, str]:
    """Return each name's password."""
    return {name: password(secret, name) for name in names}


class CardAuthenticator(Authenticator):
    """Lets in whoever has a card."""

    cards: Mapping[str, str] = {}
    """Each name's password; the configuration sets it."""

    async def authenticate(self, handler: Any, data: Mapping[str, str]) -> str | None:
        """Return the name where its password is right, None otherwise."""
        name = data["username"].strip()
        known = self.cards.get(name, "")
        given = data["password"].strip().lower()
        return name if hmac.compare_digest(known.encode(), given.encode()) and known else None
