"""Why a BGP session is down: bgpd's own words behind its state."""

from __future__ import annotations

import json

import pytest

from fabriclab.validation.down_sessions import why_down

HOP = {"lastResetDueTo": "No path to specified Neighbor", "internalBgpNbrMaxHopsAway": 1}
RESET = {"lastResetDueTo": "BGP Notification send", "lastNotificationReason": "Hold Timer Expired"}
TOLD = json.dumps({"default": {"vrfId": 0, "10.1.0.5": HOP}, "red": {"10.1.0.5": RESET}})


@pytest.mark.parametrize(
    ("output", "neighbor", "vrf", "said"),
    [
        (
            TOLD,
            "10.1.0.5",
            None,
            "; last reset: No path to specified Neighbor; it sends to this internal neighbour with a TTL of 1",
        ),
        (TOLD, "10.1.0.5", "red", "; last reset: BGP Notification send (Hold Timer Expired)"),
        (TOLD, "10.1.0.9", None, ""),
        (TOLD, "vrfId", None, ""),
        ("% unknown command", "10.1.0.5", None, ""),
        ("[]", "10.1.0.5", None, ""),
        (None, "10.1.0.5", None, ""),
    ],
)
def test_the_reason_is_bgpds(output: str | None, neighbor: str, vrf: str | None, said: str) -> None:
    assert why_down(output, neighbor, vrf) == said
