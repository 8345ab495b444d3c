"""DSCPs as people write them: `46`, `ef`, `cs3`."""

from __future__ import annotations

from fabriclab.keys.quantities import WHOLE_NUMBER, Number
from fabriclab.keys.values import Either, Scalar, Text
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


def dscp_names() -> str:
    """Return a regular expression of the names of DSCPs, in any case."""
    return "|".join("".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in name) for name in DSCP_NAMES)


class Dscp(Either[int]):
    """A DSCP, by its number or its name."""

    def parse(self, text: str) -> int:
        """Return the number. Raises ValueError."""
        return parse_dscp(text)

    def canonical(self, text: str) -> Scalar | None:
        """Return the first of its names, the number where it has none."""
        try:
            number = parse_dscp(text.strip())
        except ValueError:
            return None
        return next((name for name, codepoint in DSCP_NAMES.items() if codepoint == number), number)


DSCP_VALUE = Dscp((Number(0, LARGEST_DSCP), Text("a name such as `ef`, `cs3`, `af21`", rf"\s*(?:{dscp_names()})\s*")))
