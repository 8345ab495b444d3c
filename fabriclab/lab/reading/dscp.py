"""DSCPs as people write them: `46`, `ef`, `cs3`."""

from __future__ import annotations

from fabriclab.keys.quantities import WHOLE_NUMBER
from fabriclab.keys.wording import did_you_mean, shown

LARGEST_DSCP = 63
"""Six bits (RFC 2474)."""
DSCP_NAMES = {
    **{"default": 0, "be": 0, "le": 1, "va": 44, "ef": 46},
    **{f"cs{number}": 8 * number for number in range(8)},
    **{f"af{number}{drop}": 8 * number + 2 * drop for number in range(1, 5) for drop in range(1, 4)},
}
"""RFC 2474 (class selectors), 2597 (assured), 3246 (expedited), 5865 (voice admit), 8622 (lower effort)."""


def parse_dscp(text: str) -> int:
    """Return the codepoint of a number or a name. Raises ValueError."""
    if text.lower() in DSCP_NAMES:
        return DSCP_NAMES[text.lower()]
    if WHOLE_NUMBER.fullmatch(text) and int(text) <= LARGEST_DSCP:
        return int(text)
    if text.removeprefix("-").isdigit():
        raise ValueError(f"{shown(text)} is out of range; write one from 0 to {LARGEST_DSCP}, or a name such as ef")
    raise ValueError(
        f"{shown(text)} is not a DSCP, a number from 0 to {LARGEST_DSCP} or a name; "
        f"{did_you_mean(text.lower(), DSCP_NAMES)}"
    )
