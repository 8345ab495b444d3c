"""How long the page's server waits for a browser that does not read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

PATIENCE_S = 20.0


async def within_reason(sending: Awaitable[None]) -> None:
    """Send something. Raises TimeoutError where the browser does not take it: then it is dropped."""
    await asyncio.wait_for(sending, PATIENCE_S)
