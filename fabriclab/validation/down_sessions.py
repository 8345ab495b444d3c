"""Why a session of BGP is down, in bgpd's own words.

Words of its answer: FRR, bgpd/bgp_vty.c, `bgp_show_peer`.
"""

from __future__ import annotations

from fabriclab.validation.daemon_sessions import as_mapping, told

DETAILS = "show bgp vrf all neighbors json"
"""What bgpd is asked for it."""


def why_down(output: str | None, neighbor: str, vrf: str | None) -> str:
    """Return what bgpd's answer says of a neighbour whose session is down, to be read after its state; nothing of one
    that it does not know, and of what is no answer."""
    facts = as_mapping(as_mapping(as_mapping(told(output)).get(vrf or "default")).get(neighbor))
    reason, detail = facts.get("lastResetDueTo"), facts.get("lastNotificationReason")
    words = f"; last reset: {reason}{f' ({detail})' if detail else ''}" if reason else ""
    # Beside a session of several hops that no packet of this end can take.
    if facts.get("internalBgpNbrMaxHopsAway") == 1:
        words += "; it sends to this internal neighbour with a TTL of 1"
    return words
